#include "families/rows/entry.h"

#include <fmt/format.h>

namespace solstice::families::rows {
namespace {

// `rank`: this block's number among those that share a row; `position`: the thread's among all threads that do.
std::string thread_text(const Settings& s) {
  std::string out = s.sharers() > 1 ? fmt::format("const int rank = static_cast<int>(blockIdx.x % {}u);\n", s.sharers())
                                    : "constexpr int rank = 0;\n(void)rank;\n";
  if (s.cluster > 1) out += "reduction::arrive_at_start();\n";
  const std::string place = s.strided ? fmt::format("/ {}", s.rows_per_block()) : fmt::format("% {}", s.group);
  return out + fmt::format("const int position = static_cast<int>(threadIdx.x) {} + rank * {};\n", place, s.group);
}

std::string row_text(const Shape& shape, const Settings& s) {
  const std::string_view type = shape.row_count > INT32_MAX / 2 ? "long long" : "int";
  const std::string mine = s.strided ? fmt::format("% {}", s.rows_per_block()) : fmt::format("/ {}", s.group);
  std::string out =
      fmt::format("{0} row = static_cast<{0}>(blockIdx.x / {1}u) * {2} + static_cast<int>(threadIdx.x) {3};\n", type,
                  s.sharers(), s.rows_per_block(), mine);
  if (s.spare_rows(shape)) {
    out += fmt::format(
        "const bool valid = row < {0};\nrow = valid ? row : {0} - 1;  // threads without a row of their own keep the "
        "others company\n",
        shape.row_count);
  }
  return out;
}

}  // namespace

KernelText kernel_text(const Draft& draft, const std::string& name, const std::string& body,
                       const std::vector<Partial>& partials, int64_t shared) {
  const Settings& s = draft.settings;
  const std::vector<int>& reads = draft.emitter.tensors_read();
  const std::vector<int> writes =
      s.parts > 1 ? std::vector<int>() : tensors_written(draft.shape.flat);  // of parts, the fold writes them
  std::vector<std::string> parameters = pointer_parameters(draft.emitter, reads, writes);
  for (size_t i = 0; i < partials.size(); ++i)
    parameters.push_back(fmt::format("{}* SOLSTICE_RESTRICT {}", partials[i].reduction.type, partial_name(i)));
  KernelText out;
  out.entry = codegen::entry_name(name);
  out.parameters = reads;
  out.parameters.insert(out.parameters.end(), writes.begin(), writes.end());
  out.code = fmt::format(
      "#include \"math/special.h\"\n#include \"math/vector.h\"\n#include \"reduction/correct.h\"\n#include "
      "\"reduction/reduce.h\"\n\n"
      "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({}, {}) {}({}) {{\nusing namespace solstice;\nusing namespace "
      "solstice::math;\n{}{}{}{}}}\n",
      s.threads, s.blocks, out.entry, fmt::join(parameters, ", "),
      shared > 0 ? "unsigned char* const shared = shared_bytes();\n" : "", thread_text(s), row_text(draft.shape, s),
      body);
  out.blocks = s.grid(draft.shape);
  out.shared_bytes = shared;
  out.partials = partials;
  return out;
}

}  // namespace solstice::families::rows
