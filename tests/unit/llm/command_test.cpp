// The provider `command`, with real processes.
#include "unit/llm/support.h"

namespace solstice::llm::testing {
namespace {

class CommandTest : public LlmTest {
 protected:
  // A shell script as the command.
  Result<Reply> ask(const std::string& script, const Request& request = question(), std::map<std::string, std::string> more = {},
                    ClientOptions options = quick()) {
    const Json words = Json::array().push("/bin/sh").push("-c").push(script);
    more.emplace("command", words.dump());
    SOLSTICE_TRY(const auto client, Client::open("command", more, model_, options));
    Result<Reply> reply = client->ask(request);
    account_ = client->account();
    return reply;
  }
  Model model_;
  Account account_;
};

TEST_F(CommandTest, TakesTheRequestAndAnswers) {
  model_ = model_of("openai");
  const std::string kept = (folder() / "request.json").string();
  const Result<Reply> reply =
      ask("cat > " + kept + R"(; echo '{"text": "because", "usage": {"input": 1000, "output": 50}, "model": "m"}')");
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->text, "because");
  EXPECT_EQ(reply->model, "m");
  EXPECT_DOUBLE_EQ(reply->usage.cost->value, 0.0015);
  const Json sent = *parse_json(*read_file(kept));
  EXPECT_EQ(sent.at("schema").as_string(), "solstice.llm.request/1");
  EXPECT_EQ(sent.at("model").as_string(), "test-1");
  EXPECT_EQ(sent.at("messages").at(size_t{0}).at("text").as_string(), "why?");
  EXPECT_EQ(from_json<Request>(sent)->most_output, 100);
}

TEST_F(CommandTest, MayCountNothing) {
  const Result<Reply> reply = ask(R"(echo '{"text": "because"}')");
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_FALSE(reply->usage.counted());
  EXPECT_FALSE(reply->usage.cost);
  EXPECT_GT(account_.estimated, 0);
}

// It may have asked a model before it failed, unless it says otherwise.
TEST_F(CommandTest, WhatFailedMayHaveBeenBilled) {
  ClientOptions options = quick();
  options.retries = 0;
  EXPECT_FALSE(ask("exit 3", question(), {}, options).ok());
  EXPECT_GT(account_.estimated, 100);
  EXPECT_EQ(account_.unpriced, 1);
  EXPECT_FALSE(ask("sleep 5", question(), {{"timeout", "0.1"}}, options).ok());
  EXPECT_EQ(account_.unpriced, 1);
  EXPECT_FALSE(ask(R"(echo '{"error": {"message": "busy"}}')", question(), {}, options).ok());
  EXPECT_EQ(account_.estimated, 0);
  EXPECT_EQ(account_.unpriced, 0);
  EXPECT_FALSE(ask(R"(echo '{"error": {"message": "broke off", "uncounted": true}}')", question(), {}, options).ok());
  EXPECT_EQ(account_.unpriced, 1);
}

TEST_F(CommandTest, MaySayItsOwnCostAndHowItEnded) {
  const Result<Reply> reply = ask(R"(echo '{"text": "", "finish": "refused", "usage": {"cost": 0.25}}')");
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->finish, Finish::kRefused);
  EXPECT_EQ(reply->usage.cost->value, 0.25);
}

TEST_F(CommandTest, LongPromptsAreReadOrNot) {
  const Request request = question(std::string(size_t{1} << 20, 'x'));
  EXPECT_EQ(ask(R"(n=$(wc -c); echo "{\"text\": \"$((n > 1048576))\"}")", request)->text, "1");
  const Result<Reply> reply = ask(R"(echo '{"text": "unread"}')", request);
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->text, "unread");
}

TEST_F(CommandTest, FaultsAreNamed) {
  struct Case {
    const char* script;
    Code code;
    const char* says;
  };
  const std::vector<Case> cases = {
      {"echo lost >&2; exit 3", Code::provider_failed, "exited with code 3; it said: lost"},
      {"kill -9 $$", Code::provider_failed, "was killed by signal 9"},
      {"echo nonsense", Code::provider_failed, "not valid JSON"},
      {"true", Code::provider_failed, "not valid JSON"},
      {"echo '{}'", Code::provider_failed, "`.text` is missing"},
      {R"(echo '{"text": "x", "finish": "bored"}')", Code::provider_failed, "legal are complete, truncated"},
      {R"(echo '{"error": {"message": "no licence", "code": "provider_refused"}}')", Code::provider_refused, "no licence"},
      {R"(echo '{"error": {}}')", Code::provider_failed, "`.message` is missing"}};
  for (const Case& expected : cases) {
    const Result<Reply> reply = ask(expected.script);
    ASSERT_FALSE(reply.ok()) << expected.script;
    EXPECT_EQ(reply.error().code, expected.code) << reply.error().text();
    EXPECT_NE(reply.error().message.find(expected.says), std::string::npos) << reply.error().message;
    EXPECT_NE(reply.error().message.find("provider `command`"), std::string::npos) << reply.error().message;
    EXPECT_EQ(account_.attempts, 1) << expected.script;
  }
}

TEST_F(CommandTest, ItMayAskForAnotherAttempt) {
  const std::string mark = (folder() / "mark").string();
  const Result<Reply> reply = ask("if [ -e " + mark + R"( ]; then echo '{"text": "now"}'; else touch )" + mark +
                                  R"(; echo '{"error": {"message": "later", "again": true, "after": 0.01}}'; fi)");
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->attempts, 2);
}

TEST_F(CommandTest, ItsDeadlineFiresAndItIsGone) {
  const std::string pid = (folder() / "pid").string();
  for (const char* work : {"sleep 30", "while :; do echo x; sleep 0.01; done"}) {
    const Seconds begin = monotonic_now();
    const Result<Reply> reply = ask("echo $$ > " + pid + "; " + work, question(), {{"timeout", "0.5"}});
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().code, Code::deadline) << reply.error().text();
    EXPECT_LT((monotonic_now() - begin).value, 2);
    EXPECT_NE(::kill(std::stoi(*read_file(pid)), 0), 0);
  }
}

TEST_F(CommandTest, CancellingEndsIt) {
  ClientOptions options = quick();
  const Seconds begin = monotonic_now();
  options.cancelled = [begin] { return (monotonic_now() - begin).value > 0.1; };
  const Result<Reply> reply = ask("sleep 30", question(), {}, options);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::interrupted);
  EXPECT_LT((monotonic_now() - begin).value, 2);
}

TEST_F(CommandTest, WordsAreSplitAtSpaces) {
  const auto client = Client::open("command", {{"command", "  /bin/echo {\"text\":\"x\"}  "}}, {}, quick());
  const Result<Reply> reply = (*client)->ask(question());
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->text, "x");
  EXPECT_EQ(Client::open("command", {{"command", "  "}}, {}, quick()).error().code, Code::bad_argument);
  EXPECT_EQ(Client::open("command", {{"command", "[1]"}}, {}, quick()).error().code, Code::bad_argument);
  EXPECT_EQ(Client::open("command", {}, {}, quick()).error().code, Code::bad_argument);
  const auto missing = Client::open("command", {{"command", "/no/such/program"}}, {}, quick());
  EXPECT_EQ((*missing)->ask(question()).error().code, Code::not_found);
}

}  // namespace
}  // namespace solstice::llm::testing
