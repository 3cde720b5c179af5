#include "families/elementwise/nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>

#include "ir/walk_distinct.h"

namespace solstice::families::elementwise {
namespace {

using codegen::Access;
using codegen::FlatEquation;
using codegen::FlatKernel;

constexpr int64_t kLongestSerial = 1024;  // points a thread reduces alone
// Bytes of loads a thread has in flight. One vector: with all threads of an SM resident that covers the latency, and
// blocks that move 4 KiB make reads and writes alternate finely (bench/rows_map: 0.999 of the copy rate; 0.966 at 64).
constexpr int kInFlight = 16;
constexpr int kWidest = 16;  // bytes of one load

std::vector<int64_t> extents_of(const FlatKernel& flat, const std::vector<int>& order) {
  std::vector<int64_t> out;
  for (const int id : order) {
    if (flat.indices.index(id).extent != 1) out.push_back(flat.indices.index(id).extent);
  }
  return out;
}

// `equation` rewritten over the nest's indices.
void adopt(Nest& nest, const FlatEquation& equation, const std::vector<int>& order) {
  std::map<int, ir::ExprRef> rename;
  size_t at = 0;
  for (const int id : order) {
    if (nest.flat.indices.index(id).extent == 1) continue;
    while (nest.flat.indices.index(nest.order[at]).extent == 1) ++at;
    rename[id] = nest.flat.indices.index_node(nest.order[at++]);
  }
  FlatEquation moved = equation;
  if (const auto steps = rename.find(equation.steps); steps != rename.end()) moved.steps = steps->second->id;
  const bool stays =
      std::all_of(rename.begin(), rename.end(), [](const auto& to) { return to.second->id == to.first; });
  if (stays) {  // the usual case: equations over the same indices share them already
    nest.flat.equations.push_back(std::move(moved));
    return;
  }
  moved.rhs = nest.flat.indices.substitute(equation.rhs, rename);
  for (ir::ExprRef& e : moved.lhs) e = nest.flat.indices.substitute(e, rename);
  nest.flat.equations.push_back(std::move(moved));
}

// 16 bytes of the smallest format, but no more than 16 of any that is stored: a warp's stores then follow each other in
// memory (a cast of bf16 to f32 on an H200: 0.90 of the copy rate with 32 bytes a thread).
int widest_vector(const ir::Program& program, const Nest& nest) {
  int smallest = 8, stored = 1;
  for (const Access& access : codegen::accesses_of(program, nest.flat)) {
    if (access.offset && !nest.loops.empty() && access.offset->coefficient(nest.loops.back().stepping()) == 1) {
      const int bytes = size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32));
      smallest = std::min(smallest, bytes);
      if (!access.read) stored = std::max(stored, bytes);
    }
  }
  return std::min({kWidest / smallest, kWidest / stored, 8});
}

}  // namespace

bool is_reused(const Nest& nest, const Access& access) {
  return std::any_of(nest.loops.begin(), nest.loops.end(), [&](const codegen::Loop& loop) {
    return std::none_of(loop.indices.begin(), loop.indices.end(), [&](int id) { return access.depends_on(id); });
  });
}

bool is_congruent(const Nest& nest, const Access& access, int64_t vector) {
  if (!access.offset || access.offset->offset % vector != 0) return false;
  int64_t step = 1;
  for (size_t k = nest.loops.size(); k-- > 0; step *= nest.loops[k].extent) {
    const int64_t coefficient = access.offset->coefficient(nest.loops[k].stepping());
    if (k + 1 == nest.loops.size() ? coefficient != 1 : (coefficient - step) % vector != 0) return false;
  }
  return true;
}

bool is_stream(const Nest& nest, const Access& access) {
  if (nest.loops.empty() || !access.offset) return false;
  const codegen::Loop& lane = nest.loops.back();
  if (access.offset->coefficient(lane.stepping()) != 1) return false;
  // A reduction's own indices step inside a thread.
  const auto of_nest = [&](const auto& term) {
    return std::any_of(nest.loops.begin(), nest.loops.end(), [&](const codegen::Loop& loop) {
      return std::find(loop.indices.begin(), loop.indices.end(), term.first) != loop.indices.end();
    });
  };
  const auto& terms = access.offset->terms;
  const auto stray = [&](const auto& term) {
    return nest.flat.indices.index(term.first).extent != 1 && !of_nest(term);
  };
  if (std::any_of(terms.begin(), terms.end(), stray)) return false;
  if (access.tested) {
    // A test that varies along the vector would have to be made for every element.
    const auto varies = [&](int id) { return access.depends_on(id); };
    if (std::any_of(lane.indices.begin(), lane.indices.end(), varies)) return false;
  }
  if (nest.shifted) return is_congruent(nest, access, nest.vector);
  return codegen::alignment_of(access, lane, nest.vector) == nest.vector;
}

int bytes_ahead(const ir::Program& program, const Nest& nest) {
  int fresh = 0, reused = 0;
  for (const Access& access : codegen::accesses_of(program, nest.flat)) {
    if (!access.read || !is_stream(nest, access)) continue;
    (is_reused(nest, access) ? reused : fresh) += nest.vector * size_of(*program.tensor(access.tensor).dtype);
  }
  return fresh > 0 ? fresh : reused;
}

int unroll_of(const ir::Program& program, const Nest& nest, const Settings& settings) {
  if (settings.unroll > 0) return settings.unroll;
  const int bytes = bytes_ahead(program, nest);
  const int wanted = std::clamp(kInFlight / std::max(bytes, 1), 1, 8);
  int unroll = 1;
  // A small problem is better spread over more threads than unrolled.
  while (unroll * 2 <= wanted && nest.vectors() > int64_t{settings.threads} * unroll * 2 * 512) unroll *= 2;
  return unroll;
}

Status check_serial(const ir::Program& program, const FlatKernel& flat, std::string_view family) {
  std::unordered_set<const ir::Expr*> seen;
  for (const FlatEquation& equation : flat.equations) {
    int64_t longest = 1;
    bool ranks = false;
    ir::walk_distinct(equation.rhs, seen, [&](const ir::Expr& e) {
      ranks |= e.op == ir::Op::kRank;
      int64_t points = 1;
      for (const int binder : e.binders) points *= flat.indices.index(binder).extent;
      longest = std::max(longest, points);
    });
    const std::string& name = program.tensor(equation.target).name;
    if (ranks) return fail(Code::illegal_knobs, fmt::format("`{}` ranks elements; family `{}` does not", name, family));
    if (longest > kLongestSerial) {
      return fail(Code::not_yet, fmt::format("`{}` reduces {} points; family `{}` reduces up to {} in one thread: "
                                             "use `rows`, `reduce` or `gemm`",
                                             name, longest, family, kLongestSerial));
    }
  }
  return success();
}

// Steps of a recurrence of which nothing but the last state is stored: rows along them where something that is read
// follows in memory from step to step, else columns.
bool steps_follow(const ir::Program& program, const FlatKernel& flat, const FlatEquation& equation) {
  bool follow = false;
  for (const Access& access : codegen::accesses_of(program, flat)) {
    const bool own = access.read && flat.equations[static_cast<size_t>(access.equation)].target == equation.target;
    follow |= own && access.offset && access.offset->coefficient(equation.steps) == 1;
  }
  return follow;
}

std::vector<int> order_of(const ir::Program& program, const FlatKernel& flat, const FlatEquation& equation) {
  std::map<int, int64_t> stride;
  for (size_t d = 0; d < equation.lhs.size(); ++d) {
    const auto form = codegen::linear_form(flat.indices, equation.lhs[d]);
    if (!form) continue;
    for (const auto& [id, c] : form->terms) stride[id] += c * program.tensor(equation.target).strides[d];
  }
  std::vector<int> order = equation.free;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return stride[a] > stride[b]; });
  if (equation.steps >= 0)
    order.insert(steps_follow(program, flat, equation) ? order.end() : order.begin(), equation.steps);
  return order;
}

std::vector<Nest> group_equations(const ir::Program& program, const FlatKernel& flat) {
  std::vector<Nest> nests;
  for (const FlatEquation& equation : flat.equations) {
    const std::vector<int> order = order_of(program, flat, equation);
    const auto extents = extents_of(flat, order);
    size_t k = 0;
    while (k < nests.size() && extents_of(flat, nests[k].order) != extents) ++k;
    if (k == nests.size()) {
      nests.emplace_back();
      nests.back().flat.indices = flat.indices;
      nests.back().order = order;
    }
    adopt(nests[k], equation, order);
  }
  return nests;
}

bool is_single(const Nest& nest, const Access& access) {
  const int steps = nest.flat.equations[static_cast<size_t>(access.equation)].steps;
  return !access.read && !nest.loops.empty() && steps >= 0 && steps == nest.loops.back().stepping();
}

void choose_vector(const ir::Program& program, Nest& nest, int wanted) {
  if (nest.loops.empty()) return;
  int64_t width = wanted > 0 ? wanted : widest_vector(program, nest);
  const codegen::Loop& lane = nest.loops.back();
  for (const Access& access : codegen::accesses_of(program, nest.flat)) {
    const bool contiguous = access.offset && access.offset->coefficient(lane.stepping()) == 1;
    if (!access.read && !is_single(nest, access))
      width = std::min(width, contiguous ? codegen::alignment_of(access, lane, width) : 1);
  }
  const bool divides = lane.extent % width == 0;
  // Counting through all points keeps stores wide where rows have an odd length: stores then follow the whole nest.
  nest.flattened = !divides && nest.loops.size() == 1;
  if (!divides && !nest.flattened) {
    while (lane.extent % width != 0) width /= 2;
  }
  nest.vector = static_cast<int>(width);
}

}  // namespace solstice::families::elementwise
