// The provider `openai` and the client over it, against a server that misbehaves.
#include "unit/llm/support.h"

namespace solstice::llm::testing {
namespace {

class OpenAiTest : public LlmTest {};

TEST_F(OpenAiTest, AnswersWithUsageAndCost) {
  FaultyServer server([](const Serving& s) { s.stream(chat("because")); });
  const auto client = client_of(server);
  ASSERT_TRUE(client.ok()) << client.error().text();
  Request request = question();
  request.temperature = 0.5;
  const Result<Reply> reply = (*client)->ask(request);
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->text, "because");
  EXPECT_EQ(reply->finish, Finish::kComplete);
  EXPECT_EQ(reply->model, "test-1-0");
  EXPECT_EQ(reply->usage.input, 1000);
  EXPECT_EQ(reply->usage.cached, 400);
  EXPECT_EQ(reply->usage.output, 50);
  EXPECT_EQ(reply->usage.reasoning, 20);
  ASSERT_TRUE(reply->usage.cost);
  EXPECT_DOUBLE_EQ(reply->usage.cost->value, (600 * 1 + 400 * 0.1 + 50 * 10) / 1e6);
  EXPECT_EQ(reply->attempts, 1);
  const std::string sent = server.requests().at(0);
  EXPECT_EQ(sent.rfind("POST /v1/chat/completions ", 0), 0u) << sent;
  EXPECT_NE(sent.find(std::string("Authorization: Bearer ") + kKey), std::string::npos);
  EXPECT_NE(sent.find(R"("messages":[{"role":"system","content":"be brief"},{"role":"user","content":"why?"}])"),
            std::string::npos)
      << sent;
  EXPECT_NE(sent.find(R"("max_completion_tokens":100)"), std::string::npos) << sent;
  EXPECT_NE(sent.find(R"("temperature":0.5)"), std::string::npos) << sent;
}

TEST_F(OpenAiTest, HowAnswersEndIsData) {
  struct Case {
    std::string stream;
    Finish finish;
    std::string text;
  };
  const std::vector<Case> cases = {
      {chat("cut o", "length"), Finish::kTruncated, "cut o"},
      {chat("", "content_filter"), Finish::kRefused, ""},
      {event(R"({"choices":[{"delta":{"refusal":"I will not."}}]})") + chat(""), Finish::kRefused, "I will not."},
      {chat(""), Finish::kEmpty, ""},
      {chat(" \n"), Finish::kEmpty, " \n"}};
  for (const Case& expected : cases) {
    FaultyServer server([&](const Serving& s) { s.stream(expected.stream); });
    const Result<Reply> reply = (*client_of(server))->ask(question());
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    EXPECT_EQ(reply->finish, expected.finish);
    EXPECT_EQ(reply->text, expected.text);
  }
}

TEST_F(OpenAiTest, WithoutStreaming) {
  FaultyServer server([](const Serving& s) {
    s.answer(200, R"({"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}],)"
                  R"("usage":{"prompt_tokens":3,"completion_tokens":4}})");
  });
  const Result<Reply> reply = (*client_of(server, quick(), {{"stream", "false"}}))->ask(question());
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->text, "whole");
  EXPECT_EQ(reply->usage.output, 4);
  EXPECT_EQ(server.requests().at(0).find("\"stream\""), std::string::npos);
}

// What the server does first; the second time it answers.
struct Fault {
  const char* name;
  std::function<void(const Serving&)> serve;
};

TEST_F(OpenAiTest, WhatMayPassIsTriedAgain) {
  const std::vector<Fault> faults = {
      {"429",
       [](const Serving& s) {
         s.answer(429, R"({"error":{"message":"slow down","type":"requests"}})", "Retry-After: 0\r\n");
       }},
      {"500", [](const Serving& s) { s.answer(500, "oops"); }},
      {"502", [](const Serving& s) { s.answer(502, "<html>bad gateway</html>"); }},
      {"503", [](const Serving& s) { s.answer(503, ""); }},
      {"529", [](const Serving& s) { s.answer(529, R"({"error":{"type":"overloaded_error","message":"later"}})"); }},
      {"reset", [](const Serving& s) { s.reset(); }},
      {"hang", [](const Serving& s) { s.wait(milliseconds(5000)); }},
      {"cut stream", [](const Serving& s) { s.stream(chat("because").substr(0, 90)); }},
      {"stream without an end",
       [](const Serving& s) { s.stream(event(R"({"choices":[{"delta":{"content":"be"}}]})")); }},
      {"malformed piece", [](const Serving& s) { s.stream(event("{\"choices\":[{") + chat("because")); }},
      {"error in the stream",
       [](const Serving& s) { s.stream(event(R"({"error":{"message":"overloaded","type":"server_error"}})")); }}};
  for (const Fault& fault : faults) {
    FaultyServer server([&](const Serving& s) { s.number == 0 ? fault.serve(s) : s.stream(chat("because")); });
    const auto client = client_of(server);
    const Result<Reply> reply = (*client)->ask(question());
    ASSERT_TRUE(reply.ok()) << fault.name << ": " << reply.error().text();
    EXPECT_EQ(reply->text, "because") << fault.name;
    EXPECT_EQ(reply->attempts, 2) << fault.name;
    EXPECT_EQ((*client)->account().failures, 1) << fault.name;
  }
}

struct Refusal {
  const char* name;
  std::function<void(const Serving&)> serve;
  Code code;
  std::string says;
};

TEST_F(OpenAiTest, WhatWillNotPassIsNotTriedAgain) {
  const std::vector<Refusal> cases = {
      {"key", [](const Serving& s) { s.answer(401, R"({"error":{"message":"wrong key"}})"); }, Code::provider_refused,
       "wrong key"},
      {"model", [](const Serving& s) { s.answer(404, R"({"error":{"message":"no such model"}})"); },
       Code::provider_refused, "no such model"},
      {"quota", [](const Serving& s) { s.answer(429, R"({"error":{"message":"pay","code":"insufficient_quota"}})"); },
       Code::provider_refused, "pay"},
      {"no stream", [](const Serving& s) { s.answer(200, "<html>login</html>"); }, Code::provider_failed,
       "<html>login"},
      {"no HTTP", [](const Serving& s) { s.send("hello\r\n\r\n"); }, Code::bad_response, ""}};
  for (const Refusal& refusal : cases) {
    FaultyServer server(refusal.serve);
    const Result<Reply> reply = (*client_of(server))->ask(question());
    ASSERT_FALSE(reply.ok()) << refusal.name;
    EXPECT_EQ(reply.error().code, refusal.code) << reply.error().text();
    EXPECT_NE(reply.error().message.find("provider `openai`"), std::string::npos) << reply.error().message;
    EXPECT_NE(reply.error().message.find(refusal.says), std::string::npos) << reply.error().message;
    EXPECT_EQ(server.connections(), 1) << refusal.name;
  }
}

TEST_F(OpenAiTest, AnErrorMayBeAText) {
  const std::string error = R"({"error":"model overloaded"})";
  for (const char* stream : {"true", "false"}) {
    FaultyServer server([&](const Serving& s) { stream[0] == 't' ? s.stream(event(error)) : s.answer(200, error); });
    ClientOptions options = quick();
    options.retries = 1;
    const Result<Reply> reply = (*client_of(server, options, {{"stream", stream}}))->ask(question());
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().message, "provider `openai`: answered with an error: model overloaded");
    EXPECT_EQ(server.connections(), 2) << "nobody says that it is for good";
  }
  FaultyServer server([&](const Serving& s) { s.answer(404, R"({"error":"no such model"})"); });
  EXPECT_EQ((*client_of(server))->ask(question()).error().message, "provider `openai`: answered 404: no such model");
}

// vLLM's continuous_usage_stats: every piece says what was used by then.
TEST_F(OpenAiTest, UsageBeforeTheEndIsNoCountOfTheOutput) {
  const std::string counting =
      event(R"({"choices":[{"delta":{"content":"be"}}],"usage":{"prompt_tokens":1000,"completion_tokens":1}})");
  const std::string end =
      event(
          R"({"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":7}})") +
      event("[DONE]");
  FaultyServer server([&](const Serving& s) { s.stream(s.number == 0 ? counting : counting + end); });
  const auto client = client_of(server);
  const Result<Reply> reply = (*client)->ask(question());
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->attempts, 2);
  EXPECT_EQ(reply->usage.input, 2000);
  EXPECT_EQ(reply->usage.output, 7);
  EXPECT_EQ(reply->estimated, question().most_output);
  EXPECT_EQ((*client)->account().unpriced, 1);
  FaultyServer silent(
      [&](const Serving& s) { s.stream(counting + event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})")); });
  const Result<Reply> uncounted = (*client_of(silent))->ask(question());
  ASSERT_TRUE(uncounted.ok()) << uncounted.error().text();
  EXPECT_FALSE(uncounted->usage.output);
  EXPECT_FALSE(uncounted->usage.cost);
  EXPECT_EQ(uncounted->estimated, estimated_tokens("be"));
}

TEST_F(OpenAiTest, AByteOrderMarkLosesNothing) {
  FaultyServer server([](const Serving& s) { s.stream("\xEF\xBB\xBF" + chat("because")); });
  const Result<Reply> reply = (*client_of(server))->ask(question());
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->text, "because");
}

TEST_F(OpenAiTest, AHugeBodyEndsAtTheLimit) {
  FaultyServer server([](const Serving& s) {
    s.send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string piece(size_t{1} << 20, ' ');
    for (int i = 0; i < 80 && !*s.stopped; ++i) s.send(piece);
  });
  ClientOptions options = quick();
  options.total = Seconds(60);  // checked builds are slow
  const Result<Reply> reply = (*client_of(server, options))->ask(question());
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::bad_response) << reply.error().text();
}

TEST_F(OpenAiTest, RetryAfterIsHonouredAndTheDeadlineHolds) {
  FaultyServer server(
      [&](const Serving& s) { s.number == 0 ? s.answer(429, "", "Retry-After: 0.2\r\n") : s.stream(chat("x")); });
  const Seconds begin = monotonic_now();
  ASSERT_TRUE((*client_of(server))->ask(question()).ok());
  EXPECT_GT((monotonic_now() - begin).value, 0.2);
  FaultyServer slow([&](const Serving& s) { s.answer(429, "", "Retry-After: 100\r\n"); });
  const Result<Reply> reply = (*client_of(slow))->ask(question());
  ASSERT_FALSE(reply.ok());
  EXPECT_NE(reply.error().text().find("had to wait 100 s"), std::string::npos) << reply.error().text();
  EXPECT_EQ(slow.connections(), 1);
}

TEST_F(OpenAiTest, RetriesEnd) {
  FaultyServer server([&](const Serving& s) { s.answer(500, "broken"); });
  ClientOptions options = quick();
  options.retries = 2;
  const auto client = client_of(server, options);
  const Result<Reply> reply = (*client)->ask(question());
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::provider_failed);
  EXPECT_NE(reply.error().text().find("making attempt 3"), std::string::npos) << reply.error().text();
  EXPECT_EQ(server.connections(), 3);
  EXPECT_EQ((*client)->account().attempts, 3);
}

TEST_F(OpenAiTest, CancellingEndsTheCall) {
  FaultyServer server([&](const Serving& s) { s.wait(milliseconds(5000)); });
  ClientOptions options = quick();
  const Seconds begin = monotonic_now();
  options.cancelled = [begin] { return (monotonic_now() - begin).value > 0.1; };
  const Result<Reply> reply = (*client_of(server, options))->ask(question());
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::interrupted);
  EXPECT_LT((monotonic_now() - begin).value, 2.5);
}

TEST_F(OpenAiTest, ASchemaIsAParameterWhereTheModelTakesIt) {
  FaultyServer server([](const Serving& s) { s.stream(chat(R"({"n": 3})")); });
  Request request = question();
  request.schema = number_schema();
  Model model = model_of("openai");
  for (const bool takes : {true, false}) {
    model.json_schema = takes;
    const auto client = Client::open("openai", {{"base_url", server.url()}, {"key_env", ""}}, model, quick());
    const Result<Reply> reply = (*client)->ask(request);
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    EXPECT_EQ(reply->json.at("n").as_int(), 3);
    const std::string sent = server.requests().back();
    EXPECT_EQ(sent.find("response_format") != std::string::npos, takes) << sent;
    EXPECT_EQ(sent.find("JSON Schema") != std::string::npos, !takes) << sent;
    EXPECT_EQ(sent.find("Authorization"), std::string::npos) << sent;
  }
}

}  // namespace
}  // namespace solstice::llm::testing
