// The client over its providers: repairs, budgets, accounts, and the network switch.
#include "llm/client.h"

#include <fmt/format.h>

#include <cmath>

#include "llm/backoff.h"
#include "unit/llm/support.h"

namespace solstice::llm::testing {
namespace {

TEST_F(ClientTest, JsonIsParsedAlsoFromAFence) {
  for (const char* text : {R"({"n": 3})", "```json\n{\"n\": 3}\n```", " \n```\n{\"n\":3}\n``` "}) {
    FaultyServer server(saying({text}));
    const Result<Reply> reply = (*client_of(server))->ask(for_number());
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    EXPECT_EQ(reply->finish, Finish::kComplete);
    EXPECT_EQ(reply->json.at("n").as_int(), 3) << text;
    EXPECT_EQ(reply->repairs, 0);
  }
}

TEST_F(ClientTest, OneRepairSaysWhatIsWrong) {
  FaultyServer server(saying({R"({"n": "three", "m": 1})", R"({"n": 3})"}));
  const auto client = client_of(server);
  const Result<Reply> reply = (*client)->ask(for_number());
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->finish, Finish::kComplete);
  EXPECT_EQ(reply->json.at("n").as_int(), 3);
  EXPECT_EQ(reply->repairs, 1);
  EXPECT_EQ(reply->usage.input, 2000);
  const std::string sent = server.requests().at(1);
  EXPECT_NE(sent.find(R"($.n: expected integer; got \"three\")"), std::string::npos) << sent;
  EXPECT_NE(sent.find("$.m: expected no such member; there are n"), std::string::npos) << sent;
  EXPECT_NE(sent.find(R"({"role":"assistant","content":"{\"n\": \"three\", \"m\": 1}"})"), std::string::npos) << sent;
  EXPECT_EQ((*client)->account().repairs, 1);
  EXPECT_EQ((*client)->account().calls, 1);
}

TEST_F(ClientTest, MalformedJsonIsRepairedByPosition) {
  FaultyServer server(saying({"{\"n\": 3", R"({"n": 3})"}));
  ASSERT_TRUE((*client_of(server))->ask(for_number()).ok());
  EXPECT_NE(server.requests().at(1).find("line 1, column 8"), std::string::npos) << server.requests().at(1);
}

TEST_F(ClientTest, WhatIsStillWrongIsDataWithItsReason) {
  FaultyServer server(saying({"no json at all"}));
  const Result<Reply> reply = (*client_of(server))->ask(for_number());
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->finish, Finish::kInvalid);
  EXPECT_EQ(reply->text, "no json at all");
  EXPECT_NE(reply->problem.find("not valid JSON"), std::string::npos) << reply->problem;
  EXPECT_TRUE(reply->json.is_null());
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(ClientTest, WhatIsNotCompleteIsNotRepaired) {
  for (const char* reason : {"length", "content_filter"}) {
    FaultyServer server([&](const Serving& s) { s.stream(chat("{", reason)); });
    const Result<Reply> reply = (*client_of(server))->ask(for_number());
    ASSERT_TRUE(reply.ok());
    EXPECT_NE(reply->finish, Finish::kComplete);
    EXPECT_EQ(server.connections(), 1);
  }
}

TEST_F(ClientTest, ABudgetOfTokensRefusesBeforeTheCall) {
  FaultyServer server(saying({"x"}));
  ClientOptions options = quick();
  options.budget.tokens = 1500;  // a call uses 1050 and may use some 130
  const auto client = client_of(server, options);
  EXPECT_TRUE((*client)->ask(question()).ok());
  EXPECT_TRUE((*client)->ask(question()).ok());
  const Result<Reply> third = (*client)->ask(question());
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code, Code::over_budget);
  EXPECT_NE(third.error().text().find("-600 of the budget of 1500"), std::string::npos) << third.error().text();
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(ClientTest, ABudgetOfMoneyRefusesBeforeTheCall) {
  FaultyServer server(saying({"x"}));
  ClientOptions options = quick();
  options.budget.cost = Dollars(0.002);  // a call costs 0.00114 and may cost 0.00104
  const auto client = client_of(server, options);
  EXPECT_TRUE((*client)->ask(question()).ok());
  const Result<Reply> second = (*client)->ask(question());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::over_budget);
  EXPECT_NE(second.error().text().find("0.0009 of the budget of 0.0020 are left"), std::string::npos)
      << second.error().text();
  EXPECT_EQ(server.connections(), 1);
  Model unpriced = model_of("openai");
  unpriced.price = {};
  const auto blind = Client::open("openai", {{"base_url", server.url()}, {"key_env", ""}}, unpriced, options);
  EXPECT_EQ((*blind)->ask(question()).error().code, Code::over_budget);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(ClientTest, AnUnknownPriceIsAnUnknownCost) {
  FaultyServer server(saying({"x"}));
  Model model = model_of("openai");
  model.price.output.reset();
  const auto client = Client::open("openai", {{"base_url", server.url()}, {"key_env", ""}}, model, quick());
  const Result<Reply> reply = (*client)->ask(question());
  ASSERT_TRUE(reply.ok());
  EXPECT_FALSE(reply->usage.cost);
  EXPECT_EQ((*client)->account().unpriced, 1);
  EXPECT_FALSE((*client)->account().cost) << "unknown is not free";
  EXPECT_TRUE(to_json((*client)->account()).at("cost").is_null());
}

TEST_F(ClientTest, WithoutNetworkOnlyTheOthersOpen) {
  ClientOptions options = quick();
  options.network = false;
  for (const char* name : {"openai", "anthropic"}) {
    const auto client = Client::open(name, {{"key_env", ""}}, model_of(name), options);
    ASSERT_FALSE(client.ok());
    EXPECT_EQ(client.error().code, Code::network_off);
    EXPECT_NE(client.error().message.find(name), std::string::npos);
    EXPECT_NE(client.error().hint.find("leave --no-network out"), std::string::npos);
  }
  EXPECT_TRUE(Client::open("command", {{"command", "true"}}, {}, options).ok());
  EXPECT_TRUE(Client::open("mailbox", {{"folder", folder().string()}}, {}, options).ok());
}

TEST_F(ClientTest, MistakesAreNamedBeforeAnythingIsAsked) {
  const auto open = [](std::map<std::string, std::string> options, Model model) {
    const auto client = Client::open("openai", std::move(options), std::move(model), quick());
    return client.ok() ? std::string() : client.error().text();
  };
  EXPECT_NE(open({{"base_ur", "x"}}, model_of("openai")).find("did you mean `base_url`?"), std::string::npos);
  EXPECT_NE(open({}, {}).find("needs a model"), std::string::npos);
  EXPECT_NE(open({}, model_of("anthropic")).find("belongs to provider `anthropic`"), std::string::npos);
  EXPECT_NE(open({{"key_env", "SOLSTICE_NO_SUCH_KEY"}}, model_of("openai")).find("SOLSTICE_NO_SUCH_KEY is not set"),
            std::string::npos);
  EXPECT_NE(open({{"key_env", ""}, {"timeout", "soon"}}, model_of("openai")).find("`timeout` is `soon`"),
            std::string::npos);
  EXPECT_NE(open({{"key_env", ""}, {"stream", "yes"}}, model_of("openai")).find("true or false"), std::string::npos);
  EXPECT_EQ(Client::open("opnai", {}, {}, quick()).error().code, Code::not_found);
  const auto client = Client::open("openai", {{"key_env", ""}}, model_of("openai"), quick());
  Request request = question();
  request.most_output = 100000;
  EXPECT_EQ((*client)->ask(request).error().code, Code::bad_argument);
  request = question();
  request.messages.clear();
  EXPECT_EQ((*client)->ask(request).error().code, Code::bad_argument);
  request = question();
  request.schema = *parse_json(R"({"type":"object","oneOf":[]})");
  EXPECT_NE((*client)->ask(request).error().text().find("`oneOf` is not supported"), std::string::npos);
  EXPECT_NE((*client)->ask(request).error().hint.find("there are type, properties"), std::string::npos);
}

TEST(Backoff, DoublesWithChanceFromASeed) {
  for (int retry = 1; retry < 12; ++retry) {
    const double whole = std::min(std::exp2(retry - 1), 60.0);
    const Seconds wait = backoff(Seconds(1), Seconds(60), retry, 7);
    EXPECT_GT(wait.value, whole / 2);
    EXPECT_LE(wait.value, whole);
    EXPECT_EQ(wait, backoff(Seconds(1), Seconds(60), retry, 7));
    EXPECT_NE(wait, backoff(Seconds(1), Seconds(60), retry, 8));
  }
}

// What was sent and not counted may be billed.
struct Broken {
  const char* name;
  std::function<void(const Serving&)> serve;
  bool billed;
};

TEST_F(ClientTest, WhatBrokeOffUncountedIsEstimatedAndUnpriced) {
  const std::vector<Broken> cases = {
      {"cut stream", [](const Serving& s) { s.stream(chat("because").substr(0, 90)); }, true},
      {"hang", [](const Serving& s) { s.wait(milliseconds(5000)); }, true},
      {"no status", [](const Serving& s) { s.reset(); }, true},
      {"429", [](const Serving& s) { s.answer(429, "", "Retry-After: 0\r\n"); }, false},
      {"500", [](const Serving& s) { s.answer(500, "oops"); }, false}};
  for (const Broken& broken : cases) {
    FaultyServer server([&](const Serving& s) { s.number == 0 ? broken.serve(s) : s.stream(chat("because")); });
    const auto client = client_of(server);
    const Result<Reply> reply = (*client)->ask(question());
    ASSERT_TRUE(reply.ok()) << broken.name << ": " << reply.error().text();
    const Account account = (*client)->account();
    const int64_t held = estimated_tokens(question()) + question().most_output;
    EXPECT_EQ(account.estimated, broken.billed ? held : 0) << broken.name;
    EXPECT_EQ(account.unpriced, broken.billed ? 1 : 0) << broken.name;
    EXPECT_EQ(account.cost.has_value(), !broken.billed) << broken.name;
    EXPECT_EQ(reply->estimated, account.estimated) << broken.name;
    EXPECT_EQ(reply->usage.cost.has_value(), !broken.billed) << broken.name;
  }
}

TEST_F(ClientTest, ARefusedConnectionCostsNothing) {
  ClientOptions options = quick();
  options.retries = 0;
  const auto client =
      Client::open("openai", {{"base_url", "http://127.0.0.1:1"}, {"key_env", ""}}, model_of("openai"), options);
  ASSERT_FALSE((*client)->ask(question()).ok());
  EXPECT_EQ((*client)->account().estimated, 0);
  EXPECT_EQ((*client)->account().unpriced, 0);
}

TEST_F(ClientTest, BudgetsCountWhatBrokeOff) {
  FaultyServer server([&](const Serving& s) { s.stream(chat("because").substr(0, 90)); });
  ClientOptions options = quick();
  options.budget.tokens = 300;  // an attempt may use some 130
  auto client = client_of(server, options);
  EXPECT_EQ((*client)->ask(question()).error().code, Code::over_budget);
  EXPECT_EQ(server.connections(), 2);
  options.budget = {{}, Dollars(0.0025)};  // and cost 0.00104: prices are known, so it is bounded
  client = client_of(server, options);
  const Result<Reply> reply = (*client)->ask(question());
  EXPECT_EQ(reply.error().code, Code::over_budget);
  EXPECT_NE(reply.error().text().find("of the budget of 0.0025 are left"), std::string::npos) << reply.error().text();
  EXPECT_EQ(server.connections(), 4);
}

TEST_F(ClientTest, EachAttemptIsToldOnceTheAccountHasIt) {
  FaultyServer server([&](const Serving& s) { s.number == 0 ? s.answer(500, "oops") : s.stream(chat("because")); });
  const auto client = client_of(server);
  std::vector<int64_t> told;
  (*client)->after_each([&] {
    told.push_back((*client)->account().attempts);
    return success();
  });
  ASSERT_TRUE((*client)->ask(question()).ok());
  EXPECT_EQ(told, (std::vector<int64_t>{1, 2}));
  (*client)->after_each([] { return fail(Code::io_error, "no room"); });
  EXPECT_EQ((*client)->ask(question()).error().code, Code::io_error);
}

TEST_F(ClientTest, WhoAsksMayHaveLessPatienceThanTheClient) {
  FaultyServer server([&](const Serving& s) { s.wait(milliseconds(5000)); });
  const Seconds begin = monotonic_now();
  EXPECT_FALSE((*client_of(server))->ask(question(), Deadline(Seconds(0.2))).ok());
  EXPECT_LT((monotonic_now() - begin).value, 0.8) << "the idle time is 1 s";
}

TEST_F(ClientTest, ARepairThatTheContextHasNoRoomForIsNotAskedFor) {
  FaultyServer server(saying({"no json at all, " + std::string(3000, 'x')}));
  Model model = model_of("openai");
  model.context = 1000;
  const auto client = Client::open("openai", {{"base_url", server.url()}, {"key_env", ""}}, model, quick());
  const Result<Reply> reply = (*client)->ask(for_number());
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->finish, Finish::kInvalid);
  EXPECT_EQ(reply->repairs, 0);
  EXPECT_EQ(server.connections(), 1);
}

}  // namespace
}  // namespace solstice::llm::testing
