// Transcripts, and sessions replayed from them.
#include "llm/transcript.h"

#include <thread>

#include "unit/llm/support.h"

namespace solstice::llm::testing {
namespace {

class TranscriptTest : public LlmTest {
 protected:
  std::filesystem::path file() const { return folder() / "session.jsonl"; }

  // Calls of one session, what each came to as text.
  static std::string session(Client& client) {
    std::string out;
    for (const char* text : {"one", "two", "three"}) {
      Request request = question(text);
      if (std::string(text) == "two") request.schema = number_schema();
      const Result<Reply> reply = client.ask(request);
      out += reply.ok() ? reply->text + "/" + enum_names(reply->finish)[static_cast<size_t>(reply->finish)]
                        : reply.error().message;
      out += "\n";
    }
    return out + to_json(client.account()).dump();
  }

  // A session with a retry, a repair and a failure.
  std::string record() {
    FaultyServer server([](const Serving& s) {
      if (s.number == 0) return s.answer(500, "broken");
      if (s.number == 1) return s.stream(chat("first"));
      if (s.number == 2) return s.stream(chat("no json"));
      if (s.number == 3) return s.stream(chat(R"({"n":2})"));
      s.answer(404, "gone");
    });
    auto transcript = Transcript::open(file());
    ClientOptions options = quick();
    options.transcript = transcript->get();
    return session(**client_of(server, options));
  }

  Result<std::unique_ptr<Client>> replayed(const std::string& match = "request",
                                           ClientOptions options = quick()) const {
    return Client::open("replay", {{"transcript", file().string()}, {"match", match}}, {}, std::move(options));
  }

  // Questions of another process that goes on with the file; what they came to.
  std::string go_on(const FaultyServer& server, const std::vector<std::string>& questions) const {
    auto transcript = Transcript::open(file());
    ClientOptions options = quick();
    options.retries = 0;
    options.transcript = transcript->get();
    return asked(**client_of(server, options), questions);
  }
  static std::string asked(Client& client, const std::vector<std::string>& questions) {
    std::string out;
    for (const std::string& text : questions) {
      const Result<Reply> reply = client.ask(question(text));
      out += (reply.ok() ? reply->text : "(failed)") + " ";
    }
    return out;
  }
};

TEST_F(TranscriptTest, EveryAttemptIsALine) {
  record();
  const Result<std::vector<Exchange>> lines = load_transcript(file());
  ASSERT_TRUE(lines.ok()) << lines.error().text();
  ASSERT_EQ(lines->size(), 5u);
  const std::vector<std::pair<int, int>> numbers = {{1, 1}, {1, 2}, {2, 1}, {3, 1}, {4, 1}};
  for (size_t i = 0; i < numbers.size(); ++i)
    EXPECT_EQ(std::pair((*lines)[i].call, (*lines)[i].attempt), numbers[i]) << i;
  EXPECT_EQ((*lines)[0].failure->message, "answered 500: broken");
  EXPECT_TRUE((*lines)[0].failure->again);
  EXPECT_EQ((*lines)[1].answer->text, "first");
  EXPECT_EQ((*lines)[1].answer->usage.input, 1000);
  EXPECT_TRUE((*lines)[1].answer->usage.cost);
  EXPECT_EQ((*lines)[1].provider, "openai");
  EXPECT_EQ((*lines)[1].model, "test");
  EXPECT_GT((*lines)[1].took.value, 0);
  EXPECT_EQ((*lines)[3].request.messages.size(), 3u);
  EXPECT_FALSE((*lines)[4].failure->again);
}

TEST_F(TranscriptTest, AReplayIsTheSameSession) {
  const std::string recorded = record();
  const auto client = replayed();
  ASSERT_TRUE(client.ok()) << client.error().text();
  std::string again = session(**client);
  for (size_t at; (at = again.find("`replay`")) != again.npos;) again.replace(at, 8, "`openai`");
  EXPECT_EQ(again, recorded);
}

TEST_F(TranscriptTest, ACallInVainIsPassedOverWhereItWasMadeAgain) {
  FaultyServer server([](const Serving& s) { s.number == 1 ? s.reset() : s.stream(chat(std::to_string(s.number))); });
  EXPECT_EQ(go_on(server, {"one", "two"}), "0 (failed) ");
  EXPECT_EQ(go_on(server, {"two", "three"}), "2 3 ");
  for (const char* match : {"request", "order"})
    EXPECT_EQ(asked(**replayed(match), {"one", "two", "three"}), "0 2 3 ") << match;
}

TEST_F(TranscriptTest, AFailureThatEndedTheSessionIsReplayed) {
  FaultyServer server([](const Serving& s) { s.number == 1 ? s.reset() : s.stream(chat(std::to_string(s.number))); });
  EXPECT_EQ(go_on(server, {"one", "two"}), "0 (failed) ");
  EXPECT_EQ(asked(**replayed(), {"one", "two"}), "0 (failed) ");
}

// Killed between the two questions of an attempt, a session asks the first one again, and may be told something else.
TEST_F(TranscriptTest, WhatALaterSessionAskedAgainIsPassedOver) {
  FaultyServer server([](const Serving& s) { s.stream(chat(std::to_string(s.number))); });
  EXPECT_EQ(go_on(server, {"one", "two"}), "0 1 ");
  EXPECT_EQ(go_on(server, {"two", "two", "three"}), "2 3 4 ");
  EXPECT_EQ(asked(**replayed(), {"one", "two", "two", "three"}), "0 2 3 4 ");
}

TEST_F(TranscriptTest, ABudgetOfMoneyGoesByWhatIsRecorded) {
  FaultyServer server([](const Serving& s) { s.stream(chat(std::to_string(s.number))); });
  EXPECT_EQ(go_on(server, {"one", "two", "three"}), "0 1 2 ");
  ClientOptions options = quick();
  options.budget.cost = Dollars(0.002);  // a call cost 0.00114
  EXPECT_EQ(asked(**replayed("request", options), {"one", "two", "three"}), "0 1 (failed) ");
}

TEST_F(TranscriptTest, AnotherRequestShowsTheFirstDifference) {
  record();
  const Result<Reply> reply = (*replayed())->ask(question("0ne"));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::replay_differs);
  EXPECT_NE(
      reply.error().message.find("recorded as call 1: `$.messages[0].text, line 1` was \"one\" and is now \"0ne\""),
      std::string::npos)
      << reply.error().message;
}

TEST_F(TranscriptTest, WhatIsUsedUpIsNotAnsweredTwice) {
  record();
  const auto client = replayed();
  session(**client);
  const Result<Reply> reply = (*client)->ask(question("one"));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::replay_differs);
  EXPECT_NE(reply.error().message.find("used up"), std::string::npos);
}

TEST_F(TranscriptTest, CallsGoOnWhereTheyEnded) {
  record();
  EXPECT_EQ((*Transcript::open(file()))->next_call(), 5);
}

TEST_F(TranscriptTest, AKilledProcessLosesOnlyWhatWasUnderWay) {
  record();
  const std::string whole = *read_file(file());
  ASSERT_TRUE(write_file(file(), whole + "{\"schema\": \"solstice.ll").ok());
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(load_transcript(file())->size(), 5u);
  EXPECT_TRUE(Transcript::open(file()).ok());
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("middle of a line"), std::string::npos);
  EXPECT_EQ(*read_file(file()), whole);
}

TEST_F(TranscriptTest, DamageIsNamedByLine) {
  record();
  const std::string whole = *read_file(file());
  const std::string first = whole.substr(0, whole.find('\n') + 1);
  for (const std::string& bad :
       {std::string("{}\n"), std::string("nothing\n"), std::string("{\"schema\":\"solstice.llm.exchange/9\"}\n")}) {
    ASSERT_TRUE(write_file(file(), first + bad + first).ok());
    const auto loaded = load_transcript(file());
    ASSERT_FALSE(loaded.ok()) << bad;
    EXPECT_EQ(loaded.error().line, 2) << bad;
    EXPECT_FALSE(Transcript::open(file()).ok());
  }
}

TEST_F(TranscriptTest, ThreadsShareOne) {
  FaultyServer server([](const Serving& s) { s.stream(chat("x")); });
  auto transcript = Transcript::open(file());
  ClientOptions options = quick();
  options.transcript = transcript->get();
  const auto client = client_of(server, options);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_TRUE((*client)->ask(question()).ok()); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(load_transcript(file())->size(), 8u);
  EXPECT_EQ((*client)->account().calls, 8);
  EXPECT_EQ((*client)->account().input, 8000);
}

// Files that earlier versions wrote keep loading, and replaying.
TEST_F(TranscriptTest, TheFirstSchemaIsRead) {
  const std::filesystem::path corpus = std::filesystem::path(SOLSTICE_SOURCE_DIR) / "tests/corpus/transcript_1.jsonl";
  const Result<std::vector<Exchange>> lines = load_transcript(corpus);
  ASSERT_TRUE(lines.ok()) << lines.error().text();
  ASSERT_EQ(lines->size(), 5u);
  // By order: a repair quotes the program's messages, whose words have changed since.
  const auto client = Client::open("replay", {{"transcript", corpus.string()}, {"match", "order"}}, {}, quick());
  EXPECT_EQ(session(**client).substr(0, 40), "first/complete\n{\"n\":2}/complete\nprovider");
}

}  // namespace
}  // namespace solstice::llm::testing
