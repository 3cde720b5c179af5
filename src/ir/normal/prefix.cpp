#include "ir/normal/prefix.h"

#include "ir/rewrite/rewrite.h"

namespace solstice::ir::normal {

// The rule and its proof are the rewrite's.
Program with_prefix_sums(const Program& program) {
  const Rewrite* rewrite = find_rewrite("prefix_sums");
  Program out = program;
  for (size_t e = 0; e < out.equations.size(); ++e) {
    if (out.equations[e].group < 0) continue;
    if (auto rewritten = rewrite->at(Subject(out), static_cast<int>(e))) out = std::move(rewritten->program);
  }
  return out;
}

}  // namespace solstice::ir::normal
