#include "machine/quantity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

namespace solstice::machine {
namespace {

struct Prefix {
  std::string_view text;
  double factor;
  bool binary;
};

constexpr std::array<Prefix, 13> kPrefixes = {{{"Ti", 1099511627776.0, true},
                                               {"Gi", 1073741824.0, true},
                                               {"Mi", 1048576.0, true},
                                               {"Ki", 1024.0, true},
                                               {"P", 1e15, false},
                                               {"T", 1e12, false},
                                               {"G", 1e9, false},
                                               {"M", 1e6, false},
                                               {"k", 1e3, false},
                                               {"", 1, false},
                                               {"m", 1e-3, false},
                                               {"u", 1e-6, false},
                                               {"n", 1e-9, false}}};

struct UnitRow {
  std::vector<std::string_view> names;  // the first is the one that is printed
  std::string_view example;
};

const UnitRow& unit_of(Dimension dimension) {
  static const std::array<UnitRow, 6> rows = {{{{"B"}, "60 MiB"},
                                               {{"B/s"}, "4.8 TB/s"},
                                               {{"FLOP/s", "op/s"}, "989.5 TFLOP/s"},
                                               {{"s"}, "6.6 us"},
                                               {{"Hz"}, "1980 MHz"},
                                               {{"W"}, "700 W"}}};
  return rows[static_cast<size_t>(dimension)];
}

std::optional<double> factor_of(std::string_view unit, Dimension dimension) {
  for (std::string_view name : unit_of(dimension).names) {
    for (const Prefix& prefix : kPrefixes) {
      if (prefix.binary && dimension != Dimension::kBytes) continue;
      if (unit == fmt::format("{}{}", prefix.text, name)) return prefix.factor;
    }
  }
  return std::nullopt;
}

Error bad(std::string_view text, Dimension dimension) {
  return fail(Code::bad_machine, fmt::format("`{}` is not a quantity in {}", text, unit_of(dimension).names.front()),
              how_to_write(dimension));
}

std::string print(double value, const Prefix& prefix, Dimension dimension) {
  return fmt::format("{} {}{}", value / prefix.factor, prefix.text, unit_of(dimension).names.front());
}

bool reads_back(const std::string& text, double value, Dimension dimension) {
  const Result<double> again = parse_quantity(text, dimension);
  return again.ok() && *again == value;
}

}  // namespace

std::string how_to_write(Dimension dimension) {
  return fmt::format("write it like \"{}\"", unit_of(dimension).example);
}

Result<double> parse_quantity(std::string_view text, Dimension dimension) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest == end || *rest != ' ') return bad(text, dimension);
  const std::string_view unit(rest + 1, static_cast<size_t>(end - rest - 1));
  const std::optional<double> factor = factor_of(unit, dimension);
  if (!factor || !std::isfinite(number) || number < 0) return bad(text, dimension);
  return number * *factor;
}

std::string quantity_text(double value, Dimension dimension) {
  std::string best;
  for (const Prefix& prefix : kPrefixes) {
    if (prefix.binary && dimension != Dimension::kBytes) continue;
    const double scaled = value / prefix.factor;
    // A binary prefix only for whole numbers: 60 MiB, but 141 GB.
    if (prefix.binary ? (scaled < 1 || scaled != std::floor(scaled)) : (scaled < 1 && value != 0)) continue;
    std::string text = print(value, prefix, dimension);
    if (reads_back(text, value, dimension) && (best.empty() || text.size() < best.size())) best = std::move(text);
  }
  return best.empty() ? print(value, {"", 1, false}, dimension) : best;
}

}  // namespace solstice::machine
