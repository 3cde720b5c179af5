// Equations that nothing needs.
//
// Proof. An output, a buffer's new value or an operation outside the language is a function of the tensors it reads,
// they of what they read; an equation outside that closure changes none of them. What stays is not touched. Interface
// tensors stay declared, read or not.
#include <fmt/format.h>

#include "ir/rewrite/edit.h"
#include "ir/rewrite/rewrite.h"

namespace solstice::ir {
namespace {

std::optional<Rewritten> without_dead_equation(const Subject& subject, int id) {
  const int target = subject.program().equation(id).target;
  if (subject.needed(target)) return std::nullopt;
  return Rewritten{without_dead(subject.program()),
                   fmt::format("nothing needs `{}`", subject.program().tensor(target).name)};
}

}  // namespace

extern const Rewrite solstice_rewrites_drop_dead;
const Rewrite solstice_rewrites_drop_dead = {
    .name = "drop_dead",
    .help = "an equation that no output or new buffer value needs goes",
    .keeps_nonfinite = true,
    .at = without_dead_equation,
};

}  // namespace solstice::ir
