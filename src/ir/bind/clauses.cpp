// Clauses: what a program asks of its machine, numerics and launch, and what it allows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/bind/binder.h"

namespace solstice::ir {
namespace {

using Names = std::vector<std::string>;

const Names& numerics_names() {
  static const Names names = {"reference", "high", "medium", "budget"};
  return names;
}

const Names& launch_names() {
  static const Names names = {"stream", "graph"};
  return names;
}

const Names& permissions() {
  static const Names names = {"nondeterministic", "rng", "frozen"};
  return names;
}

// Options in the brackets of `numerics NAME(...)` and `launch NAME(...)`.
struct Option {
  std::string_view clause, name, option;
  bool (*fits)(const KnobValue&) = nullptr;
  std::string_view legal;
  bool required = false;
};

bool is_bool(const KnobValue& v) { return v.kind == KnobValue::Kind::kName && (v.text == "true" || v.text == "false"); }
bool is_positive(const KnobValue& v) {
  return (v.kind == KnobValue::Kind::kReal && v.real > 0) || (v.kind == KnobValue::Kind::kInt && v.integer > 0);
}

const std::vector<Option>& options() {
  static const std::vector<Option> table = {
      {"numerics", "budget", "rel", is_positive, "a relative error above 0: `rel=1e-3`", true},
      {"launch", "graph", "pdl", is_bool, "legal: true, false"},
  };
  return table;
}

}  // namespace

void Binder::check_options(const char* clause_word, const lang::Clause& c, const Knobs& given, Span span) {
  const std::string& name = c.names[0];
  std::vector<Option> known;
  std::copy_if(options().begin(), options().end(), std::back_inserter(known),
               [&](const Option& o) { return o.clause == clause_word && o.name == name; });
  Names names;
  for (const Option& option : known) names.emplace_back(option.option);
  for (size_t i = 0; i < given.items.size(); ++i) {
    const auto& [key, value] = given.items[i];
    const Span at = c.knobs[i].span;
    const auto option =
        std::find_if(known.begin(), known.end(), [&, k = key](const Option& o) { return o.option == k; });
    if (option == known.end()) {
      error("E101", at, fmt::format("`{} {}` has no option `{}`", clause_word, name, key),
            names.empty() ? "it has none" : fmt::format("options: `{}`", fmt::join(names, "`, `")));
    } else if (!option->fits(value)) {
      error("E102", at,
            fmt::format("`{}={}` is no value of an option of `{} {}`", key, to_text(value), clause_word, name),
            std::string(option->legal));
    }
  }
  for (const Option& option : known) {
    if (!option.required || given.find(option.option)) continue;
    error("E105", span, fmt::format("`{} {}` lacks its option `{}`", clause_word, name, option.option),
          std::string(option.legal));
  }
}

void Binder::check_version() {
  constexpr int kVersion = 1;
  if (source_.version == 0 || source_.version == kVersion) return;
  error("E022", source_.version_at, fmt::format("version {} of the language is not known", source_.version),
        fmt::format("this is version {}: `ucut {}`, or nothing", kVersion, kVersion));
}

bool Binder::one_of(const std::vector<std::string>& names, const std::string& word, const char* clause_word,
                    Span span) {
  if (std::find(names.begin(), names.end(), word) != names.end()) return true;
  error("E008", span, fmt::format("no `{} {}`", clause_word, word),
        fmt::format("there are `{}`", fmt::join(names, "`, `")));
  return false;
}

void Binder::clause(const lang::Clause& c, Span span, const Scope& scope) {
  const auto refuse_second = [&](const std::string& given, const char* word) {
    if (!given.empty()) error("E022", span, fmt::format("`{}` is given twice", word), "keep one");
  };
  switch (c.kind) {
    case lang::Clause::Kind::kTarget:
      refuse_second(program_.target, "target");
      program_.target = c.names[0];
      break;
    case lang::Clause::Kind::kNumerics:
      refuse_second(program_.numerics, "numerics");
      program_.numerics = c.names[0];
      if (!one_of(numerics_names(), c.names[0], "numerics", span)) break;
      check_options("numerics", c, bind_knobs(c.knobs, scope), span);
      if (c.names[0] == "budget")
        program_.not_yet.push_back({"`numerics budget`: a policy of the program's own", span});
      break;
    case lang::Clause::Kind::kLaunch:
      refuse_second(program_.launch_kind, "launch");
      program_.launch_kind = c.names[0];
      if (!one_of(launch_names(), c.names[0], "launch", span)) break;
      program_.launch = bind_knobs(c.knobs, scope);
      check_options("launch", c, program_.launch, span);
      if (c.names[0] == "graph") program_.not_yet.push_back({"`launch graph`: plans are launched step by step", span});
      break;
    case lang::Clause::Kind::kAllow:
      for (const std::string& name : c.names) {
        one_of(permissions(), name, "allow", span);
        if (name == "rng")
          program_.not_yet.push_back({"`allow rng`: no kernel draws random numbers, PyTorch does", span});
      }
      program_.allow.insert(program_.allow.end(), c.names.begin(), c.names.end());
      break;
  }
}

}  // namespace solstice::ir
