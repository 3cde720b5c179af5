// Prices of tokens.
#include <algorithm>

#include "llm/model.h"

namespace solstice::llm {
namespace {

constexpr double kMillion = 1e6;

// Adds so many tokens at a price; none at an unknown price cost nothing.
bool add(std::optional<Dollars> price, int64_t tokens, Dollars& sum) {
  if (tokens == 0) return true;
  if (price) sum += *price * (static_cast<double>(tokens) / kMillion);
  return price.has_value();
}

bool is_priced(const Price& price, int64_t input) { return !price.up_to_input || input <= *price.up_to_input; }

}  // namespace

std::optional<Dollars> cost_of(const Price& price, const Usage& usage) {
  if (!usage.input || !usage.output || !is_priced(price, *usage.input)) return std::nullopt;
  const int64_t cached = usage.cached.value_or(0), written = usage.written.value_or(0);
  Dollars sum;
  const bool known = add(price.input, std::max<int64_t>(*usage.input - cached - written, 0), sum) &&
                     add(price.cached, cached, sum) && add(price.written, written, sum) &&
                     add(price.output, *usage.output, sum);
  return known ? std::optional(sum) : std::nullopt;
}

std::optional<Dollars> most_cost(const Price& price, int64_t input, int64_t output) {
  if (!price.input || !price.output || !is_priced(price, input)) return std::nullopt;
  Dollars sum;
  add(std::max(*price.input, price.written.value_or(Dollars())), input, sum);
  add(price.output, output, sum);
  return sum;
}

}  // namespace solstice::llm
