#include "families/scan/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace solstice::families::scan {
namespace {

using ir::ExprRef;
using ir::Op;

// Replaces the prefixes in right sides by their elements.
class Extractor {
 public:
  explicit Extractor(Shape& shape) : shape_(shape), indices_(shape.nest.flat.indices) {}

  Result<ExprRef> rewrite(const ExprRef& root) {
    if (const auto found = memo_.find(root.get()); found != memo_.end()) return found->second;
    SOLSTICE_TRY(ExprRef out, root->op == Op::kReduce && compares(*root) ? extract(root) : descend(root));
    memo_.emplace(root.get(), out);
    return out;
  }

 private:
  // A reduction whose condition says something of a free index is no serial one.
  bool compares(const ir::Expr& reduction) const {
    const std::vector<int>& free = shape_.nest.order;
    return reduction.args.size() > 1 &&
           std::any_of(free.begin(), free.end(), [&](int id) { return codegen::depends_on(reduction.args[1], id); });
  }

  Result<ExprRef> extract(const ExprRef& root) {
    SOLSTICE_TRY(const Prefix prefix, prefix_of(indices_, root));
    const bool first = shape_.prefixes.empty();
    if (!first && prefix.along != shape_.along) return fail(Code::not_yet, "the kernel's prefixes run along different indices");
    if (!first && prefix.reverse != shape_.reverse) return fail(Code::not_yet, "the kernel's prefixes run in both directions");
    shape_.along = prefix.along;
    shape_.reverse = prefix.reverse;
    const auto same = [&](const Prefix& p) { return p.elements == prefix.elements; };
    if (std::none_of(shape_.prefixes.begin(), shape_.prefixes.end(), same)) shape_.prefixes.push_back(prefix);
    return prefix.elements;
  }

  Result<ExprRef> descend(const ExprRef& root) {
    ir::Expr copy = *root;
    for (ExprRef& arg : copy.args) {
      SOLSTICE_TRY(arg, rewrite(arg));
    }
    return indices_.intern(std::move(copy));
  }

  Shape& shape_;
  codegen::Interner& indices_;
  std::map<const ir::Expr*, ExprRef> memo_;
};

// Rows stay in one loop of their own, so that a thread's vector never crosses into the next row.
void choose_loops(const ir::Program& program, Shape& shape) {
  map::Nest& nest = shape.nest;
  const auto at = std::find(nest.order.begin(), nest.order.end(), shape.along);
  shape.extent = nest.flat.indices.index(shape.along).extent;
  nest.loops = codegen::fused_loops(program, nest.flat, {nest.order.begin(), at});
  nest.loops.push_back({{shape.along}, shape.extent});
  const auto inner = codegen::fused_loops(program, nest.flat, {at + 1, nest.order.end()});
  shape.by_columns = !inner.empty();
  nest.loops.insert(nest.loops.end(), inner.begin(), inner.end());
  for (const codegen::Loop& loop : nest.loops) nest.points *= loop.extent;
}

void choose_threads(Shape& shape, const Knobs& knobs) {
  constexpr int kTile = 16, kColumnThreads = 128, kRowThreads = 256, kSmallestBlock = 128;  // kTile: elements a thread holds
  const int wanted = std::max(1, (knobs.items > 0 ? knobs.items : kTile) / shape.nest.vector);
  shape.unroll = static_cast<int>(std::min<int64_t>(wanted, shape.row_vectors()));
  if (shape.by_columns) {
    shape.threads = knobs.threads > 0 ? knobs.threads : kColumnThreads;
    return;
  }
  const int most = knobs.threads > 0 ? knobs.threads : kRowThreads;
  const auto needed = static_cast<uint64_t>((shape.row_vectors() + shape.unroll - 1) / shape.unroll);
  shape.group = static_cast<int>(std::min<uint64_t>(std::bit_ceil(needed), static_cast<uint64_t>(most)));
  shape.threads = knobs.threads > 0 ? knobs.threads : std::max(shape.group, kSmallestBlock);
  if (shape.group > kWarp) shape.threads = shape.group;  // barriers are the block's
}

}  // namespace

Result<Shape> shape_of(const ir::Program& program, const ir::Kernel& kernel, const Knobs& knobs) {
  SOLSTICE_TRY(const codegen::FlatKernel flat, codegen::flatten(program, kernel));
  std::vector<map::Nest> nests = map::group_equations(program, flat);
  if (nests.size() != 1)
    return fail(Code::not_yet, fmt::format("kernel `{}` writes boxes of different extents; write one kernel for each", kernel.name));
  Shape out;
  out.nest = std::move(nests.front());
  Extractor extractor(out);
  for (codegen::FlatEquation& equation : out.nest.flat.equations) {
    SOLSTICE_TRY(equation.rhs, extractor.rewrite(equation.rhs));
  }
  for (const codegen::FlatEquation& equation : out.nest.flat.equations) {
    bool ranks = false;
    ir::walk(equation.rhs, [&](const ir::Expr& e) { ranks |= e.op == Op::kRank; });
    if (ranks)
      return fail(Code::not_yet, fmt::format("`{}` ranks elements; family `scan` does not sort yet", program.tensor(equation.target).name));
  }
  if (out.prefixes.empty())
    return fail(Code::illegal_knobs, fmt::format("kernel `{}` has no prefix reduction, such as `sum[j where j <= n](...)`", kernel.name));
  SOLSTICE_CHECK(map::check_serial(program, out.nest.flat, "scan"));
  choose_loops(program, out);
  map::choose_vector(program, out.nest, knobs.vector);
  map::Nest& nest = out.nest;
  nest.flattened = false;
  while (nest.loops.back().extent % nest.vector != 0) nest.vector /= 2;
  choose_threads(out, knobs);
  return out;
}

}  // namespace solstice::families::scan
