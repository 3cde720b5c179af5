#include "families/gemm/grouped.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"

namespace solstice::families::gemm {
namespace {

constexpr int64_t kStaging = 8 * 2 * 2048;  // of eight warps
constexpr int64_t kTold = 32;               // a tile's description, for every slot and one more

Error not_yet(const std::string& why) { return fail(Code::not_yet, "grouped products: " + why); }

// Integers that choose rows and matrices are read from memory by the sort.
Status require_stored(const ir::Program& program, const ir::Kernel& kernel, const ir::ExprRef& at) {
  std::string found;
  ir::walk(at, [&](const ir::Expr& e) {
    if (e.op == ir::Op::kReduce || e.op == ir::Op::kRank) found = "a row's group is computed by a reduction";
    if (e.op != ir::Op::kRead) return;
    const ir::Tensor& tensor = program.tensor(e.id);
    const bool own = std::any_of(kernel.equations.begin(), kernel.equations.end(),
                                 [&](int id) { return program.equation(id).target == e.id; });
    if (!tensor.dtype || own) found = fmt::format("`{}` is computed in the same kernel", tensor.name);
  });
  return found.empty() ? success() : Status(not_yet(found));
}

// Lines are whole 16-byte pieces for the copy engine and for cp.async.
Status require_operand(const ir::Program& program, const OperandAccess& x, Major wanted, Major major) {
  const std::string& name = program.tensor(x.tensor).name;
  if (wanted != Major::kNone && major != wanted)
    return not_yet(
        fmt::format("operand `{}` is not contiguous along its {}", name, wanted == Major::kK ? "`k`" : "columns"));
  if (!copies_directly(x, major)) return not_yet(fmt::format("lines of operand `{}` are not 16-byte aligned", name));
  return success();
}

}  // namespace

Status require_grouping(const ir::Program& program, const ir::Kernel& kernel, const Contraction& c) {
  const std::string written = kernel.knobs.name_or("grouped", "auto");
  const Grouping& grouping = c.grouping;
  const bool grouped = grouping.kind != Grouped::kNone;
  if (written == "true" && !grouped)
    return fail(
        Code::illegal_knobs,
        "`grouped=true`, but no row chooses a matrix (`w[e[m], n, k]`) or a group of the sum (`where e[m] == g`)");
  if (written == "false" && grouped)
    return fail(Code::illegal_knobs, "`grouped=false`, but each row chooses its matrix: that is a grouped product");
  if (!grouped) return success();
  if (c.a.dtype != c.b.dtype || (c.a.dtype != DType::kF16 && c.a.dtype != DType::kBF16))
    return not_yet(fmt::format("operands are {} and {}; both have to be f16 or both bf16", name_of(c.a.dtype),
                               name_of(c.b.dtype)));
  if (grouping.groups > kMostGroups)
    return not_yet(fmt::format("{} groups; {} are the most", grouping.groups, kMostGroups));
  const bool rows = grouping.kind == Grouped::kRows;
  SOLSTICE_CHECK(require_operand(program, c.a, rows ? Major::kK : Major::kMN,
                                 rows            ? major_of(c.a, c.m, c.k)
                                 : c.a.line == 1 ? Major::kMN
                                                 : Major::kNone));
  SOLSTICE_CHECK(require_operand(program, c.b, rows ? Major::kNone : Major::kMN,
                                 rows            ? major_of(c.b, c.n, c.k)
                                 : c.b.line == 1 ? Major::kMN
                                                 : Major::kNone));
  for (const ir::ExprRef& at : {grouping.of, grouping.a.at, grouping.b.at})
    SOLSTICE_CHECK(require_stored(program, kernel, at));
  return success();
}

const std::vector<Tile>& grouped_tiles() {
  static const std::vector<Tile> table = {{128, 256}, {128, 128}};
  return table;
}

GroupedLayout grouped_layout(const Settings& s, int64_t groups, int64_t shared_limit) {
  const int64_t slot = 128 * (s.tile_m + s.tile_n) + 16 + kTold, rest = kStaging + kTold + 4 * (groups + 3);
  const auto most = static_cast<int>((shared_limit - rest) / slot);
  GroupedLayout out;
  out.slots = s.stages > 0 ? s.stages : std::min(most, 8);
  out.shared_bytes = out.slots * slot + rest;
  return out;
}

std::vector<Settings> grouped_settings(Math math) {
  std::vector<Settings> out;
  Settings s;
  s.math = math;
  s.tile_k = stage_k(math);
  for (const Tile tile : grouped_tiles()) {
    s.tile_m = tile.m, s.tile_n = tile.n;
    for (const auto& [along_m, along_n] : {std::pair{1, 1}, {2, 1}, {1, 2}}) {
      s.cluster = along_m, s.cluster_n = along_n;
      out.push_back(s);
    }
  }
  return out;
}

GroupedLists grouped_lists(const Grouping& grouping) {
  GroupedLists out;
  if (grouping.a.at) out.a = out.count++;
  if (grouping.b.at) out.b = out.count++;
  return out;
}

}  // namespace solstice::families::gemm
