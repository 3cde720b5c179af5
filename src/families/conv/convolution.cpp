#include "families/conv/convolution.h"

#include <algorithm>
#include <set>
#include <vector>

namespace solstice::families::conv {
namespace {

using ir::ExprRef;
using ir::Op;

// One product of an image and a filter, whichever comes first.
class Reader {
 public:
  Reader(const ir::Equation& equation, const ir::Expr& sum, const ir::Expr& image, const ir::Expr& filter)
      : equation_(equation), sum_(sum), image_(image), filter_(filter) {}

  std::optional<Convolution> read() {
    out_.image = image_.id, out_.filter = filter_.id, out_.result = equation_.target;
    if (!slides_forward() && !slides_backward()) return std::nullopt;
    for (size_t i = 0; i < equation_.indices.size(); ++i) count(static_cast<int>(i));
    out_.channels *= out_.groups, out_.filters *= out_.groups;
    return out_;
  }

 private:
  bool is_free(int id) const {
    return std::find(equation_.free.begin(), equation_.free.end(), id) != equation_.free.end();
  }
  bool is_summed(int id) const { return std::find(sum_.binders.begin(), sum_.binders.end(), id) != sum_.binders.end(); }
  int64_t extent(int id) const { return equation_.indices[static_cast<size_t>(id)].extent; }
  static bool occurs(const ir::Expr& read, int id) {
    return std::any_of(read.args.begin(), read.args.end(), [&](const ExprRef& arg) {
      const auto form = ir::as_affine(arg);
      return form && form->coefficient(id) != 0;
    });
  }

  void slide(int along, int64_t stride, int tap, int64_t dilation, int64_t pad) {
    ++out_.rank;
    out_.stride = std::max(out_.stride, std::abs(stride)), out_.dilation = std::max(out_.dilation, std::abs(dilation));
    out_.pad = std::max(out_.pad, pad), out_.extent = std::max(out_.extent, extent(tap));
    spatial_.insert({along, tap});
  }

  // x[.., s*p + d*r - pad, ..]: p is written, r is summed and the filter's.
  bool slides_forward() {
    for (const ExprRef& arg : image_.args) {
      const auto form = ir::as_affine(arg);
      if (!form || form->terms.size() != 2) continue;
      const bool first_free = is_free(form->terms[0].first);
      const auto& [place, stride] = form->terms[first_free ? 0 : 1];
      const auto& [tap, dilation] = form->terms[first_free ? 1 : 0];
      if (is_free(place) && is_summed(tap) && occurs(filter_, tap) && !occurs(filter_, place))
        slide(place, stride, tap, dilation, -form->offset);
    }
    return out_.rank > 0;
  }

  // where u == s*i + d*r - pad: u is written, i is the image's, r the filter's.
  bool slides_backward() {
    if (sum_.args.size() < 2) return false;
    std::vector<ExprRef> open = {sum_.args[1]};
    while (!open.empty()) {
      const ExprRef condition = open.back();
      open.pop_back();
      if (condition->op == Op::kAnd) open.insert(open.end(), condition->args.begin(), condition->args.end());
      if (condition->op != Op::kEq) continue;
      const auto form = ir::as_affine(ir::make(Op::kSub, {condition->args[1], condition->args[0]}));
      if (!form || form->terms.size() != 3) continue;
      int place = -1, along = -1, tap = -1;
      for (const auto& [id, c] : form->terms) (is_free(id) ? place : occurs(image_, id) ? along : tap) = id;
      if (place < 0 || along < 0 || tap < 0 || !occurs(filter_, tap)) continue;
      const int64_t sign = form->coefficient(place) < 0 ? 1 : -1;
      slide(place, form->coefficient(along), tap, form->coefficient(tap), -sign * form->offset);
      spatial_.insert(along);
    }
    out_.transposed = out_.rank > 0;
    return out_.transposed;
  }

  void count(int id) {
    if (spatial_.count(id)) return;
    const bool in_image = occurs(image_, id), in_filter = occurs(filter_, id);
    if (is_summed(id) && in_image && in_filter) out_.channels *= extent(id);
    if (is_free(id) && in_image && in_filter) out_.groups *= extent(id);
    if (is_free(id) && !in_image && in_filter) out_.filters *= extent(id);
  }

  const ir::Equation& equation_;
  const ir::Expr& sum_;
  const ir::Expr& image_;
  const ir::Expr& filter_;
  Convolution out_;
  std::set<int> spatial_;
};

}  // namespace

std::optional<Convolution> find_convolution(const ir::Program& program, const ir::Kernel& kernel) {
  std::vector<Convolution> found;
  std::set<const ir::Expr*> seen;
  for (const int id : kernel.equations) {
    const ir::Equation& equation = program.equation(id);
    ir::walk(equation.rhs, [&](const ir::Expr& e) {
      if (e.op != Op::kReduce || e.reducer != ir::Reducer::kSum || e.args[0]->op != Op::kMul || !seen.insert(&e).second)
        return;
      const ir::Expr &first = *e.args[0]->args[0], &second = *e.args[0]->args[1];
      if (first.op != Op::kRead || second.op != Op::kRead) return;
      auto one = Reader(equation, e, first, second).read();
      if (!one) one = Reader(equation, e, second, first).read();
      if (!one) return;
      one->equation = id, one->node = &e;
      found.push_back(*one);
    });
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

}  // namespace solstice::families::conv
