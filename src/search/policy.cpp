#include "search/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

#include "search/external.h"

namespace solstice::search {
namespace {

class BuiltIn : public Policy {
 public:
  BuiltIn(const PolicySpec& spec, Values values, uint64_t seed)
      : spec_(spec), values_(std::move(values)), seed_(seed) {}
  Result<std::optional<Decision>> decide(const Tree& tree) override {
    Random random(seed_, spec_.name, tree.events().size());
    return spec_.decide(tree, values_, random);
  }

 private:
  const PolicySpec& spec_;
  Values values_;
  uint64_t seed_;
};

std::string names_of(const std::vector<const PolicySpec*>& specs) {
  std::string out;
  for (const PolicySpec* spec : specs) out += (out.empty() ? "" : ", ") + std::string(spec->name);
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Status set_value(std::string_view whose, const std::vector<Parameter>& parameters, std::string_view assignment,
                 Values& values) {
  const size_t equals = assignment.find('=');
  const std::string_view name = trimmed(assignment.substr(0, equals));
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
  if (found == parameters.end()) {
    std::string known;
    for (const Parameter& p : parameters) known += (known.empty() ? "" : ", ") + std::string(p.name);
    return fail(Code::bad_argument,
                fmt::format("{} has no parameter `{}`; it has {}", whose, name, known.empty() ? "none" : known));
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

const PolicySpec* find_policy(std::string_view name) {
  for (const PolicySpec* spec : all_policies()) {
    if (spec->name == name) return spec;
  }
  return nullptr;
}

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

Result<std::unique_ptr<Policy>> make_policy(std::string_view text, uint64_t seed) {
  constexpr std::string_view kCommand = "command:";
  if (text.starts_with(kCommand)) return start_external(std::string(text.substr(kCommand.size())), seed);
  const size_t open = text.find('(');
  const PolicySpec* spec = find_policy(trimmed(text.substr(0, open)));
  if (!spec) {
    return fail(Code::bad_argument,
                fmt::format("no policy `{}`; there are {}, and command:PROGRAM", text, names_of(all_policies())));
  }
  SOLSTICE_TRY(Values values, parse_values(fmt::format("policy `{}`", spec->name), spec->parameters, text));
  return std::unique_ptr<Policy>(std::make_unique<BuiltIn>(*spec, std::move(values), seed));
}

std::vector<int> open_nodes(const Tree& tree) {
  std::vector<int> out;
  for (const Node& node : tree.nodes()) {
    if (node.open()) out.push_back(node.id);
  }
  return out;
}

std::vector<int> ranked(const Tree& tree, std::vector<int> nodes) {
  std::erase_if(nodes, [&](int id) { return !tree.node(id).usable(); });
  const auto place = [&](int id) {
    const Node& node = tree.node(id);
    return std::tuple(!tree.comparable(node), node.measurement->time.value, node.children.size(), -id);
  };
  std::sort(nodes.begin(), nodes.end(), [&](int a, int b) { return place(a) < place(b); });
  return nodes;
}

}  // namespace solstice::search
