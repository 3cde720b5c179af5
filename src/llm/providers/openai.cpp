// Chat completions, as OpenAI defined them and many servers speak them (vLLM, llama.cpp, Ollama, gateways):
// https://platform.openai.com/docs/api-reference/chat
#include <fmt/format.h>

#include "llm/http_provider.h"

namespace solstice::llm {
namespace {

std::optional<int64_t> count(const Json& value) {
  return value.is_int() ? std::optional(value.as_int()) : std::nullopt;
}

class ChatReader : public AnswerReader {
 public:
  std::optional<Failure> event(const net::Event& event) override {
    if (event.data == "[DONE]") {
      done_ = true;
      return std::nullopt;
    }
    const Result<Json> json = parse_json(event.data);
    if (!json.ok()) return broken("a piece of its answer is " + json.error().message);
    return take(*json, "delta");
  }

  std::optional<Failure> whole(const Json& body) override {
    done_ = counted_ = true;
    return take(body, "message");
  }

  Attempt result() override {
    if (reason_.empty())
      return broken(done_ ? "its answer has no finish_reason" : "the stream broke off before the answer was complete");
    if (reason_ == "length") answer_.finish = Finish::kTruncated;
    if (reason_ == "content_filter" || !refusal_.empty()) answer_.finish = Finish::kRefused;
    if (answer_.text.empty()) answer_.text = refusal_;
    answer_.usage = usage();
    return answer_;
  }

  // A server's figure for the output before its end is no count of it.
  Usage usage() const override {
    Usage out = answer_.usage;
    if (!counted_) out.output = out.reasoning = std::nullopt;
    return out;
  }

 private:
  std::optional<Failure> take(const Json& json, const char* part) {
    if (is_error(json.at("error"))) return failure_of_error(json.at("error"), 0);
    if (json.at("model").is_string()) answer_.model = json.at("model").as_string();
    const Json& choice = json.at("choices").at(size_t{0});
    answer_.text += choice.at(part).at("content").as_string();
    refusal_ += choice.at(part).at("refusal").as_string();
    if (choice.at("finish_reason").is_string()) reason_ = choice.at("finish_reason").as_string();
    if (json.at("usage").is_object()) take_usage(json.at("usage"));
    return std::nullopt;
  }

  void take_usage(const Json& usage) {
    counted_ = counted_ || !reason_.empty();
    answer_.usage.input = count(usage.at("prompt_tokens"));
    answer_.usage.cached = count(usage.at("prompt_tokens_details").at("cached_tokens"));
    answer_.usage.output = count(usage.at("completion_tokens"));
    answer_.usage.reasoning = count(usage.at("completion_tokens_details").at("reasoning_tokens"));
  }

  Answer answer_;
  std::string refusal_, reason_;
  bool done_ = false;
  bool counted_ = false;  // usage has come with the end, or after it
};

class OpenAi : public Provider {
 public:
  OpenAi(HttpSettings settings, Model model, std::string limit_field)
      : settings_(std::move(settings)), model_(std::move(model)), limit_field_(std::move(limit_field)) {
    scrubber_.add(settings_.key);
  }

  Attempt ask(const Request& request, const Deadline& deadline) override {
    net::Headers headers;
    if (!settings_.key.empty()) headers.emplace_back("Authorization", "Bearer " + settings_.key.reveal());
    ChatReader reader;
    return post(settings_, "/chat/completions", std::move(headers), body_of(request), deadline, reader);
  }

 private:
  Json body_of(const Request& request) const {
    Json messages = Json::array();
    const std::string system = system_text(request, model_);
    if (!system.empty()) messages.push(Json::object().set("role", "system").set("content", system));
    add_messages(request, messages);
    Json body = Json::object().set("model", model_.id).set("messages", messages).set(limit_field_, request.most_output);
    if (request.temperature && model_.temperature) body.set("temperature", *request.temperature);
    if (!request.schema.is_null() && takes_schema(model_, request.schema)) {
      const Json schema = Json::object().set("name", "answer").set("strict", true).set("schema", request.schema);
      body.set("response_format", Json::object().set("type", "json_schema").set("json_schema", schema));
    }
    if (settings_.stream) body.set("stream", true).set("stream_options", Json::object().set("include_usage", true));
    return body;
  }

  HttpSettings settings_;
  Model model_;
  std::string limit_field_;
};

Result<std::unique_ptr<Provider>> open_openai(const Setup& setup) {
  return open_over_http<OpenAi>(setup, "limit_field", "NAME");
}

}  // namespace

extern const ProviderSpec solstice_providers_openai;
const ProviderSpec solstice_providers_openai =
    http_spec("openai", "Any server of the chat completions API: OpenAI's, a gateway, or one of your own (base_url).",
              http_options("https://api.openai.com/v1", "OPENAI_API_KEY",
                           {"limit_field", "how the server calls the most output tokens; older ones say max_tokens",
                            "max_completion_tokens"}),
              open_openai);

}  // namespace solstice::llm
