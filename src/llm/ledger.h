// Ledger: what calls have used, to the token, and the budget that they are held to. From any thread.
//
// Before an attempt is made, the most it can use is held back; what would go beyond the budget is refused. Afterwards
// what the provider reports takes its place; where nobody says what an attempt used, which was answered or failed after
// it was sent, its cost is counted as the most that was held back, and its tokens are estimated: those of an answer
// from its text, those of a failure as what was held back. Prompts are estimated at a token for every three bytes,
// which code and English stay below; answers at the most that was asked for.
#pragma once

#include <mutex>
#include <optional>
#include <string_view>

#include "llm/message.h"
#include "llm/model.h"

namespace solstice::llm {

struct Budget {
  std::optional<int64_t> tokens;  // input and output
  std::optional<Dollars> cost;
};

// The sums so far. Tokens are those that providers report, of failed attempts too.
struct Account {
  int64_t calls = 0, attempts = 0, failures = 0, repairs = 0;
  int64_t input = 0, cached = 0, written = 0, output = 0, reasoning = 0;
  int64_t estimated = 0;        // tokens of attempts whose provider reports none; they count in the budget
  std::optional<Dollars> cost;  // none where that of an attempt is unknown
  int64_t unpriced = 0;         // such attempts
  int64_t tokens() const { return input + output + estimated; }
  static auto fields() {
    return std::make_tuple(
        field("calls", &Account::calls, "made"), field("attempts", &Account::attempts, "of all calls"),
        field("failures", &Account::failures, "attempts that brought no answer"),
        field("repairs", &Account::repairs, "of JSON answers"), field("input", &Account::input, "tokens reported"),
        field("cached", &Account::cached, "of these, from a cache"),
        field("written", &Account::written, "of these, into a cache"),
        field("output", &Account::output, "tokens reported"),
        field("reasoning", &Account::reasoning, "of these, not shown"),
        field("estimated", &Account::estimated, "tokens of attempts whose provider reports none"),
        field("cost", &Account::cost, "US dollars; null where that of an attempt is unknown"),
        field("unpriced", &Account::unpriced, "attempts that used tokens at an unknown cost"));
  }
};

// Sums over attempts.
class Tally {
 public:
  void add(const Attempt& attempt, int64_t estimated);
  const Usage& tokens() const { return tokens_; }
  int64_t estimated() const { return estimated_; }  // beyond these
  Dollars cost() const { return cost_; }            // as far as it is known
  int unpriced() const { return unpriced_; }
  int attempts() const { return attempts_; }
  Usage usage() const;  // its cost is unknown where a part of it is

 private:
  Usage tokens_;
  int64_t estimated_ = 0;
  Dollars cost_;
  int unpriced_ = 0;
  int attempts_ = 0;
};

inline constexpr size_t kBytesAToken = 3;
int64_t estimated_tokens(std::string_view text);
int64_t estimated_tokens(const Request& request);  // of the prompt

class Ledger {
 public:
  explicit Ledger(Budget budget = {}) : budget_(budget) {}

  struct Hold {
    int64_t tokens = 0;
    std::optional<Dollars> cost;  // none where prices are unknown
  };
  // Error over_budget, with what is left; also where a cost limit meets an unknown price. `recorded`: what it costs
  // will be known without prices.
  Result<Hold> hold(const Request& request, const Price& price, bool recorded = false);
  // The attempt is over. `usage.cost` is known or not by now. Returns the tokens of it that had to be estimated.
  int64_t settle(const Hold& hold, const Request& request, const Attempt& attempt);
  // One that another process made, which was killed before it could account for it.
  void recall(const Request& request, const Attempt& attempt, bool begins_a_call, const Price& price);
  void count_call();
  void count_repair();
  Account account() const;

 private:
  int64_t tokens() const;
  // The reason that the cost of a call, possible or paid, is not known; "" where it is.
  std::string unknown_cost(const Price& price, int64_t input, bool recorded) const;

  Budget budget_;
  mutable std::mutex mutex_;
  Account account_;  // but for what tally_ holds
  Tally tally_;
  Hold held_{0, Dollars()};
  Dollars uncounted_;  // the most that the attempts cost whose cost is unknown but bounded
  int bounded_ = 0;    // such attempts
};

}  // namespace solstice::llm
