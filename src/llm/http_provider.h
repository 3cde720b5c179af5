// Shared parts of the providers that speak HTTP: options, keys, event streams, and which answers are worth another
// attempt.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "llm/provider.h"
#include "net/http.h"
#include "net/sse.h"

namespace solstice::llm {

// base_url, key_env, key_file, insecure, the time-outs and `stream`, with these defaults; and one of the provider's
// own, which is needed.
std::vector<Option> http_options(const std::string& base_url, const std::string& key_env, Option own);

struct HttpSettings {
  std::string base_url;  // without a slash at its end
  Secret key;            // empty where key_env is "" and no file is named
  net::Timeouts timeouts;
  bool stream = true;
  std::function<bool()> cancelled;
};
// Errors: bad_argument, also where base_url holds what is never sent, or would have the key sent unencrypted; bad_key.
Result<HttpSettings> http_settings(const Setup& setup);

// A provider that is made of its settings, the model and the value of its own option.
template <typename P>
Result<std::unique_ptr<Provider>> open_over_http(const Setup& setup, const std::string& own, std::string_view like) {
  SOLSTICE_TRY(HttpSettings settings, http_settings(setup));
  SOLSTICE_TRY(std::string value, setup.options.needed(own, like));
  return std::unique_ptr<Provider>(new P(std::move(settings), setup.model, std::move(value)));
}

// The common part of the specs.
ProviderSpec http_spec(std::string name, std::string about, std::vector<Option> options,
                       Result<std::unique_ptr<Provider>> (*open)(const Setup& setup));

// Parts of an answer: every event of a stream, or the body of an answer that is none. An error ends
// it.
class AnswerReader {
 public:
  virtual ~AnswerReader() = default;
  virtual std::optional<Failure> event(const net::Event& event) = 0;
  virtual std::optional<Failure> whole(const Json& body) = 0;
  // After the last: what it came to.
  virtual Attempt result() = 0;
  virtual Usage usage() const = 0;  // so far
};

// A failure that another attempt may mend.
Failure broken(std::string message);
// The conversation as both protocols have it: `{"role": ..., "content": ...}` of each message, behind what is there.
// `last`: the content of the last one, where it is more than its text.
void add_messages(const Request& request, Json& messages, const Json& last = {});

Attempt post(const HttpSettings& settings, const std::string& path, net::Headers headers, const Json& body,
             const Deadline& deadline, AnswerReader& reader);

// The member `error` of an answer says that it is one.
bool is_error(const Json& value);
// `{"type": ..., "message": ...}` as both protocols have it, or a text, which other servers send. `status` 0: it came
// in an answer of status 2xx.
Failure failure_of_error(const Json& error, int status);
// Seconds, or an HTTP date counted from now (RFC 9110, section 10.2.3).
std::optional<Seconds> retry_after(const std::string& header);

// For models that take no schema, or not this one: the system text, and the schema in words.
bool takes_schema(const Model& model, const Json& schema);
std::string system_text(const Request& request, const Model& model);

}  // namespace solstice::llm
