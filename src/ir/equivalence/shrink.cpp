// Shrunken dims: small, unlike each other, and legal for both programs, whose dims divide as they do at the real sizes.
#include <algorithm>
#include <map>
#include <set>

#include "ir/bind.h"
#include "ir/equivalence.h"
#include "ir/equivalence/remainders.h"

namespace solstice::ir {
namespace {

// Dims that are literals at the top of the problem: the others follow from them.
std::vector<std::pair<std::string, int64_t>> literal_dims(const lang::Program& program) {
  std::vector<std::pair<std::string, int64_t>> out;
  for (const lang::Item& item : program.items) {
    const auto* dims = std::get_if<lang::Dims>(&item.node);
    if (!dims) continue;
    for (const lang::Dim& d : dims->dims) {
      if (d.value && d.value->kind == lang::ExprKind::kInt) out.emplace_back(d.name, d.value->integer);
    }
  }
  return out;
}

bool legal(const lang::Program& program, const Program& real,
           const std::vector<std::pair<std::string, int64_t>>& dims) {
  Diagnostics diagnostics;
  const auto small = bind(lang::with_dims(program, dims), diagnostics);
  return small && divides_alike(program, real, *small);
}

constexpr int64_t kWidestWindow = 16;

// Names of dims whose indices are shifted, scaled, divided or compared: their size and remainders matter. The
// others only count, and may be tiny.
class Structured {
 public:
  Structured(const Program& program, const std::set<std::string>& dims) : program_(program), dims_(dims) {
    for (const Equation& e : program.equations) {
      equation_ = &e;
      for (const ExprRef& i : e.lhs) position(i, "");
      walk(e.rhs, [&](const Expr& r) { visit(r); });
    }
  }
  const std::set<std::string>& names() const { return names_; }
  // A window with two strides on each side: both borders, their neighbours and the interior exist.
  int64_t room() const { return room_; }

 private:
  void visit(const Expr& e) {
    if (e.op == Op::kRead) {
      const Tensor& t = program_.tensor(e.id);
      for (size_t d = 0; d < t.shape.size() && d < e.args.size(); ++d) position(e.args[d], t.dims[d]);
    }
    if (e.op < Op::kLt || e.op > Op::kGt) return;
    for (const ExprRef& a : e.args) all_of(a);
  }

  void position(const ExprRef& index, const std::string& dim) {
    if (index->op == Op::kIndex || index->op == Op::kInt) return;
    names_.insert(dim);
    all_of(index);
    const auto form = as_affine(index);
    if (!form) return;
    int64_t span = 1;    // of the indices whose extent is no dim
    int64_t stride = 1;  // of the others
    for (const auto& [id, c] : form->terms) {
      const Index& i = equation_->indices[static_cast<size_t>(id)];
      const bool window = !dims_.count(i.dim) && i.extent <= kWidestWindow && std::abs(c) <= kWidestWindow;
      if (window) span += std::abs(c) * (i.extent - 1);
      if (!window) stride = std::max(stride, std::abs(c));
    }
    if (stride <= kWidestWindow) room_ = std::max(room_, span + 2 * stride);
  }

  void all_of(const ExprRef& root) {
    walk(root, [&](const Expr& e) {
      if (e.op == Op::kIndex) names_.insert(equation_->indices[static_cast<size_t>(e.id)].dim);
    });
  }

  const Program& program_;
  const std::set<std::string>& dims_;
  const Equation* equation_ = nullptr;
  std::set<std::string> names_;
  int64_t room_ = 5;
};

struct SizeChoice {
  int64_t more;        // than the room that windows need
  int64_t period;      // v mod period is kept
  int64_t plain_base;  // for dims that only count; 0: treat them like the others
};

// No two values equal where the real ones differ.
std::vector<std::pair<std::string, int64_t>> assignment(const std::vector<std::pair<std::string, int64_t>>& real,
                                                        const std::set<std::string>& structured, int64_t least,
                                                        const SizeChoice& choice) {
  std::vector<std::pair<std::string, int64_t>> out;
  std::set<int64_t> used;
  for (const auto& [name, value] : real) {
    const bool plain = choice.plain_base > 0 && !structured.count(name);
    const int64_t base = plain ? choice.plain_base : least;
    const int64_t period = plain ? 1 : choice.period;
    int64_t v = value;
    if (value > base + period) {
      v = base + ((value - base) % period + period) % period;
      while (used.count(v) && v + period < value) v += period;
    }
    used.insert(v);
    out.emplace_back(name, v);
  }
  return out;
}

// About `value / divisor`, so that dims of one size stay of one size, different ones different (the structured ones in
// order), and sums of dims that fit another still do: for programs that are legal only so (`w[k,n]` of a square `w`).
std::vector<std::pair<std::string, int64_t>> divided(const std::vector<std::pair<std::string, int64_t>>& real,
                                                     const std::set<std::string>& structured, int64_t divisor,
                                                     int64_t period, int64_t least) {
  std::set<int64_t> used;
  std::map<int64_t, int64_t> sizes;  // ascending
  for (const auto& [name, value] : real) {
    if (value <= least + period) used.insert(sizes[value] = value);  // often one a piece: layers, heads, gates
    if (value > least + period && structured.count(name)) sizes[value] = 0;
  }
  for (auto& [value, size] : sizes) {
    if (size > 0) continue;
    size = std::max({least, value / divisor, used.empty() ? 0 : *used.rbegin() + 1});
    size = std::min(value, size + ((value - size) % period + period) % period);
    used.insert(size);
  }
  for (const auto& [name, value] : real) {
    if (sizes.count(value)) continue;
    int64_t size = std::max<int64_t>(2, value / divisor);
    while (used.count(size) && size < value) ++size;
    used.insert(sizes[value] = size);
  }
  std::vector<std::pair<std::string, int64_t>> out;
  for (const auto& [name, value] : real) out.emplace_back(name, sizes.at(value));
  return out;
}

// Literal dims that have the size of a derived one (`dim T = 1024, E = H*D`) have it when shrunk too.
std::vector<std::pair<std::string, int64_t>> following(const lang::Program& text, const Program& problem,
                                                       const std::vector<std::pair<std::string, int64_t>>& real,
                                                       std::vector<std::pair<std::string, int64_t>> dims) {
  Diagnostics quiet;
  const auto small = bind(lang::with_dims(text, dims), quiet);
  if (!small) return dims;
  std::map<int64_t, int64_t> derived;  // real size to shrunken size
  for (size_t d = 0; d < problem.dims.size(); ++d) {
    const bool literal =
        std::any_of(real.begin(), real.end(), [&](const auto& r) { return r.first == problem.dims[d].name; });
    if (!literal) derived[problem.dims[d].value] = small->dims[d].value;
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    if (const auto found = derived.find(real[d].second); found != derived.end()) dims[d].second = found->second;
  }
  return dims;
}

}  // namespace

std::vector<std::pair<std::string, int64_t>> shrunken_dims(const lang::Program& problem, const lang::Program& candidate,
                                                           int attempt, const std::optional<Deadline>& deadline) {
  const auto real = literal_dims(problem);
  if (real.empty()) return {};
  Diagnostics quiet;
  const auto a = bind(problem, quiet);
  const auto b = bind(candidate, quiet);
  if (!a || !b) return {};
  std::set<std::string> names;
  for (const auto& [name, value] : real) names.insert(name);
  const Structured in_problem(*a, names);
  const Structured in_candidate(*b, names);
  std::set<std::string> structured = in_problem.names();
  structured.insert(in_candidate.names().begin(), in_candidate.names().end());
  const int64_t room = std::max(in_problem.room(), in_candidate.room());
  const auto accepted = [&](const std::vector<std::pair<std::string, int64_t>>& dims) {
    return !(deadline && deadline->passed()) && legal(problem, *a, dims) && legal(candidate, *b, dims);
  };
  const auto choose = [&](const SizeChoice& c) {
    return assignment(real, structured, room + c.more + attempt,
                      {c.more, c.period, c.plain_base ? c.plain_base + attempt : 0});
  };
  // From the smallest up: the first that both programs accept.
  for (const SizeChoice& c : {SizeChoice{0, 2, 3}, {0, 4, 3}, {1, 6, 3}}) {
    if (const auto dims = choose(c); accepted(dims)) return dims;
  }
  for (const int64_t period : {2, 4}) {
    for (int64_t divisor = 4096; divisor > 1; divisor /= 2) {
      const auto dims = divided(real, structured, divisor, period, room + attempt);
      if (accepted(dims)) return dims;
      if (const auto tied = following(problem, *a, real, dims); accepted(tied)) return tied;
    }
  }
  for (const SizeChoice& c :
       {SizeChoice{0, 8, 3}, {0, 2, 0}, {0, 4, 0}, {1, 6, 0}, {3, 8, 0}, {0, 16, 0}, {12, 32, 0}, {28, 64, 0}}) {
    if (const auto dims = choose(c); accepted(dims)) return dims;
  }
  return {};
}

}  // namespace solstice::ir
