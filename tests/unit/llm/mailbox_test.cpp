// The provider `mailbox`, with real files.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include "unit/llm/support.h"

namespace solstice::llm::testing {
namespace {

namespace fs = std::filesystem;

class MailboxTest : public LlmTest {
 protected:
  fs::path box() const { return folder() / "box"; }
  fs::path request(const std::string& name) const { return box() / "requests" / name; }
  fs::path reply(const std::string& name) const { return box() / "replies" / name; }

  Result<std::unique_ptr<Client>> open(ClientOptions options = quick(), const char* timeout = "3") const {
    return Client::open("mailbox",
                        {{"folder", box().string()}, {"timeout", timeout}, {"poll", "0.01"}, {"settle", settle_}}, {},
                        options);
  }

  static bool appears(const fs::path& file) {
    for (int i = 0; i < 500 && !fs::exists(file); ++i) std::this_thread::sleep_for(milliseconds(5));
    return fs::exists(file);
  }

  std::string settle_ = "0.05";

  // Written whole, then renamed, as the protocol has it.
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(reply("part")) << text;
    fs::rename(reply("part"), reply(name));
  }

  // One call that somebody answers once the request is there.
  Result<Reply> ask(const std::function<void()>& answer, const Request& asked = question()) {
    std::thread other([&] {
      if (appears(request("0001.json"))) answer();
    });
    Result<Reply> got = (*open())->ask(asked);
    other.join();
    return got;
  }
};

TEST_F(MailboxTest, APersonAnswersInPlainText) {
  for (const char* kind : {"md", "txt"}) {
    fs::remove_all(box());
    const Result<Reply> got = ask([&] { put(std::string("0001.") + kind, "because\n"); });
    ASSERT_TRUE(got.ok()) << got.error().text();
    EXPECT_EQ(got->text, "because\n");
    EXPECT_FALSE(got->usage.counted());
  }
}

TEST_F(MailboxTest, WhoeverWaitsIsToldForWhat) {
  ClientOptions options = quick();
  std::vector<std::string> news;
  options.news = [&](const std::string& text) { news.push_back(text); };
  ASSERT_FALSE((*open(options, "0.05"))->ask(question()).ok());
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0],
            fmt::format("waiting for {}, the answer to {}", reply("0001.md").string(), request("0001.md").string()));
}

TEST_F(MailboxTest, WithoutAFolderItSaysHowToGiveOne) {
  const auto none = Client::open("mailbox", {}, {}, quick());
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "its option `folder` is missing");
  EXPECT_EQ(none.error().hint, "give `--option folder=DIR`");
}

TEST_F(MailboxTest, APersonReadsWhatIsAsked) {
  Request asked = question();
  asked.messages = {{Role::kUser, "first"}, {Role::kAssistant, "said"}, {Role::kUser, "then"}};
  asked.schema = number_schema();
  const Result<Reply> got = ask([&] { put("0001.md", R"({"n": 5})"); }, asked);
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->json.at("n").as_int(), 5);
  const std::string page = *read_file(request("0001.md"));
  EXPECT_EQ(page.substr(0, page.find("\n# Form")),
            "# Request 0001: test\n\nWrite the answer to `replies/0001.tmp`, then rename it to `replies/0001.md`. At "
            "most 100 tokens.\n\n"
            "# Instructions\n\nbe brief\n\n# Question\n\nfirst\n\n# Answer so far\n\nsaid\n\n# Question\n\nthen\n");
  EXPECT_NE(page.find("\"additionalProperties\": false"), std::string::npos);
}

TEST_F(MailboxTest, AProgramAnswersInJson) {
  const Result<Reply> got =
      ask([&] { put("0001.json", R"({"text": "no", "finish": "refused", "usage": {"input": 3, "output": 4}})"); });
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->finish, Finish::kRefused);
  EXPECT_EQ(got->usage.output, 4);
  const Json asked = *parse_json(*read_file(request("0001.json")));
  EXPECT_EQ(asked.at("number").as_int(), 1);
  EXPECT_TRUE(from_json<Request>(asked).ok());
}

TEST_F(MailboxTest, AHalfWrittenReplyIsNotPickedUp) {
  settle_ = "0.4";
  const Result<Reply> got = ask([&] {
    std::ofstream slow(reply("0001.md"));
    for (const char* piece : {"one ", "two ", "three ", "four ", "five"}) {
      slow << piece << std::flush;
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->text, "one two three four five");
}

TEST_F(MailboxTest, AnEmptyFileIsNoReplyYet) {
  const Result<Reply> got = ask([&] {
    std::ofstream(reply("0001.md")).flush();
    std::this_thread::sleep_for(milliseconds(150));
    put("0001.md", "late");
  });
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->text, "late");
}

TEST_F(MailboxTest, WhatIsWrongIsNamedWithItsFile) {
  for (const char* text : {"{\"text\"", "{\"txt\": \"x\"}"}) {
    fs::remove_all(box());
    const Result<Reply> got = ask([&] { put("0001.json", text); });
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().code, Code::provider_failed);
    EXPECT_NE(got.error().message.find("0001.json"), std::string::npos) << got.error().message;
  }
}

TEST_F(MailboxTest, SeveralWaitAtOnceAndAreAnsweredInAnyOrder) {
  const auto client = open();
  const auto other = open();  // as another process would
  std::vector<std::thread> threads;
  std::vector<std::string> got(6);
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const Result<Reply> answer = (i % 2 ? **client : **other).ask(question(fmt::format("question {}", i)));
      got[static_cast<size_t>(i)] = answer.ok() ? answer->text : answer.error().text();
    });
  }
  std::set<std::string> asked;
  for (int number = 6; number >= 1; --number) {
    const fs::path file = request(fmt::format("{:04}.json", number));
    ASSERT_TRUE(appears(file)) << file;
    const std::string text = parse_json(*read_file(file))->at("messages").at(size_t{0}).at("text").as_string();
    asked.insert(text);
    put(fmt::format("{:04}.txt", number), "to " + text);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(asked.size(), 6u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], fmt::format("to question {}", i));
  for (const auto& entry : fs::directory_iterator(box() / "requests"))
    EXPECT_FALSE(entry.path().filename().string().starts_with("part"));
}

TEST_F(MailboxTest, NumbersGoOnAndOldRepliesAreNotTaken) {
  fs::create_directories(box() / "replies");
  std::ofstream(reply("0007.md")) << "old";
  std::ofstream(reply("notes.md")) << "old";
  std::thread other([&] {
    if (appears(request("0008.json"))) put("0008.md", "new");
  });
  const Result<Reply> got = (*open())->ask(question());
  other.join();
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->text, "new");
}

// One who asks as this process does and is killed while it waits.
TEST_F(MailboxTest, ARequestOfAKilledProcessIsTakenUpAgain) {
  for (const bool answered : {true, false}) {
    fs::remove_all(box());
    const pid_t asking = ::fork();
    if (asking == 0) {
      (void)(*open())->ask(question());
      ::_exit(0);
    }
    ASSERT_TRUE(appears(request("0001.json")));
    ::kill(asking, SIGKILL);
    ::waitpid(asking, nullptr, 0);
    if (answered) put("0001.md", "because");
    std::thread other([&] {
      std::this_thread::sleep_for(milliseconds(100));
      if (!answered) put("0001.md", "because");
    });
    const Result<Reply> got = (*open())->ask(question());
    other.join();
    ASSERT_TRUE(got.ok()) << got.error().text();
    EXPECT_EQ(got->text, "because");
    EXPECT_FALSE(fs::exists(request("0002.json")));
  }
}

TEST_F(MailboxTest, WhatWasTakenOrGivenUpOrIsWaitedForIsNotTakenUp) {
  ASSERT_TRUE(ask([&] { put("0001.md", "because"); }).ok());
  EXPECT_EQ((*open(quick(), "0.1"))->ask(question()).error().code, Code::deadline);
  EXPECT_TRUE(fs::exists(request("0002.expired")));
  std::vector<std::thread> threads;
  std::vector<std::string> got(2);
  for (std::string& text : got) {
    threads.emplace_back([&] {
      const Result<Reply> answer = (*open())->ask(question());
      text = answer.ok() ? answer->text : answer.error().text();
    });
  }
  for (const char* number : {"0003", "0004"}) {
    EXPECT_TRUE(appears(request(std::string(number) + ".json")));
    put(std::string(number) + ".md", number);
  }
  for (std::thread& thread : threads) thread.join();
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (std::vector<std::string>{"0003", "0004"}));
  EXPECT_FALSE(fs::exists(request("0004.open")));
}

TEST_F(MailboxTest, AnotherQuestionIsAnotherRequest) {
  ASSERT_FALSE((*open(quick(), "0.05"))->ask(question()).ok());
  fs::remove(request("0001.expired"));
  std::ofstream(request("0001.open")).flush();  // as a killed process leaves it
  EXPECT_FALSE((*open(quick(), "0.05"))->ask(question("another")).ok());
  EXPECT_TRUE(fs::exists(request("0002.json")));
  EXPECT_FALSE((*open(quick(), "0.05"))->ask(question()).ok());
  EXPECT_TRUE(fs::exists(request("0001.expired")));
  EXPECT_FALSE(fs::exists(request("0003.json")));
}

TEST_F(MailboxTest, TimeRunsOutAndTheRequestSaysSo) {
  const Seconds begin = monotonic_now();
  const Result<Reply> got = (*open(quick(), "0.1"))->ask(question());
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, Code::deadline);
  EXPECT_LT((monotonic_now() - begin).value, 2.5);
  EXPECT_TRUE(fs::exists(request("0001.expired")));
  ClientOptions options = quick();
  options.cancelled = [] { return true; };
  EXPECT_EQ((*open(options))->ask(question()).error().code, Code::interrupted);
}

}  // namespace
}  // namespace solstice::llm::testing
