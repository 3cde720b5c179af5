// Provider: where answers come from. One file of providers/ is one provider: it defines
//   extern const ProviderSpec solstice_providers_NAME;
// with its options as data, which `solstice list providers` prints.
//
// A provider makes one attempt. It does not retry, count or record: the Client does (llm/client.h). It never makes an
// answer up: what is not there is a Failure.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/process/interrupt.h"
#include "llm/message.h"
#include "llm/model.h"
#include "llm/secret.h"

namespace solstice::llm {

class Options {
 public:
  Options() = default;
  explicit Options(std::map<std::string, std::string> values) : values_(std::move(values)) {}
  const std::string& get(const std::string& name) const;  // "" where there is none
  // Errors bad_argument, naming option and value. `like`: what it takes, as "DIR".
  Result<std::string> needed(const std::string& name, std::string_view like) const;
  Result<Seconds> seconds(const std::string& name) const;  // more than 0
  Result<bool> flag(const std::string& name) const;        // "true" or "false"

 private:
  std::map<std::string, std::string> values_;
};

// News for whoever waits, in a line.
using News = std::function<void(const std::string&)>;

struct Setup {
  Options options;  // every one of the spec, defaults filled in
  Model model;
  std::function<bool()> cancelled = &interrupted;  // asked at least ten times a second
  News news = [](const std::string&) {};           // told by whichever thread asks
};

class Provider {
 public:
  virtual ~Provider() = default;
  // From any thread, several at a time. Ends by the deadline, and soon after it is cancelled (a Failure `interrupted`).
  virtual Attempt ask(const Request& request, const Deadline& deadline) = 0;
  const Scrubber& scrubber() const { return scrubber_; }

 protected:
  Scrubber scrubber_;  // holds the keys it uses
};

struct Option {
  std::string name;
  std::string help;
  std::string otherwise;  // value where none is given
};

struct ProviderSpec {
  std::string name;
  std::string about;
  bool network = false;      // refused where the network is switched off
  bool needs_model = false;  // else a model is optional: it brings prices
  bool recorded = false;     // its answers were paid for before: what they cost is what they say
  Seconds patience;          // default time limit of a call with all its attempts
  std::vector<Option> options;
  Result<std::unique_ptr<Provider>> (*open)(const Setup& setup) = nullptr;
};

const std::vector<const ProviderSpec*>& all_providers();  // generated table
Result<const ProviderSpec*> find_provider(std::string_view name);

// Fills in defaults. Errors: bad_argument (no such option; the closest is named; no model, or a model of another
// provider), and those of the provider.
Result<std::unique_ptr<Provider>> open_provider(
    const ProviderSpec& spec, std::map<std::string, std::string> given, Model model,
    std::function<bool()> cancelled = &interrupted, News news = [](const std::string&) {});

}  // namespace solstice::llm
