#include "families/fold_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "base/integer.h"
#include "codegen/text/marks.h"
#include "families/emission.h"

namespace solstice::families {

int fold_sharers(int64_t outputs, int64_t parts, int64_t many) {
  const int64_t wanted = outputs >= many ? 1 : parts / 4;
  return static_cast<int>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(wanted, 1, 32))));
}

int64_t FoldKernel::blocks() const { return ceil_div(rows, kFoldThreads / sharers); }

std::string FoldKernel::text() const {
  return fmt::format(
      "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({0}, 1) {1}({2}) {{\nusing namespace solstice;\nusing namespace "
      "solstice::math;\n{3}"
      "const int mine = static_cast<int>(threadIdx.x) / {5};\n"
      "{4} row = static_cast<{4}>(blockIdx.x) * {5} + static_cast<int>(threadIdx.x) % {5};\n"
      "const bool valid = row < {6} && mine == 0;\nrow = row < {6} ? row : {6} - 1;\n{7}{8}if (valid) {{\n{9}}}\n}}\n",
      kFoldThreads, entry, parameters, opening, row_type, kFoldThreads / sharers, rows, folded, values, stores);
}

Result<std::string> store_text(const ir::Program& program, const codegen::FlatKernel& flat, codegen::Emitter& emitter) {
  std::string out;
  for (const codegen::FlatEquation& e : flat.equations) {
    SOLSTICE_TRY(const codegen::Value value, emitter.emit(e.rhs));
    SOLSTICE_TRY(const codegen::Emitter::Place to, emitter.place(program.tensor(e.target), e.lhs));
    out += codegen::mark(e.equation, "store") +
           fmt::format("store_one({} + {}, {});\n", emitter.pointer_name(e.target), to.offset.text, value.text);
  }
  return out;
}

std::string fold_parameters(const codegen::Emitter& emitter, const std::vector<int>& reads,
                            const std::vector<std::string>& parts, const std::vector<int>& writes) {
  std::vector<std::string> out = pointer_parameters(emitter, reads, {});
  out.insert(out.end(), parts.begin(), parts.end());
  for (const std::string& written : pointer_parameters(emitter, {}, writes)) out.push_back(written);
  return fmt::format("{}", fmt::join(out, ", "));
}

void add_fold(const ir::Program& program, const ir::Kernel& kernel, const FoldLaunch& fold, Emission& out) {
  out.sources.front().code += "\n" + fold.code;
  Step step = out.steps.front();
  step.name = part_name(kernel, "fold");
  step.entry = fold.entry;
  step.grid = {fold.blocks, 1, 1};
  step.block = {fold.threads, 1, 1};
  step.shared_bytes = fold.shared_bytes;
  step.arguments.clear();
  add_pointers(program, fold.reads, step);
  for (size_t i = 0; i < fold.parts.size(); ++i) {
    PlanBuffer buffer = workspace_buffer(part_name(kernel, fmt::format("partial{}", i)), fold.parts[i]);
    out.steps.front().arguments.push_back(pointer_to(buffer.name));
    step.arguments.push_back(pointer_to(buffer.name));
    out.workspace.push_back(std::move(buffer));
  }
  add_pointers(program, fold.writes, step);
  out.steps.push_back(std::move(step));
}

}  // namespace solstice::families
