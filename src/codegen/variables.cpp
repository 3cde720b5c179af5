#include "codegen/variables.h"

#include <fmt/format.h>

#include "codegen/access.h"

namespace solstice::codegen {

int bind_variable(Emitter& emitter, const ir::Program& program, const FlatKernel& flat, const std::string& name,
                  const std::vector<int>& digits, int depth) {
  int64_t extent = 1;
  for (const int id : digits) extent *= flat.indices.index(id).extent;
  const std::vector<Loop> loops = fused_loops(program, flat, digits);
  Value rest = emitter.variable(CType::kI32, name, depth, {0, extent - 1});
  for (size_t k = loops.size(); k-- > 0;) {
    Value digit = rest;
    if (k > 0) {
      const int64_t by = loops[k].extent;
      const auto divided = [&](char op, int64_t most) {
        const std::string text = fmt::format("static_cast<int>(static_cast<unsigned>({}) {} {}u)", rest.text, op, by);
        return emitter.define(CType::kI32, text, {rest}, {0, most});
      };
      digit = divided('%', by - 1);
      rest = divided('/', rest.range.hi / by);
    }
    emitter.bind(loops[k].stepping(), Binding{0, {{digit, 1}}});
  }
  if (loops.size() > 1) return kSeveralSteps;
  return loops.empty() ? kNoStep : loops[0].stepping();
}

}  // namespace solstice::codegen
