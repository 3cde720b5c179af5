#include "families/map/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/emitter.h"
#include "families/elementwise/nest_text.h"

namespace solstice::families::map {
namespace {

void merge(std::vector<int>& all, const std::vector<int>& more) {
  for (const int id : more) {
    if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
  }
}

}  // namespace

Result<elementwise::KernelText> emit_kernel(const ir::Program& program, const ir::Kernel& kernel,
                                            std::vector<elementwise::Nest>& nests,
                                            const elementwise::Settings& settings) {
  elementwise::KernelText out;
  out.entry = codegen::entry_name(kernel.name);
  std::string functions, body;
  std::vector<int> reads, writes;
  for (size_t k = 0; k < nests.size(); ++k) {
    SOLSTICE_TRY(const elementwise::NestText nest,
                 elementwise::nest_text(program, nests[k], static_cast<int>(k), out.blocks, settings));
    functions += nest.function + "\n";
    out.blocks += nest.blocks;
    const bool last = k + 1 == nests.size();
    body += last ? nest.call : fmt::format("if (blockIdx.x < {}u) {{\n{}return;\n}}\n", out.blocks, nest.call);
    merge(reads, nest.reads);
    merge(writes, nest.writes);
  }
  const codegen::Emitter names(program, nests.front().flat.indices);
  const std::vector<std::string> parameters = pointer_parameters(names, reads, writes);
  out.parameters = reads;
  out.parameters.insert(out.parameters.end(), writes.begin(), writes.end());
  out.code = fmt::format(
      "#include \"math/special.h\"\n#include \"math/vector.h\"\n\nnamespace solstice {{\nusing namespace math;\n\n{}"
      "}}  // namespace solstice\n\nSOLSTICE_KERNEL void SOLSTICE_BOUNDS({}, 1) {}({}) {{\nusing namespace "
      "solstice;\n{}}}\n",
      functions, settings.threads, out.entry, fmt::join(parameters, ", "), body);
  return out;
}

}  // namespace solstice::families::map
