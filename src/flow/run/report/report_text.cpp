#include "flow/run/report/report_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"

namespace solstice::flow {
namespace {

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

std::string interval_text(const Measured& measured) {
  if (measured.high.value <= 0) return "-";
  const TimeScale scale = time_scale(measured.median);
  return fmt::format("{:.4g} to {:.4g} {}", measured.low.value * scale.factor, measured.high.value * scale.factor,
                     scale.unit);
}

std::string clock_text(Hertz clock) { return clock.value > 0 ? fmt::format("{:.2f} GHz", clock.value * 1e-9) : "-"; }

std::string bytes_text(Bytes bytes) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  return bytes.value >= kGiB ? fmt::format("{:.2f} GiB", bytes.value / kGiB)
                             : fmt::format("{:.1f} MiB", bytes.value / kGiB * 1024);
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

std::string shell_text(const std::string& folder, const std::vector<std::string>& argv) {
  return folder.empty() ? shell_text(argv) : shell_text({"cd", folder}) + " && " + shell_text(argv);
}

}  // namespace solstice::flow
