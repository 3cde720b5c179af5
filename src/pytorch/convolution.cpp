// Sums that PyTorch's convolutions compute: filters over shifted, strided and dilated windows, padded with zeros.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "pytorch/reduction.h"

namespace solstice::pytorch {
namespace {

using ir::Expr;
using ir::ExprRef;
using ir::Op;
using ir::ValueKind;

struct Shape {
  std::vector<int> axes;  // images, filters, pixels
  std::vector<int64_t> stride, padding, dilation;
};

// The index that a dimension is read by alone; -1: another expression.
int alone(const Expr& read, size_t dim) { return read.args[dim]->op == Op::kIndex ? read.args[dim]->id : -1; }

bool pads_zeros(const Expr& read) {
  if (!read.has_else) return true;
  const Expr& other = *read.args.back();
  return (other.op == Op::kInt && other.integer == 0) || (other.op == Op::kReal && other.real == 0);
}

// x[n, c, a*p + b*r - l, ..] * w[k, c, r, ..], summed over c, r, ..
class Matcher {
 public:
  Matcher(const ir::Program& program, const ir::Equation& equation, const Expr& sum)
      : program_(program), equation_(equation), sum_(sum) {}

  std::optional<Shape> match(const Expr& image, const Expr& filter) const {
    const size_t rank = program_.tensor(image.id).shape.size();
    if (rank < 3 || rank > 5 || program_.tensor(filter.id).shape.size() != rank || filter.has_else) return {};
    if (!pads_zeros(image) || sum_.binders.size() != rank - 1) return {};
    const int n = alone(image, 0), c = alone(image, 1), k = alone(filter, 0);
    if (n < 0 || c < 0 || k < 0 || is_bound(n) || is_bound(k) || !is_bound(c) || alone(filter, 1) != c) return {};
    if (!fills(image, 0, n) || !fills(image, 1, c) || !fills(filter, 0, k) || !fills(filter, 1, c)) return {};
    Shape out{{n, k}, {}, {}, {}};
    for (size_t d = 2; d < rank; ++d) {
      const int tap = alone(filter, d);
      if (tap < 0 || !is_bound(tap) || !fills(filter, d, tap) || !add_window(image, d, tap, out)) return {};
    }
    return out;
  }

 private:
  bool is_bound(int id) const { return contains(sum_.binders, id); }
  int64_t extent(int id) const { return equation_.indices[static_cast<size_t>(id)].extent; }
  bool fills(const Expr& read, size_t dim, int id) const { return program_.tensor(read.id).shape[dim] == extent(id); }

  bool add_window(const Expr& image, size_t dim, int tap, Shape& out) const {
    const auto form = ir::as_affine(image.args[dim]);
    if (!form || form->terms.size() != 2 || form->offset > 0) return false;
    const bool first = form->terms[0].first == tap;
    const auto& [pixel, stride] = form->terms[first ? 1 : 0];
    const auto& [other, dilation] = form->terms[first ? 0 : 1];
    if (other != tap || is_bound(pixel) || stride <= 0 || dilation <= 0 || contains(out.axes, pixel)) return false;
    const int64_t padding = -form->offset, size = program_.tensor(image.id).shape[dim];
    const int64_t pixels = (size + 2 * padding - dilation * (extent(tap) - 1) - 1) / stride + 1;
    if (pixels != extent(pixel) || (padding > 0 && !image.has_else)) return false;
    out.axes.push_back(pixel);
    out.stride.push_back(stride);
    out.padding.push_back(padding);
    out.dilation.push_back(dilation);
    return true;
  }

  const ir::Program& program_;
  const ir::Equation& equation_;
  const Expr& sum_;
};

}  // namespace

Result<std::optional<Value>> Reduction::convolution() {
  const std::optional<Value> none;
  const Expr& body = *e_.args[0];
  if (e_.reducer != ir::Reducer::kSum || where_ || body.op != Op::kMul) return none;
  if (body.args[0]->op != Op::kRead || body.args[1]->op != Op::kRead || e_.kind != ValueKind::kReal) return none;
  const Matcher matcher(w_.body_.program(), w_.equation_, e_);
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const Expr &image = *body.args[side], &filter = *body.args[1 - side];
    const std::optional<Shape> shape = matcher.match(image, filter);
    if (!shape) continue;
    const bool steps = std::any_of(shape->axes.begin(), shape->axes.end(), [&](int id) { return w_.is_step(id); });
    if (steps) return none;
    Value x, w;
    x.text = w_.body_.name_of(image.id);
    w.text = w_.body_.name_of(filter.id);
    x.dtype = w_.body_.stored_as(image.id);
    w.dtype = w_.body_.stored_as(filter.id);
    const bool narrow = w_.body_.keeps_narrow() && x.dtype == w.dtype && size_of(x.dtype) == 2;
    if (!narrow) x = w_.of_kind(x, ValueKind::kReal), w = w_.of_kind(w, ValueKind::kReal);
    Value out;
    out.dtype = x.dtype;
    out.axes = w_.united(shape->axes, {});
    out.text =
        fmt::format("F.conv{}d({}, {}, stride=[{}], padding=[{}], dilation=[{}])", shape->stride.size(), x.text, w.text,
                    fmt::join(shape->stride, ", "), fmt::join(shape->padding, ", "), fmt::join(shape->dilation, ", "));
    out.text += permuted(shape->axes, out.axes);
    return std::optional(std::move(out));
  }
  return none;
}

}  // namespace solstice::pytorch
