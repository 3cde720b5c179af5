#include "flow/report_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::flow {
namespace {

struct Scale {
  double factor;
  const char* unit;
};

Scale scale_of(Seconds time) {
  if (time.value >= 1) return {1, "s"};
  if (time.value >= 1e-3) return {1e3, "ms"};
  return {1e6, "us"};
}

// A cell must not end its row or its column.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
}

}  // namespace

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i) {
    out += "|";
    for (const std::string& text : rows[i]) out += " " + cell(text) + " |";
    out += "\n";
    if (i == 0) {
      out += "|";
      for (size_t j = 0; j < rows[0].size(); ++j) out += " --- |";
      out += "\n";
    }
  }
  return out;
}

std::string code(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", text); }

std::string time_text(Seconds time) {
  const Scale scale = scale_of(time);
  return fmt::format("{:.4g} {}", time.value * scale.factor, scale.unit);
}

std::string interval_text(const Measured& measured) {
  if (measured.high.value <= 0) return "-";
  const Scale scale = scale_of(measured.median);
  return fmt::format("{:.4g} to {:.4g} {}", measured.low.value * scale.factor, measured.high.value * scale.factor, scale.unit);
}

std::string clock_text(Hertz clock) { return clock.value > 0 ? fmt::format("{:.2f} GHz", clock.value * 1e-9) : "-"; }

std::string bytes_text(Bytes bytes) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  return bytes.value >= kGiB ? fmt::format("{:.2f} GiB", bytes.value / kGiB) : fmt::format("{:.1f} MiB", bytes.value / kGiB * 1024);
}

std::string shell_text(const std::vector<std::string>& argv) {
  std::string out;
  for (const std::string& word : argv) {
    if (!out.empty()) out += " ";
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) {
      out += word;
      continue;
    }
    out += "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += "'";
  }
  return out;
}

}  // namespace solstice::flow
