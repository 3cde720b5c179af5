// The comma-separated text that ncu prints, and its numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace solstice::diagnose {

struct CsvTable {
  std::vector<std::vector<std::string>> rows;
  size_t damaged = 0;  // lines left out: a quote that does not end
};

// One row a line; messages of ncu ("==PROF== ...") and empty lines are left out.
CsvTable read_csv(std::string_view text);

// "75,433", "1.5e+06", "12". Nothing for what is no finite number ("n/a", "", "nan", "1,23").
std::optional<double> read_number(std::string_view text);

// By what a value in `unit` is multiplied to be in base units: seconds, bytes, cycles, shares of 1 for per cent. ncu's
// prefixes are decimal. Words without a prefix (inst, sector/request, "") are base units themselves.
double unit_scale(std::string_view unit);

}  // namespace solstice::diagnose
