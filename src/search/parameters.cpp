#include "search/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace solstice::search {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

namespace {

Status set_value(std::string_view whose, const std::vector<Parameter>& parameters, std::string_view assignment,
                 Values& values) {
  const size_t equals = assignment.find('=');
  const std::string_view name = trimmed(assignment.substr(0, equals));
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
  if (found == parameters.end()) {
    std::string known;
    for (const Parameter& p : parameters) known += (known.empty() ? "" : ", ") + std::string(p.name);
    return fail(Code::bad_argument, fmt::format("{} has no parameter `{}`", whose, name),
                "it has " + (known.empty() ? "none" : known));
  }
  const std::string_view text = equals == std::string_view::npos ? "" : trimmed(assignment.substr(equals + 1));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc() && end == text.data() + text.size() && !text.empty();
  if (!number || value < found->least || value > found->most || (found->whole && value != std::floor(value))) {
    return fail(Code::bad_argument,
                fmt::format("`{}` of {} is a {} from {:g} to {:g}, not `{}`", name, whose,
                            found->whole ? "whole number" : "number", found->least, found->most, text));
  }
  values[std::string(name)] = value;
  return success();
}

}  // namespace

Result<Values> parse_values(std::string_view whose, const std::vector<Parameter>& parameters, std::string_view text) {
  Values values;
  for (const Parameter& p : parameters) values[std::string(p.name)] = p.usual;
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return values;
  if (text.back() != ')') return fail(Code::bad_argument, fmt::format("`{}` lacks its closing parenthesis", text));
  std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  while (!trimmed(inside).empty()) {
    const size_t comma = std::min(inside.find(','), inside.size());
    SOLSTICE_CHECK(set_value(whose, parameters, inside.substr(0, comma), values));
    inside.remove_prefix(std::min(comma + 1, inside.size()));
  }
  return values;
}

}  // namespace solstice::search
