#include "import/rules/complex.h"

#include "import/call/conversion.h"
#include "import/call/pointwise.h"
#include "import/rules.h"

namespace solstice::importer {
namespace {

struct Pair {
  TermRef re, im;  // null: a real
};

Pair operator+(const Pair& a, const Pair& b) { return {a.re + b.re, !a.im ? b.im : !b.im ? a.im : a.im + b.im}; }
Pair operator-(const Pair& a, const Pair& b) {
  return {a.re - b.re, !b.im ? a.im : !a.im ? negate(b.im) : a.im - b.im};
}
Pair operator*(const Pair& a, const Pair& b) {
  if (!a.im) return {a.re * b.re, b.im ? a.re * b.im : nullptr};
  if (!b.im) return b * a;
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Pair conjugate(const Pair& z) { return {z.re, negate(z.im)}; }
Pair operator/(const Pair& a, const Pair& b) {
  if (!b.im) return {a.re / b.re, a.im ? a.im / b.re : nullptr};
  const Pair up = a * conjugate(b);
  const TermRef size = b.re * b.re + b.im * b.im;
  return {up.re / size, up.im / size};
}

// The dtype of each part of the result.
Result<DType> part_dtype(const Call& call) {
  const auto& out = call.node().outs.at(0);
  if (!out || !out->is_tensor()) return call.unsupported("a result that is no tensor");
  if (out->dtype == GraphDType::kC64) return DType::kF32;
  return out->dtype == GraphDType::kC128 ? Result<DType>(DType::kF64) : call.out_dtype();
}

Status yield_pair(Call& call, const Axes& axes, const Pair& pair, DType dtype) {
  const std::string wish = call.wish();
  Value out = call.draft().define(wish + "_re", axes, pair.re, dtype);
  const Value im = call.draft().define(wish + "_im", axes, pair.im ? pair.im : integer(0), dtype);
  // Both parts have the digits of `axes`, each under placeholders of its own.
  Value whole{axes, read_at(out, flat_all(axes, call.loops()), call.loops()), dtype};
  whole.imaginary = read_at(im, flat_all(axes, call.loops()), call.loops());
  return call.yield(std::move(whole));
}

// A tensor, or a number that may be complex.
Result<Value> complex_operand(Call& call, const char* name, DType dtype) {
  if (call.argument(name).find("t")) return call.any_number(name);
  const Json* const parts = call.argument(name).find("complex");
  if (!parts) return operand(call, name, dtype);
  Value out{{}, real(parts->at(0).as_double()), dtype};
  out.imaginary = real(parts->at(1).as_double());
  return out;
}

using OfPairs = std::function<Pair(const std::vector<Pair>&)>;

// f of the operands at each point.
Result<Pair> at_points(Call& call, const Operands& operands, Axes& axes, const OfPairs& f) {
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, operands));
  axes = shape.axes;
  std::vector<Pair> read;
  for (size_t i = 0; i < operands.size(); ++i) {
    Value im = operands[i];
    im.term = im.imaginary;
    read.push_back(
        {read_at(operands[i], shape.at[i], call.loops()), im.term ? read_at(im, shape.at[i], call.loops()) : nullptr});
  }
  return f(read);
}

Status of_pairs(Call& call, const Operands& operands, const OfPairs& f) {
  SOLSTICE_TRY(const DType dtype, part_dtype(call));
  Axes axes;
  SOLSTICE_TRY(const Pair pair, at_points(call, operands, axes, f));
  if (yields_complex(call)) return yield_pair(call, axes, pair, dtype);
  return call.yield(call.draft().define(call.wish(), axes, pair.re, dtype));
}

// x[.., 0] + i * x[.., 1]
Status view_as_complex(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  Axes axes;
  for (int i = 0; i + 1 < x.rank(); ++i) axes.push_back(call.loops().align(x.axis(i)));
  const auto part = [&](int64_t which) {
    Indices at = flat_all(axes, call.loops());
    at.push_back(Index(which));
    return read_at(x, at, call.loops());
  };
  Value out{axes, part(0), x.dtype};
  out.imaginary = part(1);
  return call.yield(std::move(out));
}

Status view_as_real(Call& call) {
  SOLSTICE_TRY(const Value z, call.any_number("self"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  Axes axes;
  for (const Axis& axis : z.axes) axes.push_back(call.loops().align(axis));
  const Indices at = flat_all(axes, call.loops());
  axes.push_back(call.loops().fresh_axis(2));
  const int tensor = call.draft().declare(call.wish(), axes, dtype);
  for (const int64_t part : {0, 1}) {
    Indices to = at;
    to.push_back(Index(part));
    Value from = z;
    if (part == 1) from.term = z.imaginary ? z.imaginary : integer(0);
    call.draft().write(tensor, std::move(to), read_at(from, at, call.loops()));
  }
  return call.yield(call.draft().whole(tensor, axes));
}

Status complex_of(Call& call, const char* first, const char* second, const OfPairs& f) {
  SOLSTICE_TRY(const Value a, call.tensor(first));
  SOLSTICE_TRY(const Value b, call.tensor(second));
  return of_pairs(call, {a, b}, f);
}

Status complex(Call& call) {
  return complex_of(call, "real", "imag", [](const auto& p) { return Pair{p[0].re, p[1].re}; });
}

Pair turned(const TermRef& size, const TermRef& angle) {
  return {size * apply("cos", {angle}), size * apply("sin", {angle})};
}

Status polar(Call& call) {
  return complex_of(call, "abs", "angle", [](const auto& p) { return turned(p[0].re, p[1].re); });
}

template <Pair (*F)(const Pair&)>
Status of_complex(Call& call) {
  SOLSTICE_TRY(const Value z, call.any_number("self"));
  return of_pairs(call, {z}, [](const auto& p) { return F(p[0]); });
}

Pair negative(const Pair& z) { return {negate(z.re), negate(z.im)}; }
Pair exponential(const Pair& z) { return turned(apply("exp", {z.re}), z.im); }
Pair modulus(const Pair& z) { return {apply("sqrt", {z.re * z.re + z.im * z.im}), nullptr}; }

// The operator on complex numbers, or the function of the language on others.
template <Pair (*F)(const Pair&)>
Status complex_or(Call& call, const char* function) {
  SOLSTICE_TRY(const Value x, call.any_number("self"));
  if (x.imaginary) return of_complex<F>(call);
  return map_self(call, [&](const TermRef& t) { return function ? apply(function, {t}) : negate(t); });
}
Status abs(Call& call) { return complex_or<modulus>(call, "abs"); }
Status exp(Call& call) { return complex_or<exponential>(call, "exp"); }
Status neg(Call& call) { return complex_or<negative>(call, nullptr); }

Pair angle(const Pair& z) { return {apply("atan2", {z.im, z.re}), nullptr}; }

}  // namespace

bool yields_complex(const Call& call) {
  const auto& outs = call.node().outs;
  if (outs.empty() || !outs[0] || !outs[0]->is_tensor()) return false;
  return outs[0]->dtype == GraphDType::kC64 || outs[0]->dtype == GraphDType::kC128;
}

Status as_complex(Call& call) {
  SOLSTICE_TRY(Value z, call.any_number("self"));
  SOLSTICE_TRY(const DType dtype, part_dtype(call));
  if (!holds_all_of(dtype, z.dtype)) return call.unsupported("complex numbers of less precision than their parts");
  if (!z.imaginary) z.imaginary = integer(0);
  z.dtype = dtype;
  return call.yield(std::move(z));
}

Status complex_arithmetic(Call& call, char op) {
  if (call.has("alpha")) {
    SOLSTICE_TRY(const double alpha, call.number("alpha"));
    if (alpha != 1) return call.unsupported("a factor before a complex operand");
  }
  SOLSTICE_TRY(const DType dtype, part_dtype(call));
  SOLSTICE_TRY(const Value a, complex_operand(call, "self", dtype));
  SOLSTICE_TRY(const Value b, complex_operand(call, "other", dtype));
  return of_pairs(call, {a, b}, [op](const auto& p) {
    return op == '+' ? p[0] + p[1] : op == '-' ? p[0] - p[1] : op == '*' ? p[0] * p[1] : p[0] / p[1];
  });
}

const RuleGroup kComplexRules = {
    "complex",
    {
        {"aten.view_as_complex.default", view_as_complex},
        {"aten.view_as_real.default", view_as_real},
        {"aten.complex.default", complex},
        {"aten.polar.default", polar},
        {"aten._conj.default", of_complex<conjugate>},
        {"aten.conj_physical.default", of_complex<conjugate>},
        {"aten.abs.default", abs},
        {"aten.exp.default", exp},
        {"aten.neg.default", neg},
        {"aten.angle.default", of_complex<angle>},
    },
};

}  // namespace solstice::importer
