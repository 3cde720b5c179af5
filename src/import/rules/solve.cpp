// Triangular systems by substitution: a recurrence over the unknowns.
//   x[m,n] = (b[m,n] - sum[k where k < m](a[m,k] * x[k,n])) / a[m,m]
#include "import/rules.h"
#include "import/rules/index.h"

namespace solstice::importer {
namespace {

// a x = b where `left`, else x a = b. Only one triangle of `a` is read.
struct Triangular {
  Value a, b;
  bool left = true, upper = false, unit = false;
};

// Axes of b; the last two are the matrix, those before are systems, which broadcast.
struct Systems {
  Axes axes;
  Indices of_a, of_b;  // positions of the systems
  Axis row;            // the unknown that is solved for
  int solved = 0;      // its place among the axes
};

Result<Systems> systems_of(Call& call, Triangular& t) {
  Systems out;
  const size_t rank = static_cast<size_t>(std::max(t.a.rank(), t.b.rank()));
  if (t.a.rank() < 2 || t.b.rank() < 2) return call.unsupported("a system that is no matrix");
  lift(t.a, rank);
  lift(t.b, rank);
  const int n = static_cast<int>(rank);
  for (int i = 0; i + 2 < n; ++i) {
    std::vector<const Axis*> aligned;
    for (const Value* v : {&t.a, &t.b}) {
      if (v->extent(i) != 1) aligned.push_back(&v->axis(i));
    }
    out.axes.push_back(aligned.empty() ? Axis{} : call.loops().align(aligned));
    const Index here = call.loops().flat(out.axes.back());
    out.of_a.push_back(t.a.extent(i) == 1 ? Index(0) : here);
    out.of_b.push_back(t.b.extent(i) == 1 ? Index(0) : here);
  }
  out.solved = t.left ? n - 2 : n - 1;
  out.row = single(call, t.a.axis(n - 1));
  call.loops().align({&out.row, &t.a.axis(n - 2), &t.b.axis(out.solved)});
  for (int i = n - 2; i < n; ++i) out.axes.push_back(i == out.solved ? out.row : call.loops().align(t.b.axis(i)));
  return out;
}

// The unknowns are numbered in the order in which they are found: from the end where the system is an upper one.
Status yield_solution(Call& call, size_t result, Triangular t) {
  SOLSTICE_TRY(const Systems s, systems_of(call, t));
  SOLSTICE_TRY(const DType dtype, call.out_dtype(result));
  const bool backward = t.left == t.upper;
  const Size last = call.loops().size(s.row) - Size(1);
  const auto place = [&](const Index& number) { return backward ? Index(last) + scale(number, Size(-1)) : number; };
  const auto coefficient = [&](const Index& unknown, const Index& other) {
    Indices at = s.of_a;
    at.push_back(place(t.left ? unknown : other));
    at.push_back(place(t.left ? other : unknown));
    return read_at(t.a, at, call.loops());
  };
  const Index row = call.loops().flat(s.row);
  const Indices own = flat_all(s.axes, call.loops());
  Indices given = s.of_b;
  for (size_t i = given.size(); i < own.size(); ++i) given.push_back(own[i]);
  given[static_cast<size_t>(s.solved)] = place(row);
  const int tensor = call.draft().declare(call.wish(), s.axes, dtype);
  TermRef value = read_at(t.b, given, call.loops());
  if (!s.row.digits.empty()) {
    const Axis earlier = call.loops().align(s.row);
    Indices found = own;
    found[static_cast<size_t>(s.solved)] = call.loops().flat(earlier);
    const TermRef known = coefficient(row, call.loops().flat(earlier)) * read(tensor, found);
    value = value - reduce("sum", earlier.digits, known,
                           binary("<", index_value(call.loops().flat(earlier)), index_value(row)));
  }
  if (!t.unit) value = value / coefficient(row, row);
  call.draft().write(tensor, own, value);
  Indices in_order = own;
  in_order[static_cast<size_t>(s.solved)] = place(row);
  return call.yield(result, {s.axes, read(tensor, in_order), dtype});
}

Status solve_triangular(Call& call) {
  Triangular t;
  SOLSTICE_TRY(t.a, call.tensor("self"));
  SOLSTICE_TRY(t.b, call.tensor("B"));
  SOLSTICE_TRY(t.left, call.flag("left"));
  SOLSTICE_TRY(t.upper, call.flag("upper"));
  SOLSTICE_TRY(t.unit, call.flag("unitriangular"));
  return yield_solution(call, 0, std::move(t));
}

// The older form: a, or its transpose, on the left.
Status triangular_solve(Call& call) {
  Triangular t;
  SOLSTICE_TRY(t.a, call.tensor("A"));
  SOLSTICE_TRY(t.b, call.tensor("self"));
  SOLSTICE_TRY(t.upper, call.flag("upper"));
  SOLSTICE_TRY(t.unit, call.flag("unitriangular"));
  SOLSTICE_TRY(const bool transpose, call.flag("transpose"));
  if (transpose && t.a.rank() >= 2) {
    std::swap(t.a.axes[t.a.axes.size() - 1], t.a.axes[t.a.axes.size() - 2]);
    t.upper = !t.upper;
  }
  if (call.out_used(1)) return call.unsupported("the copy of the coefficients as a result");
  return yield_solution(call, 0, std::move(t));
}

}  // namespace

const RuleGroup kSolveRules = {
    "solve",
    {
        {"aten.linalg_solve_triangular.default", solve_triangular},
        {"aten.triangular_solve.default", triangular_solve},
    },
};

}  // namespace solstice::importer
