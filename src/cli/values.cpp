#include "cli/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "machine/quantity.h"

namespace solstice::cli {
namespace {

constexpr double kShortest = 0.1;  // seconds: less than one candidate takes to be checked
constexpr double kLongest = 1e7;
constexpr double kMostTrials = 1e6;

Error bad_budget(const std::string& text, const std::string& why) {
  return fail(
      Code::bad_argument, fmt::format("budget `{}`: {}", text, why),
      fmt::format("legal are a time of at least {}s (60s, 5m, 2h), a whole number of trials (40trials), or both, "
                  "one of each (60s,40trials)",
                  kShortest));
}

// Seconds of a unit; 0: it is no unit of time.
double seconds_of(std::string_view unit) {
  for (const char* name : {"s", "sec", "second", "seconds"}) {
    if (unit == name) return 1;
  }
  for (const char* name : {"m", "min", "minute", "minutes"}) {
    if (unit == name) return 60;
  }
  for (const char* name : {"h", "hour", "hours"}) {
    if (unit == name) return 3600;
  }
  return 0;
}

// The number that `part` begins with; the unit is what is left of it. Nothing where there is none.
std::optional<double> leading_number(std::string& part) {
  double value = 0;
  const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  part.erase(0, static_cast<size_t>(rest - part.data()));
  return value;
}

// The reason that `part` is no part of a budget, "" where it is one.
std::string add_part(const std::string& part, GivenBudget& given) {
  if (part.empty()) return "a part is empty";
  std::string unit = part;
  unit.erase(0, unit.find_first_not_of(' '));
  const std::optional<double> value = leading_number(unit);
  unit.erase(0, unit.find_first_not_of(' '));
  const bool time = seconds_of(unit) > 0, trials = unit == "trials" || unit == "trial";
  if (value && unit.empty()) return fmt::format("`{0}` has no unit: {0}s, or {0}trials?", part);
  if (!value || (!time && !trials)) return fmt::format("`{}` is neither a time nor a number of trials", part);
  std::optional<double>& slot = time ? given.seconds : given.trials;
  if (slot) return time ? "it has two times" : "it has two numbers of trials";
  slot = time ? *value * seconds_of(unit) : *value;
  if (time && !(*slot >= kShortest && *slot <= kLongest))
    return fmt::format("`{}` is too {}", part, *slot < kShortest ? "short" : "long");
  if (trials && !(*slot >= 1 && *slot <= kMostTrials && *slot == std::floor(*slot)))
    return fmt::format("`{}` is no number of trials", part);
  return "";
}

}  // namespace

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<GivenBudget> parse_given_budget(const std::string& text) {
  GivenBudget given;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (const std::string why = add_part(text.substr(begin, end - begin), given); !why.empty())
      return bad_budget(text, why);
    begin = end + 1;
  }
  return given;
}

BudgetText completed(const GivenBudget& given, BudgetText usual) {
  if (given.seconds) usual.time = Seconds(*given.seconds);
  if (given.trials) usual.trials = static_cast<int>(*given.trials);
  return usual;
}

Result<BudgetText> parse_budget(const std::string& text) {
  SOLSTICE_TRY(const GivenBudget given, parse_given_budget(text));
  return completed(given);
}

Result<int> parse_int(const std::string& what, const std::string& text, int low, int high) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest == end && value >= low && value <= high) return value;
  return fail(Code::bad_argument, fmt::format("{} is `{}`", what, text),
              fmt::format("legal are whole numbers from {} to {}", low, high));
}

Result<double> parse_real(const std::string& what, const std::string& text, double low, double high) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= low && value <= high)) {
    return fail(Code::bad_argument, fmt::format("{} is `{}`", what, text),
                fmt::format("legal are numbers from {:g} to {:g}", low, high));
  }
  return value;
}

Result<Seconds> parse_age(const std::string& what, const std::string& text) {
  std::string unit = text;
  const std::optional<double> number = leading_number(unit);
  const std::map<std::string, double> seconds = {{"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 7 * 86400}};
  const auto found = seconds.find(unit);
  if (number && *number >= 0 && found != seconds.end()) return Seconds(*number * found->second);
  return fail(Code::bad_argument, fmt::format("{} is `{}`", what, text),
              "legal are a number of minutes, hours, days or weeks: 45m, 12h, 30d, 8w");
}

Result<Bytes> parse_bytes(const std::string& what, const std::string& text) {
  std::string unit = text;
  const std::optional<double> number = leading_number(unit);
  unit.erase(0, unit.find_first_not_of(' '));
  if (number && *number == 0 && unit.empty()) return Bytes(0);
  const auto bytes =
      machine::parse_quantity(fmt::format("{} {}", number.value_or(-1), unit), machine::Dimension::kBytes);
  if (number && *number >= 0 && bytes.ok()) return Bytes(*bytes);
  return fail(Code::bad_argument, fmt::format("{} is `{}`", what, text), "legal are sizes: 500MB, 2GB, 1.5GiB, 0");
}

Result<double> parse_eps(const std::string& text) { return parse_real("--eps", text, 0, 1000); }
Result<int> parse_window(const std::string& text) { return parse_int("--window", text, 0, 1000000); }
// A log-gain of 1 is 2.7 times as fast.
Result<double> parse_roi(const std::string& text) { return parse_real("--roi", text, 0, 1); }

}  // namespace solstice::cli
