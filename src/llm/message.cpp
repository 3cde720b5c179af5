#include "llm/message.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace solstice::llm {
namespace {

// More than any one attempt can come to; and sums of these fit into 64 bits.
constexpr int64_t kMostTokens = 1'000'000'000'000;
constexpr double kMostDollars = 1e9;

// "" where it can be.
std::string problem_of(const Usage& usage) {
  const std::pair<const char*, std::optional<int64_t>> counts[] = {{"input", usage.input},
                                                                   {"cached", usage.cached},
                                                                   {"written", usage.written},
                                                                   {"output", usage.output},
                                                                   {"reasoning", usage.reasoning}};
  for (const auto& [name, count] : counts) {
    if (count && (*count < 0 || *count > kMostTokens))
      return fmt::format("its `usage.{}` is {}; legal are 0 to {} tokens", name, *count, kMostTokens);
  }
  const bool payable = !usage.cost || (usage.cost->value >= 0 && usage.cost->value <= kMostDollars);  // no NaN is
  return payable ? ""
                 : fmt::format("its `usage.cost` is {}; legal are 0 to {} US dollars", usage.cost->value, kMostDollars);
}

}  // namespace

std::vector<const char*> enum_names(Role) { return {"user", "assistant"}; }
std::vector<const char*> enum_names(Finish) { return {"complete", "truncated", "refused", "empty", "invalid"}; }

Failure failure_of(const Error& error, bool again) {
  Failure out;
  out.code = name_of(error.code);
  out.message = error.text();
  out.again = again;
  return out;
}

Error error_of(const Failure& failure) {
  for (const Code code : all_codes()) {
    if (name_of(code) == failure.code) return fail(code, failure.message);
  }
  return fail(Code::provider_failed, failure.message);
}

Usage& usage_of(Attempt& attempt) {
  if (Answer* answer = std::get_if<Answer>(&attempt)) return answer->usage;
  return std::get<Failure>(attempt).usage;
}

const Usage& usage_of(const Attempt& attempt) { return usage_of(const_cast<Attempt&>(attempt)); }

bool was_used(const Attempt& attempt) {
  const Failure* failure = std::get_if<Failure>(&attempt);
  return !failure || failure->uncounted || failure->usage.counted();
}

void refuse_impossible(Attempt& attempt) {
  const std::string problem = problem_of(usage_of(attempt));
  if (std::holds_alternative<Answer>(attempt)) {
    if (problem.empty()) return;
    Failure untaken;
    untaken.message = "the answer is not taken";
    attempt = std::move(untaken);
  }
  Failure& failure = std::get<Failure>(attempt);
  if (failure.after && !(failure.after->value >= 0 && std::isfinite(failure.after->value))) {
    failure.message += fmt::format("; it asks for a wait of {} s, which is ignored", failure.after->value);
    failure.after.reset();
  }
  if (problem.empty()) return;
  failure.message += "; " + problem;
  failure.usage = {};
  failure.uncounted = true;
}

}  // namespace solstice::llm
