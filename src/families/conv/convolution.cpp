#include "families/conv/convolution.h"

#include <algorithm>
#include <set>
#include <vector>

#include "ir/analysis/contraction.h"

namespace solstice::families::conv {
namespace {

using ir::ExprRef;
using ir::Op;

// One product of an image and a filter, whichever comes first.
class Reader {
 public:
  Reader(const ir::Equation& equation, const ir::ProductSum& sum, const ir::ExprRef& image, const ir::ExprRef& filter)
      : equation_(equation), sum_(sum), image_(*image), filter_(*filter) {}

  std::optional<Convolution> read() {
    out_.image = image_.tensor, out_.filter = filter_.tensor, out_.result = equation_.target;
    if (!slides_forward() && !slides_backward()) return std::nullopt;
    for (size_t i = 0; i < equation_.indices.size(); ++i) count(static_cast<int>(i));
    out_.channels *= out_.groups, out_.filters *= out_.groups;
    return out_;
  }

 private:
  bool is_free(int id) const {
    return std::find(equation_.free.begin(), equation_.free.end(), id) != equation_.free.end();
  }
  bool is_summed(int id) const { return sum_.is_summed(id); }
  int64_t extent(int id) const { return equation_.indices[static_cast<size_t>(id)].extent; }

  void slide(int along, int64_t stride, int tap, int64_t dilation, int64_t pad) {
    ++out_.rank;
    out_.stride = std::max(out_.stride, std::abs(stride)), out_.dilation = std::max(out_.dilation, std::abs(dilation));
    out_.pad = std::max(out_.pad, pad), out_.extent = std::max(out_.extent, extent(tap));
    spatial_.insert({along, tap});
  }

  // x[.., s*p + d*r - pad, ..]: p is written, r is summed and the filter's.
  bool slides_forward() {
    for (const auto& form : image_.at) {
      if (!form || form->terms.size() != 2) continue;
      const bool first_free = is_free(form->terms[0].first);
      const auto& [place, stride] = form->terms[first_free ? 0 : 1];
      const auto& [tap, dilation] = form->terms[first_free ? 1 : 0];
      if (is_free(place) && is_summed(tap) && filter_.moves_with(tap) && !filter_.moves_with(place))
        slide(place, stride, tap, dilation, -form->offset);
    }
    return out_.rank > 0;
  }

  // where u == s*i + d*r - pad: u is written, i is the image's, r the filter's.
  bool slides_backward() {
    if (!sum_.condition()) return false;
    std::vector<ExprRef> open = {sum_.node->args[1]};
    while (!open.empty()) {
      const ExprRef condition = open.back();
      open.pop_back();
      if (condition->op == Op::kAnd) open.insert(open.end(), condition->args.begin(), condition->args.end());
      if (condition->op != Op::kEq) continue;
      const auto form = ir::as_affine(ir::make(Op::kSub, {condition->args[1], condition->args[0]}));
      if (!form || form->terms.size() != 3) continue;
      int place = -1, along = -1, tap = -1;
      for (const auto& [id, c] : form->terms) (is_free(id) ? place : image_.moves_with(id) ? along : tap) = id;
      if (place < 0 || along < 0 || tap < 0 || !filter_.moves_with(tap)) continue;
      const int64_t sign = form->coefficient(place) < 0 ? 1 : -1;
      slide(place, form->coefficient(along), tap, form->coefficient(tap), -sign * form->offset);
      spatial_.insert(along);
    }
    out_.transposed = out_.rank > 0;
    return out_.transposed;
  }

  void count(int id) {
    if (spatial_.count(id)) return;
    if (!is_free(id) && !is_summed(id)) return;
    switch (ir::role_of(is_summed(id), image_.moves_with(id), filter_.moves_with(id))) {
      case ir::Role::kK:
        out_.channels *= extent(id);
        break;
      case ir::Role::kBatch:
        out_.groups *= extent(id);
        break;
      case ir::Role::kN:
        out_.filters *= extent(id);
        break;
      default:
        break;
    }
  }

  const ir::Equation& equation_;
  const ir::ProductSum& sum_;
  const ir::Access image_, filter_;
  Convolution out_;
  std::set<int> spatial_;
};

}  // namespace

std::optional<Convolution> find_convolution(const ir::Program& program, const ir::Kernel& kernel) {
  std::vector<Convolution> found;
  std::set<const ir::Expr*> seen;
  for (const int id : kernel.equations) {
    const ir::Equation& equation = program.equation(id);
    for (const ir::ProductSum& sum : ir::product_sums(equation)) {
      if (!sum.is_of_reads() || !seen.insert(sum.node).second) continue;
      auto one = Reader(equation, sum, sum.a(), sum.b()).read();
      if (!one) one = Reader(equation, sum, sum.b(), sum.a()).read();
      if (!one) continue;
      one->equation = id, one->node = sum.node;
      found.push_back(*one);
    }
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

}  // namespace solstice::families::conv
