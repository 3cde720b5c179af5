#include "cli/view/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "cli/harmless.h"

namespace solstice::cli {
namespace {

bool is_numeric(std::string_view cell) {
  if (cell == "-") return true;
  if (cell.starts_with('-')) cell.remove_prefix(1);
  return !cell.empty() && std::isdigit(static_cast<unsigned char>(cell[0]));
}

void wrap_line(std::string_view line, size_t width, size_t indent, std::string& out) {
  bool first = true;
  while (!line.empty()) {
    const size_t room = width - (first ? 0 : indent);
    size_t take = line.size();
    if (take > room) {
      take = line.rfind(' ', room);
      if (take == std::string_view::npos || take == 0) take = std::min(line.find(' '), line.size());
    }
    if (!first) out += "\n" + std::string(indent, ' ');
    out += line.substr(0, take);
    line.remove_prefix(std::min(take + 1, line.size()));
    first = false;
  }
}

}  // namespace

std::string table(std::vector<std::vector<std::string>> rows) {
  std::vector<size_t> widths;
  for (auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = harmless(row[i]);
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      line += (i ? "  " : "") + (is_numeric(row[i]) ? pad + row[i] : row[i] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string wrap(std::string_view text, int width, int indent) {
  std::string out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (begin) out += "\n";
    wrap_line(text.substr(begin, end - begin), static_cast<size_t>(width), static_cast<size_t>(indent), out);
    begin = end + 1;
  }
  return out;
}

std::string hanging(std::string_view name, std::string_view text, int column, int width) {
  std::string out = "  " + std::string(name);
  const auto start = static_cast<size_t>(column);
  if (out.size() + 1 >= start) {
    out += "\n" + std::string(start, ' ');
  } else {
    out += std::string(start - out.size(), ' ');
  }
  // Wrapped as if the name's column were text, so that the first line breaks where the others do.
  const std::string wrapped = wrap(std::string(start, '\x01') + std::string(text), width, column);
  return out + wrapped.substr(start) + "\n";
}

std::string show(Seconds time) {
  const double t = std::fabs(time.value);
  if (t >= 1) return fmt::format("{:.3g} s", time.value);
  if (t >= 1e-3) return fmt::format("{:.4g} ms", time.value * 1e3);
  return fmt::format("{:.4g} us", time.value * 1e6);
}

std::string show(Seconds time, bool predicted) { return (predicted ? "predicted " : "") + show(time); }

std::string show(Bytes bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double v = bytes.value;
  size_t unit = 0;
  while (std::fabs(v) >= 1024 && unit + 1 < std::size(kUnits)) {
    v /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", v) : fmt::format("{:.3g} {}", v, kUnits[unit]);
}

std::string show_factor(double factor) { return fmt::format("{:.2f}x", factor); }

std::string clip(std::string_view text, size_t width) {
  if (text.size() <= width) return std::string(text);
  size_t keep = width > 3 ? width - 3 : 0;
  while (keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xC0) == 0x80) --keep;  // no character is cut in two
  return std::string(text.substr(0, keep)) + "...";
}

}  // namespace solstice::cli
