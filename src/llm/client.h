// Client: calls on top of one provider. It retries what may succeed, holds calls to the budget, accounts for every
// attempt, records it, and turns answers into JSON where that was asked for, with one repair.
//
//   SOLSTICE_TRY(auto client, Client::open("openai", {}, model, options));
//   SOLSTICE_TRY(const Reply reply, client->ask(request));
//
// A refusal, an empty, a cut off and an unusable answer are replies (Reply::finish). Errors name the provider:
//   bad_argument (request or schema), network_off, over_budget, deadline, interrupted, bad_key, and what the last
//   attempt ended with: provider_failed, provider_refused, network_error, tls_error, bad_response, replay_differs,
//   process_failed.
// Safe to use from several threads.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "llm/ledger.h"
#include "llm/provider.h"
#include "llm/transcript.h"

namespace solstice::llm {

struct ClientOptions {
  bool network = true;    // false: a provider that needs it is not opened
  int retries = 5;        // attempts after the first
  Seconds first_wait{1};  // before the second attempt; doubles, less up to a half at random
  Seconds longest_wait{60};
  Seconds total{0};   // of a call, waits included; 0: the provider's patience
  uint64_t seed = 0;  // of what is random in the waits
  Budget budget;
  Transcript* transcript = nullptr;  // outlives the client
  std::function<bool()> cancelled = &interrupted;
  News news = [](const std::string&) {};  // as "waiting for box/replies/0001.md, .."
};

class Client {
 public:
  static Result<std::unique_ptr<Client>> open(std::string_view provider, std::map<std::string, std::string> options,
                                              Model model, ClientOptions client);

  // Ends by `end`, and by the client's own patience.
  Result<Reply> ask(const Request& request, const Deadline& end = Deadline(kNoEnd));
  // From here on, in place of ClientOptions::transcript. No call may be under way.
  void record_in(Transcript& transcript) { options_.transcript = &transcript; }
  // Called after each attempt, by whoever asks, when the account has it; an error is one of the call.
  void after_each(std::function<Status()> spent) { spent_ = std::move(spent); }
  // An exchange that another process was killed before it could account for.
  void recall(const Exchange& exchange);
  Seconds patience() const { return options_.total; }  // of a call
  // Without the keys of the provider.
  std::string scrub(std::string text) const { return provider_->scrubber().scrub(std::move(text)); }
  Account account() const { return ledger_.account(); }
  const Model& model() const { return model_; }

 private:
  static constexpr Seconds kNoEnd{1e9};
  Client(const ProviderSpec& spec, std::unique_ptr<Provider> provider, Model model, ClientOptions options);

  Status check(const Request& request) const;
  Result<Answer> call(const Request& request, const Deadline& deadline, Tally& tally);
  Result<Attempt> attempt(const Request& request, const Deadline& deadline, int call, int number, Tally& tally);
  void finish(Attempt& attempt) const;
  Status wait(Seconds time, const Deadline& deadline) const;

  const ProviderSpec& spec_;
  std::unique_ptr<Provider> provider_;
  Model model_;
  ClientOptions options_;
  Ledger ledger_;
  std::function<Status()> spent_ = [] { return success(); };
  std::atomic<int> calls_ = 0;
};

}  // namespace solstice::llm
