#include "diagnose/counters/ncu_csv.h"

#include <cctype>
#include <charconv>
#include <cmath>

namespace solstice::diagnose {
namespace {

// Nothing where a quote does not end.
std::optional<std::vector<std::string>> cells_of(std::string_view line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      out.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  if (quoted) return std::nullopt;
  return out;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Commas separate thousands where three digits follow each, before any point.
std::optional<std::string> without_separators(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') {
      out += text[i];
      continue;
    }
    const std::string_view group = text.substr(i + 1, 3);
    const bool whole = group.size() == 3 && is_digit(group[0]) && is_digit(group[1]) && is_digit(group[2]);
    const bool ends = i + 4 >= text.size() || !is_digit(text[i + 4]);
    const bool fraction = out.find('.') != std::string::npos;
    if (i == 0 || !is_digit(text[i - 1]) || !whole || !ends || fraction) return std::nullopt;
  }
  return out;
}

double prefix_scale(char prefix) {
  switch (prefix) {
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
      return 1e9;
    case 'T':
      return 1e12;
    case 'P':
      return 1e15;
    default:
      return 1;
  }
}

double time_scale(std::string_view word) {
  if (word == "nsecond" || word == "ns") return 1e-9;
  if (word == "usecond" || word == "us") return 1e-6;
  if (word == "msecond" || word == "ms") return 1e-3;
  return 1;
}

double word_scale(std::string_view word) {
  if (word == "%") return 0.01;
  if (word.size() > 1 && std::isalpha(static_cast<unsigned char>(word[1])) != 0) {
    if (const double scale = prefix_scale(word[0]); scale != 1) return scale;
  }
  return time_scale(word);
}

}  // namespace

CsvTable read_csv(std::string_view text) {
  CsvTable out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.substr(0, 2) == "==") continue;
    if (auto cells = cells_of(line)) {
      out.rows.push_back(*std::move(cells));
    } else {
      ++out.damaged;
    }
  }
  return out;
}

std::optional<double> read_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const std::optional<std::string> plain = without_separators(text);
  if (!plain || plain->empty()) return std::nullopt;
  double value = 0;
  const char* const end = plain->data() + plain->size();
  const auto [stop, error] = std::from_chars(plain->data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

double unit_scale(std::string_view unit) {
  const size_t slash = unit.find('/');
  if (slash == std::string_view::npos) return word_scale(unit);
  return word_scale(unit.substr(0, slash)) / word_scale(unit.substr(slash + 1));
}

}  // namespace solstice::diagnose
