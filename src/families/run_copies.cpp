#include "families/run_copies.h"

#include <fmt/format.h>

namespace solstice::families {

Result<std::string> run_begin(codegen::Emitter& emitter, const RunRead& read) {
  SOLSTICE_TRY(const codegen::Emitter::Place at,
               emitter.place(emitter.program().tensor(read.access.tensor), read.access.args));
  return fmt::format("static_cast<long long>({})", at.offset.text);
}

Result<std::string> run_copy(codegen::Emitter& emitter, const RunRead& read) {
  emitter.note_read(read.access.tensor);
  SOLSTICE_TRY(const std::string begin, run_begin(emitter, read));
  const ir::Tensor& tensor = emitter.program().tensor(read.access.tensor);
  int64_t total = 1;
  for (size_t d = 0; d < tensor.shape.size(); ++d) total += (tensor.shape[d] - 1) * tensor.strides[d];
  return fmt::format(
      "{{\nconst pipeline::BulkRun<{0}> run({1}, count, {2});\n{0}* const to = reinterpret_cast<{0}*>(ring.bytes() + "
      "{3} + "
      "mine * {4});\n"
      "run.copy_rest({5}, to);\nrun.copy_whole({5}, to, ring.full());\nexpected += run.bytes();\n}}\n",
      codegen::storage_type(*tensor.dtype), begin, total, read.offset, read.pitch,
      emitter.pointer_name(read.access.tensor));
}

}  // namespace solstice::families
