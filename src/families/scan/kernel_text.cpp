#include "families/scan/kernel_text.h"

#include <fmt/format.h>

#include <vector>

#include "families/emission.h"

namespace solstice::families::scan {

Text kernel_text(const elementwise::Draft& draft, const ir::Kernel& kernel, const Shape& shape,
                 const KernelParts& parts) {
  Text out;
  const std::vector<int>& reads = draft.emitter.tensors_read();
  const std::vector<int> writes = tensors_written(shape.nest.flat);
  std::vector<std::string> parameters = pointer_parameters(draft.emitter, reads, writes);
  const bool grid = shape.grid > 0;
  if (grid) parameters.push_back("solstice::reduction::Offer* offers");
  out.kernel.entry = codegen::entry_name(kernel.name);
  out.kernel.parameters = reads;
  out.kernel.parameters.insert(out.kernel.parameters.end(), writes.begin(), writes.end());
  out.kernel.blocks = shape.blocks();
  out.shared_bytes = parts.shared_bytes;
  out.offers = grid ? parts.scans * kRounds * shape.grid * (shape.by_columns ? shape.rows_per_block() : 1) : 0;
  std::string includes = fmt::format("#include \"scan/{}.h\"\n", grid ? "grid" : "scan");
  if (shape.stages > 0) includes = "#include \"pipeline/thread_slots.h\"\n" + includes;
  out.kernel.code = fmt::format(
      "#include \"math/special.h\"\n#include \"math/vector.h\"\n{}\n"
      "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({}, {}) {}({}) {{\nusing namespace solstice;\nusing namespace "
      "solstice::math;\n{}{}{}}}\n",
      includes, shape.threads, shape.blocks_an_sm, out.kernel.entry, fmt::join(parameters, ", "),
      parts.shared_bytes > 0 ? "unsigned char* const shared = shared_bytes();\n" : "", parts.thread, parts.body);
  return out;
}

}  // namespace solstice::families::scan
