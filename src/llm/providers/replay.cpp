// Answers from a transcript, in place of the provider that gave them. Requests that are equal get their answers,
// failures included, in the order in which they were recorded; a request that was not recorded is an error. With
// match=order an attempt gets the next recorded one of its label, whatever it asks: so that a session outlives a prompt
// that was reworded.
//
// A session that was broken off and went on has asked twice what it was asking then, and went on from the second
// answer: the first call, whatever it came to, is passed over.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "llm/difference.h"
#include "llm/provider.h"
#include "llm/transcript.h"

namespace solstice::llm {
namespace {

class Replay : public Provider {
 public:
  Replay(std::vector<Exchange> exchanges, bool any)
      : exchanges_(std::move(exchanges)), used_(exchanges_.size(), false), any_(any) {
    for (const Exchange& exchange : exchanges_) requests_.push_back(to_json(exchange.request));
    pass_over_repeated();
  }

  Attempt ask(const Request& request, const Deadline&) override {
    const Json asked = to_json(request);
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < exchanges_.size(); ++i) {
      if (used_[i] || !(any_ ? exchanges_[i].request.label == request.label : requests_[i] == asked)) continue;
      used_[i] = true;
      return recorded(exchanges_[i]);
    }
    return failure_of(unrecorded(asked), false);
  }

 private:
  // Calls that a later session made again, and calls without an answer that were made again later: older transcripts
  // name no sessions.
  void pass_over_repeated() {
    std::map<std::string, int> last_session, last_call;
    std::map<int, bool> answered;
    std::vector<std::string> texts, matched;
    for (size_t i = 0; i < exchanges_.size(); ++i) {
      const Exchange& exchange = exchanges_[i];
      texts.push_back(requests_[i].dump());
      matched.push_back(any_ ? exchange.request.label : texts[i]);
      int &session = last_session[texts[i]], &call = last_call[matched[i]];
      session = std::max(session, exchange.session);
      call = std::max(call, exchange.call);
      answered[exchange.call] = exchange.answer.has_value();
    }
    for (size_t i = 0; i < exchanges_.size(); ++i) {
      const bool in_vain = !answered[exchanges_[i].call] && exchanges_[i].call < last_call[matched[i]];
      used_[i] = in_vain || exchanges_[i].session < last_session[texts[i]];
    }
  }

  static Attempt recorded(const Exchange& exchange) {
    if (exchange.answer) return *exchange.answer;
    Failure failure = *exchange.failure;
    failure.after = Seconds(0);  // nobody is spared by waiting
    return failure;
  }

  Error unrecorded(const Json& asked) const {
    for (size_t i = 0; i < exchanges_.size(); ++i) {
      if (used_[i]) continue;
      const std::string what = first_difference(requests_[i], asked);
      return fail(Code::replay_differs,
                  fmt::format("the request is not the one recorded as call {}: {}", exchanges_[i].call, what));
    }
    return fail(Code::replay_differs,
                fmt::format("all {} recorded attempts are used up, and another is asked for", exchanges_.size()));
  }

  std::mutex mutex_;
  std::vector<Exchange> exchanges_;
  std::vector<Json> requests_;
  std::vector<bool> used_;
  bool any_;  // request of its label
};

Result<std::unique_ptr<Provider>> open_replay(const Setup& setup) {
  SOLSTICE_TRY(const std::string file, setup.options.needed("transcript", "FILE"));
  const std::string& match = setup.options.get("match");
  if (match != "request" && match != "order")
    return fail(Code::bad_argument, fmt::format("option `match` is `{}`", match), "legal are request, order");
  SOLSTICE_TRY(std::vector<Exchange> exchanges, load_transcript(file));
  return std::unique_ptr<Provider>(new Replay(std::move(exchanges), match == "order"));
}

}  // namespace

extern const ProviderSpec solstice_providers_replay;
const ProviderSpec solstice_providers_replay = {
    .name = "replay",
    .about = "A recorded transcript: the same requests get the same answers, without network.",
    .recorded = true,
    .patience = Seconds(1800),
    .options = {{"transcript", "file that a client has recorded", ""},
                {"match",
                 "request: equal requests get their answers; order: the next of the same label, whatever is asked",
                 "request"}},
    .open = open_replay,
};

}  // namespace solstice::llm
