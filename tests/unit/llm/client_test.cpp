// What the client adds: repairs, budgets, accounts, the network switch, and no key anywhere.
#include "llm/client.h"

#include <fmt/format.h>

#include <cmath>

#include "llm/backoff.h"
#include "unit/llm/support.h"

namespace solstice::llm::testing {
namespace {

class ClientTest : public LlmTest {
 protected:
  // Answers with these texts in turn, the last again and again.
  static FaultyServer::Handler saying(std::vector<std::string> texts) {
    return [texts = std::move(texts)](const Serving& s) {
      s.stream(chat(texts[std::min<size_t>(s.number, texts.size() - 1)]));
    };
  }
  static Request for_number() {
    Request out = question();
    out.schema = number_schema();
    return out;
  }
};

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
  EXPECT_NE(open({}, model_of("anthropic")).find("is one of provider `anthropic`"), std::string::npos);
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

// Half a key is found by nobody any more.
TEST_F(ClientTest, AKeyIsTakenOutBeforeATextIsCut) {
  const std::string echo = std::string(290, '.') + kKey + std::string(100, '.');
  const std::vector<std::function<void(const Serving&)>> servers = {
      [&](const Serving& s) { s.answer(404, echo); }, [&](const Serving& s) { s.answer(200, echo); },
      [&](const Serving& s) {
        s.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (const size_t at : {0, 100, 200, 295, 302}) {
          s.chunk(echo.substr(at, at == 0     ? 100
                                  : at == 100 ? 100
                                  : at == 200 ? 95
                                  : at == 295 ? 7
                                              : std::string::npos));
          s.wait(milliseconds(30));
        }
        s.send("0\r\n\r\n");
      }};
  for (const auto& serve : servers) {
    FaultyServer server(serve);
    const Result<Reply> reply = (*client_of(server))->ask(question());
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().text().find("sk-test"), std::string::npos) << reply.error().text();
    EXPECT_NE(reply.error().text().find("..[key]"), std::string::npos) << reply.error().text();
  }
}

TEST_F(ClientTest, AUrlHoldsNothingThatWouldNotBeSent) {
  for (const char* url :
       {"http://me:secret@127.0.0.1/v1", "http://127.0.0.1/v1?key=secret", "http://127.0.0.1/v1#secret"}) {
    const auto client = Client::open("openai", {{"base_url", url}, {"key_env", ""}}, model_of("openai"), quick());
    ASSERT_FALSE(client.ok()) << url;
    EXPECT_EQ(client.error().code, Code::bad_argument);
    EXPECT_NE(client.error().text().find("base_url"), std::string::npos);
    EXPECT_EQ(client.error().text().find("secret"), std::string::npos) << client.error().text();
  }
}

// What stands for a character in JSON; parsing would make the key of it again.
TEST_F(ClientTest, AKeyIsFoundHoweverJsonSpellsIt) {
  const std::string key = "sk/test-0123456789abcdef";
  const Variable variable("SOLSTICE_TEST_KEY", key);
  std::string hex;
  for (const char c : key) hex += fmt::format("\\u{:04x}", static_cast<int>(c));
  const std::vector<std::string> spellings = {key, R"(sk\/test-0123456789abcdef)", R"(sk/test\u002D0123456789abcdef)",
                                              R"(\u0073k\/test-0123456789abcde\u0066)", hex};
  Request request = question();
  request.schema = *parse_json(R"({"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]})");
  for (const std::string& spelled : spellings) {
    FaultyServer server(saying({R"({"n": "say )" + spelled + R"( aloud", ")" + spelled + R"(": 1})"}));
    const std::filesystem::path file = folder() / "t.jsonl";
    std::filesystem::remove(file);
    auto transcript = Transcript::open(file);
    ClientOptions options = quick();
    options.transcript = transcript->get();
    const Result<Reply> reply = (*client_of(server, options))->ask(request);
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    EXPECT_EQ(reply->json.at("n").as_string(), "say [key] aloud") << spelled;
    EXPECT_TRUE(reply->json.find("[key]")) << reply->json.dump();
    EXPECT_EQ(parse_json(reply->text)->at("n").as_string(), "say [key] aloud") << reply->text;
    const auto lines = load_transcript(file);
    EXPECT_EQ(parse_json(lines->at(0).answer->text)->at("n").as_string(), "say [key] aloud") << spelled;
  }
}

TEST(Secrets, AreFoundInJsonWithinJson) {
  Scrubber scrubber;
  scrubber.add(*Secret::create(R"(a"b\c/d-0123)", "test"));
  std::string text = R"(a"b\c/d-0123)";
  for (int depth = 0; depth < 4; ++depth) {
    EXPECT_EQ(scrubber.scrub("<" + text + ">"), "<[key]>") << text;
    const std::string quoted = Json(text).dump();
    text = quoted.substr(1, quoted.size() - 2);
  }
  EXPECT_EQ(scrubber.scrub(R"(<a\u0022b\u005Cc\u002fd-0123>)"), "<[key]>");
  for (const char* other : {R"(a"b\c/d-012)", R"(au0022b\c/d-0123)", "\\", ""}) EXPECT_EQ(scrubber.scrub(other), other);
  EXPECT_EQ(scrubber.scrub(R"(a"b\c/d-0123a"b\c/d-0123)"), "[key][key]");
}

// The key itself, in place of the name of its variable.
TEST_F(ClientTest, AKeyGivenAsItsVariablesNameIsNotShown) {
  for (const char* given : {"sk-live-0123456789abcdef", "key 1", "1KEY", "sk_live_0123456789abcdef",
                            "0123456789abcdef0123", "A1B2C3D4E5F6A7B8C9D0"}) {
    const auto client = Client::open("openai", {{"key_env", given}}, model_of("openai"), quick());
    ASSERT_FALSE(client.ok()) << given;
    EXPECT_EQ(client.error().text().find(given), std::string::npos) << client.error().text();
    EXPECT_NE(client.error().text().find("key_env"), std::string::npos) << client.error().text();
  }
}

TEST_F(ClientTest, NoKeyGoesUnencryptedToAnotherHost) {
  const auto open = [](std::map<std::string, std::string> options) {
    options.emplace("key_env", "SOLSTICE_TEST_KEY");
    const auto client = Client::open("openai", std::move(options), model_of("openai"), quick());
    return client.ok() ? std::string() : client.error().text();
  };
  const std::string refused = open({{"base_url", "http://gateway.example.com/v1"}});
  EXPECT_NE(refused.find("`http://gateway.example.com:80`"), std::string::npos) << refused;
  EXPECT_NE(refused.find("insecure=true"), std::string::npos) << refused;
  EXPECT_EQ(refused.find(kKey), std::string::npos) << refused;
  EXPECT_EQ(open({{"base_url", "http://gateway.example.com/v1"}, {"insecure", "true"}}), "");
  EXPECT_EQ(open({{"base_url", "http://gateway.example.com/v1"}, {"key_env", ""}}), "");
  EXPECT_EQ(open({{"base_url", "https://gateway.example.com/v1"}}), "");
  for (const char* here : {"http://localhost:1/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"})
    EXPECT_EQ(open({{"base_url", here}}), "");
}

TEST(Secrets, OfTheEnvironmentAreKnownByTheirNames) {
  const Variable key("SOLSTICE_TEST_API_KEY", kKey), path("SOLSTICE_TEST_PATH_KEY", "/home/me/key-of-mine"),
      flag("SOLSTICE_TEST_TOKEN", "1");
  EXPECT_EQ(secrets_of_environment().scrub(std::string("ask --with ") + kKey + " /home/me/key-of-mine 1"),
            "ask --with [key] /home/me/key-of-mine 1");
}

// The server gives the key back in every place where it can.
TEST_F(ClientTest, TheKeyIsInNoErrorLogOrTranscript) {
  const std::string echo = std::string("your key is ") + kKey;
  FaultyServer server([&](const Serving& s) {
    if (s.number == 0) return s.answer(500, R"({"error":{"message":")" + echo + R"("}})");
    if (s.number == 1) return s.stream(chat(echo));
    if (s.number == 2) return s.answer(401, echo);
    s.answer(200, echo);
  });
  ::testing::internal::CaptureStderr();
  auto transcript = Transcript::open(folder() / "t.jsonl");
  ClientOptions options = quick();
  options.transcript = transcript->get();
  const auto client = client_of(server, options);
  std::string seen;
  for (int i = 0; i < 3; ++i) {
    const Result<Reply> reply = (*client)->ask(question("is it " + std::string(kKey) + "?"));
    seen += reply.ok() ? to_json(*reply).dump() : reply.error().text();
  }
  seen += to_json((*client)->account()).dump() + *read_file(folder() / "t.jsonl") +
          ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(seen.find(kKey), std::string::npos) << seen;
  EXPECT_NE(seen.find("your key is [key]"), std::string::npos) << seen;
  EXPECT_NE(server.requests().at(0).find(kKey), std::string::npos);
}

}  // namespace
}  // namespace solstice::llm::testing
