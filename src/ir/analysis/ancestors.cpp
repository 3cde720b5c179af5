#include "ir/analysis/ancestors.h"

#include <algorithm>

namespace solstice::ir {
namespace {

// Marks the tensors that `node` is computed from.
bool mark_reads(const ExprRef& node, std::vector<char>& needed) {
  bool more = false;
  walk(node, [&](const Expr& each) {
    if (each.op != Op::kRead || needed[static_cast<size_t>(each.id)]) return;
    needed[static_cast<size_t>(each.id)] = more = true;
  });
  return more;
}

}  // namespace

// Equations of a recurrence read each other, so until nothing changes.
std::vector<char> ancestors_of(const Program& program, int output) {
  std::vector<char> needed(program.tensors.size(), 0);
  needed[static_cast<size_t>(output)] = 1;
  for (bool more = true; more;) {
    more = false;
    for (const Equation& equation : program.equations) {
      if (needed[static_cast<size_t>(equation.target)]) more = mark_reads(equation.rhs, needed) || more;
    }
    for (const Opaque& opaque : program.opaques) {
      const bool wanted = std::any_of(opaque.results.begin(), opaque.results.end(),
                                      [&](int id) { return needed[static_cast<size_t>(id)]; });
      for (const auto& [name, argument] : opaque.arguments) {
        if (wanted && argument) more = mark_reads(argument, needed) || more;
      }
    }
  }
  return needed;
}

}  // namespace solstice::ir
