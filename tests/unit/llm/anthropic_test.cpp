// The provider `anthropic` against a server that speaks its protocol, or breaks it.
#include "unit/llm/support.h"

namespace solstice::llm::testing {
namespace {

constexpr const char* kStart =
    R"({"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":10,"cache_read_input_tokens":100,)"
    R"("cache_creation_input_tokens":20,"output_tokens":1}}})";

std::string said(const std::string& text) {
  const Json delta = Json::object().set("type", "text_delta").set("text", text);
  return event(Json::object().set("type", "content_block_delta").set("delta", delta).dump(), "content_block_delta");
}

std::string ended(const std::string& reason) {
  return event(R"({"type":"message_delta","delta":{"stop_reason":")" + reason + R"("},"usage":{"output_tokens":7}})",
               "message_delta") +
         event(R"({"type":"message_stop"})", "message_stop");
}

class AnthropicTest : public LlmTest {
 protected:
  static Result<Reply> ask(const FaultyServer& server, const Request& request = question(),
                           std::map<std::string, std::string> more = {}) {
    more.emplace("base_url", server.url());
    more.emplace("key_env", "SOLSTICE_TEST_KEY");
    SOLSTICE_TRY(const auto client, Client::open("anthropic", more, model_of("anthropic"), quick()));
    return client->ask(request);
  }
};

TEST_F(AnthropicTest, AnswersWithUsageAndCost) {
  FaultyServer server([](const Serving& s) {
    s.stream(event(kStart, "message_start") + event(R"({"type":"ping"})", "ping") + said("be") +
             event(R"({"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}})") +
             said("cause") + ended("end_turn"));
  });
  const Result<Reply> reply = ask(server);
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->text, "because");
  EXPECT_EQ(reply->model, "claude-x");
  EXPECT_EQ(reply->usage.input, 130);
  EXPECT_EQ(reply->usage.cached, 100);
  EXPECT_EQ(reply->usage.written, 20);
  EXPECT_EQ(reply->usage.output, 7);
  ASSERT_TRUE(reply->usage.cost);
  EXPECT_DOUBLE_EQ(reply->usage.cost->value, (10 * 1 + 100 * 0.1 + 20 * 1.25 + 7 * 10) / 1e6);
  const std::string sent = server.requests().at(0);
  EXPECT_EQ(sent.rfind("POST /v1/messages ", 0), 0u);
  EXPECT_NE(sent.find(std::string("x-api-key: ") + kKey), std::string::npos);
  EXPECT_NE(sent.find("anthropic-version: 2023-06-01"), std::string::npos);
  EXPECT_NE(sent.find(R"("max_tokens":100,)"), std::string::npos) << sent;
}

TEST_F(AnthropicTest, HowAnswersEndIsData) {
  for (const auto& [reason, finish] :
       std::map<std::string, Finish>{{"end_turn", Finish::kComplete},
                                     {"max_tokens", Finish::kTruncated},
                                     {"model_context_window_exceeded", Finish::kTruncated},
                                     {"refusal", Finish::kRefused}}) {
    FaultyServer server([&, why = reason](const Serving& s) { s.stream(event(kStart) + said("x") + ended(why)); });
    const Result<Reply> reply = ask(server);
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    EXPECT_EQ(reply->finish, finish) << reason;
  }
}

TEST_F(AnthropicTest, WithoutStreaming) {
  FaultyServer server([](const Serving& s) {
    s.answer(200, R"({"model":"c","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"whole"}],)"
                  R"("stop_reason":"end_turn",)"
                  R"("usage":{"input_tokens":3,"output_tokens":4}})");
  });
  const Result<Reply> reply = ask(server, question(), {{"stream", "false"}});
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->text, "whole");
  EXPECT_EQ(reply->usage.input, 3);
}

// A stream that breaks off has used tokens all the same. What it said of its output when it began is no count of it, so
// what was held back takes the place of that, and what it cost is unknown.
TEST_F(AnthropicTest, FailedAttemptsAreAccountedFor) {
  const std::vector<std::string> faults = {
      event(kStart) + said("be"),
      event(kStart) + said("be") + event(R"({"type":"error","error":{"type":"overloaded_error","message":"later"}})"),
      event(kStart) + event("{{")};
  for (const std::string& fault : faults) {
    FaultyServer server([&](const Serving& s) {
      s.stream(s.number == 0 ? fault : event(kStart) + said("because") + ended("end_turn"));
    });
    const Result<Reply> reply = ask(server);
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    EXPECT_EQ(reply->attempts, 2);
    EXPECT_EQ(reply->usage.input, 260);
    EXPECT_EQ(reply->usage.output, 7);
    EXPECT_FALSE(reply->usage.cost);
    EXPECT_GT(reply->estimated, 0);
  }
}

// What was asked before is read from the cache: a conversation is not paid in full at every turn.
TEST_F(AnthropicTest, TheBeginningOfAConversationIsCached) {
  FaultyServer server([](const Serving& s) { s.stream(event(kStart) + said("x") + ended("end_turn")); });
  Request request = question();
  request.messages = {{Role::kUser, "first"}, {Role::kAssistant, "said"}, {Role::kUser, "then"}};
  ASSERT_TRUE(ask(server, request).ok());
  const auto body = [&] {
    return *parse_json(server.requests().back().substr(server.requests().back().find("\r\n\r\n") + 4));
  };
  EXPECT_EQ(body().at("system").dump(), R"([{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}])");
  EXPECT_EQ(body().at("messages").dump(),
            R"([{"role":"user","content":"first"},{"role":"assistant","content":"said"},)"
            R"({"role":"user","content":[{"type":"text","text":"then","cache_control":{"type":"ephemeral"}}]}])");
  request.system = "";
  ASSERT_TRUE(ask(server, request).ok());
  EXPECT_FALSE(body().find("system"));
}

// A cost that would become unknown is worth less than what a cache saves.
TEST_F(AnthropicTest, NothingIsCachedAtAnUnknownPrice) {
  FaultyServer server([](const Serving& s) { s.stream(event(kStart) + said("x") + ended("end_turn")); });
  for (const bool priced : {true, false}) {
    Model model = model_of("anthropic");
    model.price.written.reset();
    if (!priced) model.price = {};
    const auto client = Client::open("anthropic", {{"base_url", server.url()}, {"key_env", ""}}, model, quick());
    ASSERT_TRUE((*client)->ask(question()).ok());
    EXPECT_EQ(server.requests().back().find("cache_control") != std::string::npos, !priced);
  }
}

TEST_F(AnthropicTest, ErrorsAreNamed) {
  FaultyServer server([](const Serving& s) {
    s.answer(400, R"({"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: too large"}})");
  });
  const Result<Reply> reply = ask(server);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::provider_refused);
  EXPECT_EQ(reply.error().message, "provider `anthropic`: answered 400 invalid_request_error: max_tokens: too large");
}

}  // namespace
}  // namespace solstice::llm::testing
