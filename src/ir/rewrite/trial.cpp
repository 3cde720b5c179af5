#include "ir/rewrite/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/bind.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/excerpt.h"

namespace solstice::ir {
namespace {

// Expressions are shared: what has the same right side did not change.
using Known = std::set<std::pair<int, const Expr*>>;

Known known_equations(const Program& program) {
  Known out;
  for (const Equation& e : program.equations) out.emplace(e.target, e.rhs.get());
  return out;
}

// The equations of `program` that `known` lacks, with the other pieces of their tensors and steps of their recurrences.
std::vector<int> unknown_equations(const Program& program, const Known& known) {
  std::set<int> targets, groups;
  for (const Equation& e : program.equations) {
    if (known.count({e.target, e.rhs.get()})) continue;
    targets.insert(e.target);
    if (e.group >= 0) groups.insert(e.group);
  }
  for (const Equation& e : program.equations) {
    if (groups.count(e.group)) targets.insert(e.target);
  }
  std::vector<int> out;
  for (size_t i = 0; i < program.equations.size(); ++i) {
    if (targets.count(program.equations[i].target)) out.push_back(static_cast<int>(i));
  }
  return out;
}

// Every tensor is complete before it is read, but by its own recurrence.
bool in_order(const Program& program, const Definitions& definitions, const std::vector<int>& equations) {
  const auto after = [&](int reader, int tensor) {
    const std::vector<int>& writers = definitions.writers(tensor);
    return std::all_of(writers.begin(), writers.end(), [&](int writer) {
      const int group = program.equation(writer).group;
      return writer < reader || (group >= 0 && group == program.equation(reader).group);
    });
  };
  for (const int id : equations) {
    bool ordered = true;
    walk(program.equation(id).rhs, [&](const Expr& e) { ordered = ordered && (e.op != Op::kRead || after(id, e.id)); });
    const std::vector<int>& readers = definitions.readers(program.equation(id).target);
    ordered = ordered &&
              std::all_of(readers.begin(), readers.end(), [&](int r) { return after(r, program.equation(id).target); });
    if (!ordered) return false;
  }
  return true;
}

bool gathers_anywhere(const Program& part) {
  return std::any_of(part.equations.begin(), part.equations.end(), [](const Equation& e) { return gathers(e.rhs); });
}

Status judged(const Excerpt& part) {
  if (part.program.equations.empty()) return success();
  const std::string text = text_of(part);
  Diagnostics diagnostics;
  const Result<Program> program = load_program(text, "rewritten.ucut", diagnostics);
  return program.ok() ? success() : Status(program.error());
}

}  // namespace

Result<Trial> tried(const Subject& before, const Needs& needs, Program after) {
  Trial out;
  out.program = without_dead(std::move(after));
  const Definitions definitions(out.program);
  const std::vector<int> written = unknown_equations(out.program, known_equations(before.program()));
  if (!in_order(out.program, definitions, written))
    return fail(Code::program_invalid, "a tensor would be read before it is complete");
  const Excerpt now = excerpt(out.program, definitions, written, needs);
  out.proved = !gathers_anywhere(now.program);
  if (out.proved) SOLSTICE_CHECK(judged(now));
  const std::vector<int> gone = unknown_equations(before.program(), known_equations(out.program));
  const Excerpt then = excerpt(before.program(), before.definitions(), gone, needs);
  out.saved = program_cost(then.program, then.needs) - program_cost(now.program, now.needs);
  return out;
}

}  // namespace solstice::ir
