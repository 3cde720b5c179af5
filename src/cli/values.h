// Values of options that several commands take.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace solstice::cli {

struct BudgetText {
  Seconds time{60};
  int trials = 40;
};

// The parts that were given.
struct GivenBudget {
  std::optional<double> seconds, trials;
};

// "60s,40trials": either part may be left out; also "2m". At least 0.1 s and one trial. Error bad_argument, with the
// legal form.
Result<GivenBudget> parse_given_budget(const std::string& text);
BudgetText completed(const GivenBudget& given, BudgetText usual = {});  // with `usual` for what is left out
Result<BudgetText> parse_budget(const std::string& text);

std::vector<std::string> split(const std::string& text, char separator);  // empty parts are dropped
Result<double> parse_real(const std::string& what, const std::string& text, double low, double high);
Result<int> parse_int(const std::string& what, const std::string& text, int low, int high);

// "30d": a number of minutes (m), hours (h), days (d) or weeks (w). Error bad_argument, as of the next.
Result<Seconds> parse_age(const std::string& what, const std::string& text);
// "2GB", "500 MiB", "0".
Result<Bytes> parse_bytes(const std::string& what, const std::string& text);

// Stop rules of a search (docs/search.md): --eps, --window and --roi have one range in every command that takes them.
Result<double> parse_eps(const std::string& text);
Result<int> parse_window(const std::string& text);
Result<double> parse_roi(const std::string& text);

}  // namespace solstice::cli
