// The provider `command`, with real processes.
#include <fmt/format.h>

#include "unit/llm/support.h"

namespace solstice::llm::testing {
namespace {

class CommandTest : public LlmTest {
 protected:
  // A shell script as the command.
  Result<Reply> ask(const std::string& script, const Request& request = question(),
                    std::map<std::string, std::string> more = {}, ClientOptions options = quick()) {
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
      {R"(echo '{"error": {"message": "no licence", "code": "provider_refused"}}')", Code::provider_refused,
       "no licence"},
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

TEST_F(CommandTest, CancellingEndsItAlsoOnceItHasAnswered) {
  ClientOptions options = quick();
  const Seconds begin = monotonic_now();
  options.cancelled = [begin] { return (monotonic_now() - begin).value > 0.2; };
  const Result<Reply> reply = ask(R"(echo '{"text": "x"}'; exec >&- 2>&-; sleep 25)", question(), {}, options);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::interrupted) << reply.error().text();
  EXPECT_LT((monotonic_now() - begin).value, 2);
}

TEST_F(CommandTest, ABackgroundChildDoesNotHoldTheAnswerBack) {
  const Result<Reply> reply = ask(R"(sleep 30 & echo '{"text": "because"}')");
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->text, "because");
  EXPECT_LT(reply->latency.value, 4);
}

// A figure that cannot be is no figure: neither tokens nor money are given back by one.
TEST_F(CommandTest, NumbersThatCannotBeAreFailures) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"input": -5, "output": 5})", "`usage.input` is -5; legal are 0 to 1000000000000"},
      {R"({"input": 5, "cached": -1, "output": 5})", "`usage.cached` is -1"},
      {R"({"input": 5, "written": 2000000000000, "output": 5})", "`usage.written` is 2000000000000"},
      {R"({"input": 5, "output": 9223372036854775807})", "`usage.output` is 9223372036854775807"},
      {R"({"input": 5, "output": 5, "reasoning": 18446744073709551615})", "`usage.reasoning` is -1"},
      {R"({"cost": -0.5})", "`usage.cost` is -0.5; legal are 0 to 1000000000"},
      {R"({"cost": "inf"})", "`usage.cost` is inf"},
      {R"({"cost": "nan"})", "`usage.cost` is nan"}};
  for (const auto& [usage, says] : cases) {
    for (const std::string start : {R"({"text": "x", "usage": )", R"({"error": {"message": "busy", "usage": )"}) {
      const bool error = start.find("error") != start.npos;
      const Result<Reply> reply = ask("echo '" + start + usage + (error ? "}}'" : "}'"));
      ASSERT_FALSE(reply.ok()) << usage;
      EXPECT_EQ(reply.error().code, Code::provider_failed) << usage;
      EXPECT_NE(reply.error().message.find(says), std::string::npos) << reply.error().message;
      EXPECT_EQ(account_.tokens(), estimated_tokens(question()) + 100) << "it may have been billed";
      EXPECT_EQ(account_.unpriced, 1);
      EXPECT_FALSE(account_.cost);
    }
  }
}

TEST_F(CommandTest, AWaitThatCannotBeIsNone) {
  for (const char* after : {"-5", "\"nan\"", "\"inf\""}) {
    ClientOptions options = quick();
    options.first_wait = options.longest_wait = Seconds(0.3);  // less up to a half of it
    options.retries = 1;
    const Seconds begin = monotonic_now();
    const Result<Reply> reply =
        ask(fmt::format(R"(echo '{{"error": {{"message": "busy", "again": true, "after": {}}}}}')", after), question(),
            {}, options);
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(account_.attempts, 2) << after;
    EXPECT_GT((monotonic_now() - begin).value, 0.15) << after;
  }
}

// Nobody says what it used, so it counts in the budget as the most that it can have cost.
TEST_F(CommandTest, ABudgetOfMoneyOutlivesAnswersThatCountNothing) {
  for (const char* usage : {"{}", R"({"input": 30})", R"({"output": 5})"}) {
    model_ = model_of("openai");
    ClientOptions options = quick();
    options.budget.cost = Dollars(0.0025);  // an attempt may cost 0.00104
    const std::string script = fmt::format(R"(echo '{{"text": "because", "usage": {}}}')", usage);
    const Json words = Json::array().push("/bin/sh").push("-c").push(script);
    const auto client = Client::open("command", {{"command", words.dump()}}, model_, options);
    EXPECT_TRUE((*client)->ask(question()).ok());
    EXPECT_TRUE((*client)->ask(question()).ok()) << usage;
    const Result<Reply> third = (*client)->ask(question());
    ASSERT_FALSE(third.ok());
    EXPECT_EQ(third.error().code, Code::over_budget);
    EXPECT_NE(third.error().text().find("of the budget of 0.0025 are left"), std::string::npos) << third.error().text();
    EXPECT_FALSE((*client)->account().cost);
    EXPECT_GT((*client)->account().estimated, 0) << usage;
  }
}

TEST_F(CommandTest, FreeAnswersThatCountNothingDoNotEndABudget) {
  model_ = model_of("openai");
  model_.price.input = model_.price.output = Dollars(0);
  model_.price.cached = model_.price.written = std::nullopt;
  ClientOptions options = quick();
  options.budget.cost = Dollars(0);
  const Json words = Json::array().push("/bin/echo").push(R"({"text": "because"})");
  const auto client = Client::open("command", {{"command", words.dump()}}, model_, options);
  for (int i = 0; i < 3; ++i) {
    const Result<Reply> reply = (*client)->ask(question());
    EXPECT_TRUE(reply.ok()) << reply.error().text();
  }
}

TEST_F(CommandTest, WhyABudgetOfMoneyCannotBeHeldIsTrue) {
  const auto second = [&](const char* usage, const Request& request) {
    ClientOptions options = quick();
    options.budget.cost = Dollars(1);
    const Json words =
        Json::array().push("/bin/echo").push(std::string(R"({"text": "because", "usage": )") + usage + "}");
    const auto client = Client::open("command", {{"command", words.dump()}}, model_, options);
    (void)(*client)->ask(question());
    const Result<Reply> reply = (*client)->ask(request);
    return reply.ok() ? std::string() : reply.error().text();
  };
  model_ = model_of("openai");
  model_.price.cached.reset();
  EXPECT_NE(
      second(R"({"input": 30, "cached": 10, "output": 5})", question()).find("the cost of 1 attempt is not known"),
      std::string::npos);
  model_ = model_of("openai");
  model_.price.up_to_input = 1000;
  const std::string longer = second(R"({"input": 30, "output": 5})", question(std::string(6000, 'x')));
  EXPECT_NE(longer.find("prices are known for prompts of up to 1000 tokens"), std::string::npos) << longer;
  model_.price = {};
  EXPECT_NE(second(R"({"input": 30, "output": 5})", question()).find("the model's prices are not known"),
            std::string::npos);
}

TEST_F(CommandTest, WordsAreSplitAtSpaces) {
  const auto client = Client::open("command", {{"command", "  /bin/echo {\"text\":\"x\"}  "}}, {}, quick());
  const Result<Reply> reply = (*client)->ask(question());
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->text, "x");
  EXPECT_EQ(Client::open("command", {{"command", "  "}}, {}, quick()).error().code, Code::bad_argument);
  EXPECT_EQ(Client::open("command", {{"command", "[1]"}}, {}, quick()).error().code, Code::bad_argument);
  EXPECT_EQ(Client::open("command", {}, {}, quick()).error().code, Code::bad_argument);
  for (const char* missing : {"/no/such/program", "no-such-program"}) {
    EXPECT_EQ(Client::open("command", {{"command", missing}}, {}, quick()).error().code, Code::not_found) << missing;
  }
}

}  // namespace
}  // namespace solstice::llm::testing
