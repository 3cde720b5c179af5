// Anthropic's messages API: https://platform.claude.com/docs/en/api/messages
#include <fmt/format.h>

#include "base/integer.h"
#include "llm/http_provider.h"

namespace solstice::llm {
namespace {

void take(const Json& value, std::optional<int64_t>& out) {
  if (value.is_int()) out = value.as_int();
}

class MessageReader : public AnswerReader {
 public:
  std::optional<Failure> event(const net::Event& event) override {
    const Result<Json> json = parse_json(event.data);
    if (!json.ok()) return broken("a piece of its answer is " + json.error().message);
    const std::string& type = json->at("type").as_string();
    if (type == "error") return failure_of_error(json->at("error"), 0);
    if (type == "message_start") take_message(json->at("message"), false);
    if (type == "content_block_delta") take_text(json->at("delta"), "text_delta");
    if (type == "message_delta") {
      take_reason(json->at("delta"));
      take_usage(json->at("usage"), true);
    }
    if (type == "message_stop") stopped_ = true;
    return std::nullopt;
  }

  std::optional<Failure> whole(const Json& body) override {
    if (is_error(body.at("error"))) return failure_of_error(body.at("error"), 0);
    take_message(body, true);
    for (const Json& block : body.at("content").items()) take_text(block, "text");
    take_reason(body);
    stopped_ = true;
    return std::nullopt;
  }

  Attempt result() override {
    if (!stopped_ || reason_.empty()) return broken("the stream broke off before the answer was complete");
    if (reason_ == "max_tokens" || reason_ == "model_context_window_exceeded") answer_.finish = Finish::kTruncated;
    if (reason_ == "refusal") answer_.finish = Finish::kRefused;
    return answer_;
  }

  // This API leaves what went through the cache out of its input tokens.
  Usage usage() const override {
    Usage out = answer_.usage;
    if (!fresh_) return out;
    // A sum that overflows says so to whoever looks whether counts can be.
    int64_t cached = 0, input = 0;
    const bool fits =
        add_scaled(out.cached.value_or(0), 1, out.written.value_or(0), cached) && add_scaled(*fresh_, 1, cached, input);
    out.input = fits ? input : -1;
    return out;
  }

 private:
  void take_message(const Json& message, bool whole) {
    answer_.model = message.at("model").as_string();
    take_usage(message.at("usage"), whole);
  }

  void take_text(const Json& part, const char* type) {
    if (part.at("type").as_string() == type) answer_.text += part.at("text").as_string();
  }

  void take_reason(const Json& part) {
    if (part.at("stop_reason").is_string()) reason_ = part.at("stop_reason").as_string();
  }

  // Later counts are the whole ones. What a stream says of its output as it begins is none of it, and where it breaks
  // off then nobody knows.
  void take_usage(const Json& usage, bool whole) {
    take(usage.at("input_tokens"), fresh_);
    take(usage.at("cache_read_input_tokens"), answer_.usage.cached);
    take(usage.at("cache_creation_input_tokens"), answer_.usage.written);
    if (whole) take(usage.at("output_tokens"), answer_.usage.output);
    answer_.usage = this->usage();
  }

  Answer answer_;
  std::optional<int64_t> fresh_;
  std::string reason_;
  bool stopped_ = false;
};

class Anthropic : public Provider {
 public:
  Anthropic(HttpSettings settings, Model model, std::string version)
      : settings_(std::move(settings)), model_(std::move(model)), version_(std::move(version)) {
    scrubber_.add(settings_.key);
  }

  Attempt ask(const Request& request, const Deadline& deadline) override {
    net::Headers headers = {{"anthropic-version", version_}};
    if (!settings_.key.empty()) headers.emplace_back("x-api-key", settings_.key.reveal());
    MessageReader reader;
    return post(settings_, "/v1/messages", std::move(headers), body_of(request), deadline, reader);
  }

 private:
  // A text up to which the prompt is cached: https://platform.claude.com/docs/en/build-with-claude/prompt-caching. The
  // next turn of the conversation reads all of this one from there. Not where that would make the cost of an answer
  // unknown.
  Json content(const std::string& text) const {
    const Price& price = model_.price;
    const bool known = !price.input || (price.cached && price.written);
    if (text.empty() || !known) return Json(text);
    return Json::array().push(Json::object()
                                  .set("type", "text")
                                  .set("text", text)
                                  .set("cache_control", Json::object().set("type", "ephemeral")));
  }

  Json body_of(const Request& request) const {
    Json messages = Json::array();
    add_messages(request, messages, content(request.messages.back().text));
    Json body = Json::object().set("model", model_.id).set("max_tokens", request.most_output).set("messages", messages);
    const std::string system = system_text(request, model_);
    if (!system.empty()) body.set("system", content(system));
    if (request.temperature && model_.temperature) body.set("temperature", *request.temperature);
    if (!request.schema.is_null() && takes_schema(model_, request.schema)) {
      body.set("output_config",
               Json::object().set("format", Json::object().set("type", "json_schema").set("schema", request.schema)));
    }
    if (settings_.stream) body.set("stream", true);
    return body;
  }

  HttpSettings settings_;
  Model model_;
  std::string version_;
};

Result<std::unique_ptr<Provider>> open_anthropic(const Setup& setup) {
  return open_over_http<Anthropic>(setup, "version", "VERSION");
}

}  // namespace

extern const ProviderSpec solstice_providers_anthropic;
const ProviderSpec solstice_providers_anthropic =
    http_spec("anthropic", "Anthropic's messages API.",
              http_options("https://api.anthropic.com", "ANTHROPIC_API_KEY", {"version", "of the API", "2023-06-01"}),
              open_anthropic);

}  // namespace solstice::llm
