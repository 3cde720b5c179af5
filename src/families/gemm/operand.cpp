#include "families/gemm/operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "codegen/access.h"
#include "families/emission.h"
#include "families/tensor_core/tile_config.h"
#include "ir/walk_distinct.h"

namespace solstice::families::gemm {
namespace {

using codegen::Access;
using ir::ExprRef;
using ir::Op;

bool is_view(const ir::Tensor& tensor) { return tensor.kind == ir::TensorKind::kLocal && tensor.kernel < 0; }

bool is_computed(const ir::Program& program, const ir::Kernel& kernel, int tensor) {
  return std::any_of(kernel.equations.begin(), kernel.equations.end(),
                     [&](int id) { return program.equation(id).target == tensor; });
}

// Storing is permission to round, a cast the order to: of an element that either rounds, the format is that; of others
// f32.
DType format_of(const ir::Program& program, const ExprRef& node, const ExprRef& value) {
  if (value->op == Op::kCast && tensor_core::is_16_bit_float(value->dtype)) return value->dtype;
  const auto declared = node->op == Op::kRead ? program.tensor(node->id).dtype : std::nullopt;
  return declared && tensor_core::is_16_bit_float(*declared) ? *declared : DType::kF32;
}

// The reason that an element cannot be computed as it is read; none where it can.
std::optional<std::string> reason_against(const ir::Program& program, const ExprRef& value) {
  std::optional<std::string> out;
  if (value->kind != ir::ValueKind::kReal) out = "is of integers: a prologue computes in f32";
  ir::walk_distinct(value, [&](const ir::Expr& e) {
    if (e.op == Op::kReduce || e.op == Op::kRank)
      out = "reduces: a prologue works element by element";
    else if (e.op == Op::kRead && program.tensor(e.id).dtype == DType::kF64)
      out = fmt::format("reads `{}`, which is f64: a prologue computes in f32", program.tensor(e.id).name);
  });
  return out;
}

std::set<int> long_indices(const codegen::Interner& indices, const ExprRef& e) {
  std::set<int> out;
  for (const int id : indices_in(e)) {
    if (indices.index(id).extent > 1) out.insert(id);
  }
  return out;
}

// Steps by one element along an index.
bool has_unit(const Access& access) {
  return std::any_of(access.offset->terms.begin(), access.offset->terms.end(),
                     [](const auto& term) { return term.second == 1; });
}

// The first read of memory with all indices of the element, one that is contiguous before others.
const Access* main_read(const codegen::Interner& indices, const std::vector<Access>& accesses,
                        const std::set<int>& needed) {
  const Access* found = nullptr;
  for (const Access& access : accesses) {
    if (!access.read || !access.offset || access.tested || long_indices(indices, access.read) != needed) continue;
    if (!found || (has_unit(access) && !has_unit(*found))) found = &access;
  }
  return found;
}

Result<FoundOperand> stored(const ir::Program& program, const ir::Expr& read) {
  const ir::Tensor& tensor = program.tensor(read.id);
  if (!tensor.dtype || is_view(tensor))
    return fail(Code::illegal_knobs, fmt::format("operand `{}` is a view or local", tensor.name));
  FoundOperand out;
  SOLSTICE_TRY(out.read, operand_read(program, read));
  out.access.tensor = read.id;
  out.access.dtype = *tensor.dtype;
  out.access.offset = out.read.offset.offset;
  return out;
}

std::vector<Access> reads_of(const ir::Program& program, const codegen::FlatKernel& flat) {
  std::vector<Access> out = codegen::accesses_of(program, flat);
  out.erase(std::remove_if(out.begin(), out.end(), [](const Access& access) { return !access.read; }), out.end());
  return out;
}

void count_reads(const ir::Program& program, const std::vector<Access>& reads, const std::set<int>& needed,
                 Prologue& made) {
  for (const Access& access : reads) {
    if (std::find(made.reads.begin(), made.reads.end(), access.tensor) == made.reads.end())
      made.reads.push_back(access.tensor);
    if (long_indices(made.flat.indices, access.read) == needed)
      made.bytes += size_of(*program.tensor(access.tensor).dtype);
  }
}

// `node` as the product has it, `flat` as it is made.
Result<FoundOperand> computed(const ir::Program& program, const ExprRef& node, const std::string& name,
                              codegen::FlatNode flat) {
  const std::set<int> needed = long_indices(flat.indices, flat.value);
  Prologue made;
  made.flat.indices = std::move(flat.indices);
  made.flat.equations.push_back({-1, 0, {}, {}, flat.value});  // until the main read is known
  const std::vector<Access> reads = reads_of(program, made.flat);
  const Access* const main = main_read(made.flat.indices, reads, needed);
  if (!main)
    return fail(
        Code::not_yet,
        fmt::format(
            "operand `{}` is computed from broadcasts only (no tensor that it reads has all of its indices); such "
            "prologues are not built yet",
            name));
  made.main = main->read;
  made.flat.equations.front().target = main->tensor;
  made.flat.equations.front().lhs = main->args;
  if (node->op == Op::kRead) made.source = node->id;
  const DType format = format_of(program, node, flat.value);
  made.brief = made.source >= 0 && tensor_core::is_16_bit_float(format) &&
               tensor_core::is_16_bit_float(*program.tensor(main->tensor).dtype);
  made.instructions = made.brief ? instructions_of(program, made.flat) : instructions_of(made.flat);
  count_reads(program, reads, needed, made);
  FoundOperand out;
  out.read = {main->tensor, *main->offset, {}};
  out.access.tensor = main->tensor;
  out.access.dtype = format;
  out.access.offset = main->offset->offset;
  out.access.made = std::make_shared<const Prologue>(std::move(made));
  return out;
}

}  // namespace

Result<FoundOperand> find_operand(const ir::Program& program, const ir::Kernel& kernel, int equation,
                                  const ExprRef& node) {
  if (node->op == Op::kRead && !is_computed(program, kernel, node->id) && !is_view(program.tensor(node->id)))
    return stored(program, *node);
  SOLSTICE_TRY(codegen::FlatNode flat, codegen::flatten_node(program, kernel, equation, node));
  if (flat.value->op == Op::kRead) return stored(program, *flat.value);
  const std::string name =
      node->op == Op::kRead ? program.tensor(node->id).name : ir::to_text(program, program.equation(equation), node);
  if (const auto reason = reason_against(program, flat.value))
    return fail(Code::not_yet, fmt::format("operand `{}` {}", name, *reason));
  return computed(program, node, name, std::move(flat));
}

Major major_of(const OperandAccess& operand, int64_t lines, int64_t k) {
  if (operand.k == 1 || k == 1) return Major::kK;
  if (operand.line == 1 || lines == 1) return Major::kMN;
  return Major::kNone;
}

int vector_of(const OperandAccess& operand, Major major, int limit) {
  const int64_t across = major == Major::kK ? operand.line : operand.k;
  int vector = limit;
  while (vector > 1 && (operand.offset % vector || across % vector || operand.batch % vector)) vector /= 2;
  return vector;
}

bool copies_directly(const OperandAccess& operand, Major major) {
  if (operand.made) return false;
  const int piece = 16 / size_of(operand.dtype);
  const bool has_instruction =
      operand.dtype != DType::kF32 && (!tensor_core::is_fp8(operand.dtype) || major == Major::kK);
  return has_instruction && major != Major::kNone && vector_of(operand, major, piece) == piece;
}

std::string_view major_text(Major major) { return major == Major::kMN ? "mma::Major::kMN" : "mma::Major::kK"; }

}  // namespace solstice::families::gemm
