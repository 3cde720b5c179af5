// Shared by the tests of providers: models, requests, a server's answers, a client whose waits are short.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "llm/client.h"
#include "support/http_server.h"

namespace solstice::llm::testing {

using solstice::testing::FaultyServer;
using Serving = FaultyServer::Exchange;
using std::chrono::milliseconds;

inline constexpr const char* kKey = "sk-test-0123456789abcdef";

// In place for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

inline Model model_of(const std::string& provider) {
  Model model;
  model.name = "test";
  model.provider = provider;
  model.id = "test-1";
  model.max_output = 8192;
  model.temperature = true;
  model.price.input = Dollars(1);
  model.price.cached = Dollars(0.1);
  model.price.written = Dollars(1.25);
  model.price.output = Dollars(10);
  return model;
}

inline Request question(const std::string& text = "why?") {
  Request out;
  out.label = "test";
  out.system = "be brief";
  out.messages = {{Role::kUser, text}};
  out.most_output = 100;
  return out;
}

// {"n": integer}, closed.
inline Json number_schema() {
  return *parse_json(
      R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false})");
}

inline ClientOptions quick() {
  ClientOptions out;
  out.first_wait = Seconds(0.001);
  out.longest_wait = Seconds(0.01);
  out.total = Seconds(5);
  return out;
}

inline std::string event(const std::string& data, const std::string& name = "") {
  return (name.empty() ? "" : "event: " + name + "\n") + "data: " + data + "\n\n";
}

// A whole stream of chat completions that says `text`.
inline std::string chat(const std::string& text, const std::string& reason = "stop") {
  const Json delta = Json::object().set("delta", Json::object().set("content", text));
  return event(Json::object().set("model", "test-1-0").set("choices", Json::array().push(delta)).dump()) +
         event(R"({"choices":[{"delta":{},"finish_reason":")" + reason + R"("}]})") +
         event(R"({"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":50,)"
               R"("prompt_tokens_details":{"cached_tokens":400},)"
               R"("completion_tokens_details":{"reasoning_tokens":20}}})") +
         event("[DONE]");
}

// An openai client of this server.
inline Result<std::unique_ptr<Client>> client_of(const FaultyServer& server, ClientOptions options = quick(),
                                                 std::map<std::string, std::string> more = {}) {
  more.emplace("base_url", server.url("/v1/"));
  more.emplace("key_env", "SOLSTICE_TEST_KEY");
  more.emplace("idle_timeout", "1");
  return Client::open("openai", more, model_of("openai"), std::move(options));
}

class LlmTest : public ::testing::Test {
 protected:
  std::filesystem::path folder() const { return folder_.path(); }

 private:
  TempFolder folder_ = std::move(TempFolder::create("llm-test-")).value();
  Variable key_{"SOLSTICE_TEST_KEY", kKey};
};

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

}  // namespace solstice::llm::testing
