#include "llm/http_provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "llm/schema.h"
#include "net/url.h"

namespace solstice::llm {
namespace {

// Too many requests; overloaded, in both providers' words; gateways; a server that gave up waiting.
constexpr std::array kAgain = {408, 409, 429, 500, 502, 503, 504, 529};

bool is_again(int status) { return std::find(kAgain.begin(), kAgain.end(), status) != kAgain.end(); }

// Errors that come inside a stream have a type where others have a status.
int status_of_type(const std::string& type) {
  if (type == "overloaded_error") return 529;
  if (type == "rate_limit_error" || type == "rate_limit_exceeded") return 429;
  if (type == "api_error" || type == "server_error" || type == "timeout_error") return 500;
  return 400;
}

Failure failed(std::string message, bool again) {
  Failure out;
  out.message = std::move(message);
  out.again = again;
  return out;
}

// Failure of a connection, and if a retry may succeed.
Failure failure_of_network(const Error& error) {
  return failure_of(error, error.code == Code::network_error || error.code == Code::deadline);
}

constexpr size_t kShown = 300;  // bytes of an answer that is none
constexpr size_t kLooked =
    kShown + 6 * 4096;  // that are looked through for keys: 4096 characters at most, which JSON may write as \u0041

// The beginning of what a server said. Half a key would not be found any more.
std::string beginning_of(const std::string& text, const Scrubber& keys) {
  return keys.scrub(text.substr(0, kLooked)).substr(0, kShown);
}

Failure failure_of_response(const net::HttpResponse& response, const Scrubber& keys) {
  const Result<Json> body = parse_json(response.body);
  Failure out;
  if (body.ok() && is_error(body->at("error"))) {
    out = failure_of_error(body->at("error"), response.status);
  } else {
    out = failure_of_error(Json::object().set("message", beginning_of(response.body, keys)), response.status);
  }
  out.after = retry_after(response.header("retry-after"));
  return out;
}

// Gives what arrives to the reader, event by event.
class Feed {
 public:
  Feed(AnswerReader& reader, bool stream, const Scrubber& keys) : reader_(reader), stream_(stream), keys_(keys) {}

  Status take(std::string_view bytes) {
    if (!stream_) return text_ += bytes, success();
    if (events_ == 0 && text_.size() < kLooked) text_ += bytes;
    for (const net::Event& event : reading_.feed(bytes)) {
      ++events_;
      failure = reader_.event(event);
      if (failure) return error_of(*failure);
    }
    return success();
  }

  Attempt end() {
    if (stream_ && events_ == 0)
      return failed("its answer is not an event stream: " + beginning_of(text_, keys_), false);
    if (stream_) return reader_.result();
    const Result<Json> body = parse_json(text_);
    if (!body.ok()) return broken("its answer is " + body.error().message);
    if (auto wrong = reader_.whole(*body)) return *wrong;
    return reader_.result();
  }

  std::optional<Failure> failure;

 private:
  AnswerReader& reader_;
  bool stream_;
  const Scrubber& keys_;
  net::EventReader reading_;
  int events_ = 0;
  std::string text_;
};

// Parts that a URL may hold and no request of ours would send.
Status check_base_url(const std::string& text) {
  SOLSTICE_TRY(const net::Url url, net::parse_url(text));
  if (!url.user.empty()) {
    return fail(Code::bad_argument, "base_url has a name or password before its `@`, which would not be sent",
                "give a key by `key_env` or `key_file`");
  }
  if (text.find_first_of("?#") != text.npos) {
    return fail(Code::bad_argument,
                "base_url has a query or a fragment (`?`, `#`), behind which the path of each request would lie",
                "it takes http[s]://HOST[:PORT][/PATH]");
  }
  return success();
}

// Whoever is on the way reads what is not encrypted.
Status check_encrypted(const HttpSettings& settings, bool insecure) {
  SOLSTICE_TRY(const net::Url url, net::parse_url(settings.base_url));
  if (settings.key.empty() || insecure || url.tls() || net::is_loopback(url.host)) return success();
  return fail(Code::bad_argument, fmt::format("the key would go unencrypted to `http://{}`", url.authority()),
              "give a base_url of https://, send no key (`--option key_env=`), or allow it with "
              "`--option insecure=true`");
}

}  // namespace

Failure broken(std::string message) { return failed(std::move(message), true); }

ProviderSpec http_spec(std::string name, std::string about, std::vector<Option> options,
                       Result<std::unique_ptr<Provider>> (*open)(const Setup& setup)) {
  ProviderSpec out;
  out.name = std::move(name);
  out.about = std::move(about);
  out.network = out.needs_model = true;
  out.patience = Seconds(1800);
  out.options = std::move(options);
  out.open = open;
  return out;
}

std::vector<Option> http_options(const std::string& base_url, const std::string& key_env, Option own) {
  return {{"base_url", "where the API is", base_url},
          {"key_env", "environment variable that holds the key; empty: no key is sent", key_env},
          {"key_file", "file that holds the key instead, mode 0600", ""},
          {"insecure", "send the key by http:// to other machines too, unencrypted: true or false", "false"},
          {"stream", "read the answer as it is generated: true or false", "true"},
          {"connect_timeout", "seconds for each of name, connection, proxy and TLS", "15"},
          {"idle_timeout", "seconds until an answer begins, and between two pieces of it", "300"},
          {"timeout", "seconds for one attempt", "900"},
          std::move(own)};
}

Result<HttpSettings> http_settings(const Setup& setup) {
  const Options& options = setup.options;
  HttpSettings out;
  out.base_url = options.get("base_url");
  while (out.base_url.ends_with('/')) out.base_url.pop_back();
  SOLSTICE_CHECK(check_base_url(out.base_url));
  if (!options.get("key_file").empty()) {
    SOLSTICE_TRY(out.key, secret_from_file(options.get("key_file")));
  } else if (!options.get("key_env").empty()) {
    SOLSTICE_TRY(out.key, secret_from_environment(options.get("key_env")));
  }
  SOLSTICE_TRY(const bool insecure, options.flag("insecure"));
  SOLSTICE_CHECK(check_encrypted(out, insecure));
  SOLSTICE_TRY(out.stream, options.flag("stream"));
  SOLSTICE_TRY(out.timeouts.connect, options.seconds("connect_timeout"));
  SOLSTICE_TRY(out.timeouts.idle, options.seconds("idle_timeout"));
  SOLSTICE_TRY(out.timeouts.total, options.seconds("timeout"));
  out.cancelled = setup.cancelled;
  return out;
}

void add_messages(const Request& request, Json& messages, const Json& last) {
  for (const Message& message : request.messages) {
    const bool is_last = &message == &request.messages.back() && !last.is_null();
    Json content = is_last ? last : Json(message.text);
    messages.push(Json::object()
                      .set("role", message.role == Role::kUser ? "user" : "assistant")
                      .set("content", std::move(content)));
  }
}

Attempt post(const HttpSettings& settings, const std::string& path, net::Headers headers, const Json& body,
             const Deadline& deadline, AnswerReader& reader) {
  net::HttpRequest request;
  request.url = settings.base_url + path;
  request.headers = std::move(headers);
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = body.dump();
  request.timeouts = settings.timeouts;
  request.timeouts.total = std::min(settings.timeouts.total, deadline.left());
  request.cancelled = settings.cancelled;
  bool sent = false;
  request.sent = [&sent] { sent = true; };
  Scrubber keys;
  keys.add(settings.key);
  Feed feed(reader, settings.stream, keys);
  const Result<net::HttpResponse> response =
      net::send_http(request, [&](std::string_view bytes) { return feed.take(bytes); });
  Attempt out;
  if (!response.ok()) {
    out = feed.failure ? *feed.failure : failure_of_network(response.error());
  } else if (response->status / 100 != 2) {
    out = failure_of_response(*response, keys);
    sent = false;  // it was refused, which costs nothing
  } else {
    out = feed.end();
  }
  if (Failure* failure = std::get_if<Failure>(&out)) {
    failure->usage = reader.usage();
    failure->uncounted = sent && !(failure->usage.input && failure->usage.output);
  }
  return out;
}

bool is_error(const Json& value) { return value.is_object() || (value.is_string() && !value.as_string().empty()); }

Failure failure_of_error(const Json& error, int status) {
  if (error.is_string() && status == 0)
    return broken("answered with an error: " + error.as_string());  // nobody says that it is for good
  if (error.is_string()) return failure_of_error(Json::object().set("message", error), status);
  const std::string& type = error.at("type").as_string();
  const std::string& code = error.at("code").as_string();
  if (status == 0) status = status_of_type(type.empty() ? code : type);
  Failure out;
  // No more quota is told by 429 as well, and no wait mends it.
  out.again = is_again(status) && code != "insufficient_quota" && type != "insufficient_quota";
  out.code = name_of(out.again ? Code::provider_failed : Code::provider_refused);
  out.message =
      fmt::format("answered {}{}: {}", status, type.empty() ? "" : " " + type, error.at("message").as_string());
  return out;
}

std::optional<Seconds> retry_after(const std::string& header) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  if (error == std::errc() && end == header.data() + header.size())
    return seconds >= 0 ? std::optional(Seconds(seconds)) : std::nullopt;
  tm parts{};
  const char* rest = ::strptime(header.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (!rest || *rest) return std::nullopt;
  return Seconds(std::max(0.0, std::difftime(::timegm(&parts), std::time(nullptr))));
}

bool takes_schema(const Model& model, const Json& schema) { return model.json_schema && is_strict(schema); }

std::string system_text(const Request& request, const Model& model) {
  if (request.schema.is_null() || takes_schema(model, request.schema)) return request.system;
  const std::string words =
      "Answer with one JSON value and nothing else. It must follow this JSON Schema:\n" + request.schema.dump();
  return request.system.empty() ? words : request.system + "\n\n" + words;
}

}  // namespace solstice::llm
