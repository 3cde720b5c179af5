#include "llm/ledger.h"

#include <fmt/format.h>

namespace solstice::llm {
namespace {

constexpr int64_t kTokensAMessage = 8;  // role and delimiters

// Estimate of the tokens of an attempt that nobody counted.
int64_t estimate_of(const Request& request, const Attempt& attempt) {
  const Usage& usage = usage_of(attempt);
  const Answer* answer = std::get_if<Answer>(&attempt);
  if (!answer && !std::get<Failure>(attempt).uncounted) return 0;
  const int64_t output = answer ? estimated_tokens(answer->text) : request.most_output;
  return (usage.input ? 0 : estimated_tokens(request)) + (usage.output ? 0 : output);
}

// Nobody says what all of it was, so that its cost is bounded by what was held back for it.
bool is_uncounted(const Attempt& attempt) {
  const Failure* failure = std::get_if<Failure>(&attempt);
  const Usage& usage = usage_of(attempt);
  return was_used(attempt) && ((failure && failure->uncounted) || !usage.input || !usage.output);
}

}  // namespace

int64_t estimated_tokens(std::string_view text) {
  return static_cast<int64_t>((text.size() + kBytesAToken - 1) / kBytesAToken);
}

void Tally::add(const Attempt& attempt, int64_t estimated) {
  const auto plus = [](std::optional<int64_t>& sum, const std::optional<int64_t>& part) {
    if (part) sum = sum.value_or(0) + *part;
  };
  const Usage& usage = usage_of(attempt);
  ++attempts_;
  estimated_ += estimated;
  plus(tokens_.input, usage.input);
  plus(tokens_.cached, usage.cached);
  plus(tokens_.written, usage.written);
  plus(tokens_.output, usage.output);
  plus(tokens_.reasoning, usage.reasoning);
  if (usage.cost) cost_ += *usage.cost;
  if (!usage.cost && was_used(attempt)) ++unpriced_;
}

Usage Tally::usage() const {
  Usage out = tokens_;
  if (unpriced_ == 0) out.cost = cost_;
  return out;
}

int64_t estimated_tokens(const Request& request) {
  int64_t tokens = kTokensAMessage + estimated_tokens(request.system);
  for (const Message& message : request.messages) tokens += kTokensAMessage + estimated_tokens(message.text);
  if (!request.schema.is_null()) tokens += estimated_tokens(request.schema.dump());
  return tokens;
}

std::string Ledger::unknown_cost(const Price& price, int64_t input, bool recorded) const {
  if (!recorded && !most_cost(price, input, 0)) {
    if (!price.input || !price.output)
      return "the model's prices are not known (models/README.md says how to add them)";
    return fmt::format("the model's prices are known for prompts of up to {} tokens, and this one has about {}",
                       *price.up_to_input, input);
  }
  const int count = tally_.unpriced() - bounded_;
  if (count <= 0) return "";
  return fmt::format(
      "the cost of {} attempt{} is not known: the provider did not report it, and some tokens have no price "
      "(`cached`, `written`, or a prompt beyond `up_to_input`)",
      count, count == 1 ? "" : "s");
}

Result<Ledger::Hold> Ledger::hold(const Request& request, const Price& price, bool recorded) {
  const int64_t input = estimated_tokens(request);
  const std::optional<Dollars> most = most_cost(price, input, request.most_output);
  const Hold wanted{input + request.most_output, most};
  const std::lock_guard lock(mutex_);
  if (budget_.tokens) {
    const int64_t left = *budget_.tokens - tokens() - held_.tokens;
    if (wanted.tokens > left) {
      return fail(Code::over_budget, fmt::format("the call may use {} tokens, and {} of the budget of {} are left",
                                                 wanted.tokens, left, *budget_.tokens));
    }
  }
  if (budget_.cost) {
    const std::string unknown = unknown_cost(price, input, recorded);
    if (!unknown.empty()) return fail(Code::over_budget, "a budget in money needs known prices: " + unknown);
    const double left = budget_.cost->value - tally_.cost().value - uncounted_.value - held_.cost->value;
    if (most ? most->value > left : left <= 0) {
      const std::string wants = most ? fmt::format("the call may cost {:.4f} USD, and ", most->value) : "";
      return fail(Code::over_budget,
                  fmt::format("{}{:.4f} of the budget of {:.4f} are left", wants, left, budget_.cost->value));
    }
  }
  held_.tokens += wanted.tokens;
  *held_.cost += most.value_or(Dollars());
  return wanted;
}

int64_t Ledger::tokens() const {
  return tally_.tokens().input.value_or(0) + tally_.tokens().output.value_or(0) + tally_.estimated();
}

int64_t Ledger::settle(const Hold& hold, const Request& request, const Attempt& attempt) {
  const Failure* failure = std::get_if<Failure>(&attempt);
  const int64_t estimated = estimate_of(request, attempt);
  const std::lock_guard lock(mutex_);
  held_.tokens -= hold.tokens;
  held_.cost = *held_.cost - hold.cost.value_or(Dollars());
  account_.failures += failure ? 1 : 0;
  if (is_uncounted(attempt) && !usage_of(attempt).cost && hold.cost) {
    uncounted_ += *hold.cost;
    ++bounded_;
  }
  tally_.add(attempt, estimated);
  return estimated;
}

void Ledger::recall(const Request& request, const Attempt& attempt, bool begins_a_call, const Price& price) {
  const Hold as_if{0, most_cost(price, estimated_tokens(request), request.most_output)};
  {
    const std::lock_guard lock(mutex_);
    *held_.cost += as_if.cost.value_or(Dollars());
    account_.calls += begins_a_call ? 1 : 0;
  }
  settle(as_if, request, attempt);
}

void Ledger::count_call() {
  const std::lock_guard lock(mutex_);
  ++account_.calls;
}

void Ledger::count_repair() {
  const std::lock_guard lock(mutex_);
  ++account_.repairs;
}

Account Ledger::account() const {
  const std::lock_guard lock(mutex_);
  const Usage& sum = tally_.tokens();
  Account out = account_;
  out.attempts = tally_.attempts();
  out.input = sum.input.value_or(0);
  out.cached = sum.cached.value_or(0);
  out.written = sum.written.value_or(0);
  out.output = sum.output.value_or(0);
  out.reasoning = sum.reasoning.value_or(0);
  out.estimated = tally_.estimated();
  out.cost = tally_.usage().cost;
  out.unpriced = tally_.unpriced();
  return out;
}

}  // namespace solstice::llm
