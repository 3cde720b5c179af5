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

}  // namespace

void Binder::one_of(const std::vector<std::string>& names, const std::string& word, const char* clause_word, Span span) {
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  error("E008", span, fmt::format("no `{} {}`", clause_word, word), fmt::format("there are `{}`", fmt::join(names, "`, `")));
}

void Binder::clause(const lang::Clause& c, Span span, const Scope& scope) {
  const auto once = [&](const std::string& given, const char* word) {
    if (!given.empty()) error("E022", span, fmt::format("`{}` is given twice", word), "keep one");
  };
  switch (c.kind) {
    case lang::Clause::Kind::kTarget:
      once(program_.target, "target");
      program_.target = c.names[0];
      break;
    case lang::Clause::Kind::kNumerics:
      once(program_.numerics, "numerics");
      one_of(numerics_names(), c.names[0], "numerics", span);
      program_.numerics = c.names[0];
      break;
    case lang::Clause::Kind::kLaunch:
      once(program_.launch_kind, "launch");
      one_of(launch_names(), c.names[0], "launch", span);
      program_.launch_kind = c.names[0];
      program_.launch = bind_knobs(c.knobs, scope);
      break;
    case lang::Clause::Kind::kAllow:
      for (const std::string& name : c.names) {
        one_of(permissions(), name, "allow", span);
        if (name == "rng") program_.not_yet.push_back({"`allow rng`: no kernel draws random numbers, PyTorch does", span});
      }
      program_.allow.insert(program_.allow.end(), c.names.begin(), c.names.end());
      break;
  }
}

}  // namespace solstice::ir
