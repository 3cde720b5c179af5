// A written element has an address of its own: strides place every element once, and a tensor that lies in another's
// storage (`same`) is not written while the other's value is still needed there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "ir/bind/binder.h"

namespace solstice::ir {
namespace {

constexpr int64_t kPlacedElements = int64_t{1} << 22;
constexpr int kForEver = std::numeric_limits<int>::max();

enum class Placement { kOnce, kTwice, kUnknown };

Placement placement(const Tensor& t) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, extent
  for (size_t d = 0; d < t.shape.size(); ++d) {
    if (t.shape[d] > 1) dims.emplace_back(t.strides[d], t.shape[d]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t span = 1, elements = 1;
  bool radix = true;
  for (const auto& [stride, extent] : dims) {
    radix = radix && stride >= span;
    span += stride * (extent - 1);
    elements = std::min(elements, kPlacedElements) * extent;
  }
  if (radix) return Placement::kOnce;
  if (elements > span || (!dims.empty() && dims[0].first == 0)) return Placement::kTwice;
  if (elements > kPlacedElements) return Placement::kUnknown;
  std::vector<int64_t> places = {0};
  for (const auto& [stride, extent] : dims) {
    const size_t known = places.size();
    for (int64_t i = 1; i < extent; ++i) {
      for (size_t k = 0; k < known; ++k) places.push_back(places[k] + stride * i);
    }
  }
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) == places.end() ? Placement::kOnce : Placement::kTwice;
}

// Elements of a storage: a box in the coordinates of the tensor that owns it.
using Box = std::vector<ValueRange>;

bool meet(const Box& a, const Box& b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d].high < b[d].low || b[d].high < a[d].low) return false;
  }
  return true;
}

int owner(const Program& p, int tensor) {
  while (p.tensor(tensor).same >= 0) tensor = p.tensor(tensor).same;
  return tensor;
}

// The tensor's first element in its owner's coordinates; nothing where the two are not laid out alike.
std::optional<std::vector<int64_t>> corner(const Tensor& t, const Tensor& base) {
  if (t.strides != base.strides) return std::nullopt;
  std::vector<size_t> outermost(base.shape.size());
  for (size_t d = 0; d < outermost.size(); ++d) outermost[d] = d;
  std::stable_sort(outermost.begin(), outermost.end(),
                   [&](size_t a, size_t b) { return base.strides[a] > base.strides[b]; });
  std::vector<int64_t> at(base.shape.size(), 0);
  int64_t rest = t.same_offset;
  for (const size_t d : outermost) {
    if (base.strides[d] <= 0) return std::nullopt;
    at[d] = base.shape[d] > 1 ? rest / base.strides[d] : 0;
    rest -= at[d] * base.strides[d];
    if (at[d] + t.shape[d] > base.shape[d]) return std::nullopt;
  }
  return rest == 0 ? std::optional(at) : std::nullopt;
}

struct Write {
  int tensor;
  int step;
  const Equation* equation;
  Box box;
};

// The accesses of one storage, by the program's items; the equations of a kernel are one step.
class SharedStorage {
 public:
  SharedStorage(const Program& program, int base) : program_(program), base_(base) {
    for (size_t t = 0; t < program.tensors.size(); ++t) {
      if (owner(program, static_cast<int>(t)) != base) continue;
      const Tensor& tensor = program.tensors[t];
      last_use_[static_cast<int>(t)] = tensor.kind == TensorKind::kOutput || tensor.into >= 0 ? kForEver : -1;
    }
    for (size_t i = 0; i < program.items.size(); ++i) visit(program.items[i], static_cast<int>(i));
  }

  // Two tensors: the second is written where and while the first is needed.
  std::optional<std::pair<int, int>> overwritten() const {
    for (const Write& a : writes_) {
      for (const Write& b : writes_) {
        const bool during = b.step >= a.step && b.step <= last_use_.at(a.tensor);
        if (a.tensor != b.tensor && during && meet(a.box, b.box) && !copies(b, a.tensor))
          return std::pair(a.tensor, b.tensor);
      }
    }
    return std::nullopt;
  }

 private:
  void visit(const Item& item, int step) {
    if (item.equation >= 0) visit(program_.equation(item.equation), step);
    if (item.kernel >= 0) {
      for (const int e : program_.kernels[static_cast<size_t>(item.kernel)].equations)
        visit(program_.equation(e), step);
    }
    if (item.opaque < 0) return;
    for (const auto& [keyword, argument] : program_.opaques[static_cast<size_t>(item.opaque)].arguments)
      read(argument, step);
  }

  void visit(const Equation& e, int step) {
    read(e.rhs, step);
    if (last_use_.count(e.target)) writes_.push_back({e.target, step, &e, box(e)});
  }

  void read(const ExprRef& root, int step) {
    walk(root, [&](const Expr& e) {
      const auto used = e.op == Op::kRead ? last_use_.find(e.id) : last_use_.end();
      if (used != last_use_.end()) used->second = std::max(used->second, step);
    });
  }

  Box box(const Equation& e) const {
    const Tensor& base = program_.tensor(base_);
    const auto at = corner(program_.target_of(e), base);
    Box out;
    Integers known(e.indices, [](int) { return std::nullopt; });
    for (size_t d = 0; d < base.shape.size(); ++d) {
      const ValueRange all{0, base.shape[d] - 1}, part = at ? known.interval(known.linear(e.lhs[d])) : all;
      out.push_back(at ? part + ValueRange{(*at)[d], (*at)[d]} : all);
    }
    return out;
  }

  // The write puts every element of `from` where it already lies.
  bool copies(const Write& write, int from) const {
    const Expr& value = *write.equation->rhs;
    if (value.op != Op::kRead || value.id != from || value.has_else) return false;
    const Tensor& base = program_.tensor(base_);
    const auto to = corner(program_.tensor(write.tensor), base), source = corner(program_.tensor(from), base);
    if (!to || !source) return false;
    for (size_t d = 0; d < base.shape.size(); ++d) {
      auto left = as_affine(write.equation->lhs[d]), right = as_affine(value.args[d]);
      if (!left || !right) return false;
      left->offset += (*to)[d];
      right->offset += (*source)[d];
      if (!(*left == *right)) return false;
    }
    return true;
  }

  const Program& program_;
  int base_;
  std::map<int, int> last_use_;  // of every tensor that lies here: step, -1 none
  std::vector<Write> writes_;
};

}  // namespace

void Binder::check_strides(const Tensor& t, Span span) {
  if (std::any_of(t.strides.begin(), t.strides.end(), [](int64_t s) { return s < 0; })) {
    error("E022", span, fmt::format("`{}` has a negative stride: {}", t.name, fmt::join(t.strides, ", ")),
          "a stride is 0 or more");
    return;
  }
  std::vector<int64_t> reach = {1};
  for (size_t d = 0; d < t.shape.size(); ++d) {
    int64_t most = 0;
    if (__builtin_mul_overflow(t.shape[d], t.strides[d], &most)) most = std::numeric_limits<int64_t>::max();
    reach.push_back(most);
  }
  if (!check_size(t.name, {*std::max_element(reach.begin(), reach.end()), static_cast<int64_t>(reach.size())},
                  size_of(*t.dtype), span))
    return;
  if (t.kind != TensorKind::kOutput && t.kind != TensorKind::kTensor) return;
  const Placement found = placement(t);
  if (found == Placement::kOnce) return;
  error("E022", span,
        fmt::format("the strides {} of `{}` ({}) {} two elements at one address", fmt::join(t.strides, ", "), t.name,
                    fmt::join(t.shape, "x"), found == Placement::kTwice ? "place" : "may place"),
        "what is written has an address for each element: every stride at least as large as all that lies inside it");
}

void Binder::check_sharing() {
  std::set<int> bases;
  for (const Tensor& t : program_.tensors) {
    if (t.same >= 0 && t.kind == TensorKind::kTensor) bases.insert(owner(program_, t.same));
  }
  for (const int base : bases) {
    const auto found = SharedStorage(program_, base).overwritten();
    if (!found) continue;
    const Tensor &kept = program_.tensor(found->first), &writer = program_.tensor(found->second);
    error("E022", (writer.same >= 0 ? writer : kept).span,
          fmt::format("`{}` and `{}` share storage, and `{}` is written while `{}` is still needed", kept.name,
                      writer.name, writer.name, kept.name),
          fmt::format("read `{}` for the last time before the kernel that writes `{}`, or leave `same` out", kept.name,
                      writer.name));
  }
}

}  // namespace solstice::ir
