#include "families/tensor_core/row_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"

namespace solstice::families::tensor_core {
namespace {

using codegen::CType;
using ir::ExprRef;
using ir::Op;

// Something but reductions' results and constants occurs.
bool reads_row(const ExprRef& e) {
  if (e->op == Op::kReduce) return false;
  return e->op == Op::kRead || e->op == Op::kIndex || std::any_of(e->args.begin(), e->args.end(), reads_row);
}

bool uses_result(const ExprRef& e) {
  return e->op == Op::kReduce || std::any_of(e->args.begin(), e->args.end(), uses_result);
}

class Planner {
 public:
  Planner(const ir::Program& program, const Product& c, const codegen::EpilogueRows& rows)
      : program_(program), c_(c), rows_(rows) {}

  Result<RowResults> run() {
    out_.shape = shape_of_rows(program_, c_, rows_.flat, rows_.canonical);
    out_.parts = ceil_div(c_.n, kPartColumns);
    const auto found = reduction::online_reductions_of(out_.shape, reduction::phases_of(out_.shape, false));
    if (!found.ok()) {
      return refuse(
          "a reduction that needs another one's result and is neither a sum of exp(x - max) nor of (x - mean)^2, "
          "or an arg-reduction");
    }
    for (const ExprRef& r : found->first) SOLSTICE_CHECK(add(r, std::nullopt));
    for (const reduction::Corrected& c : found->second) SOLSTICE_CHECK(add(c.reduction, c));
    return std::move(out_);
  }

 private:
  Error refuse(const std::string& what) const {
    return fail(Code::not_yet, fmt::format("`{}` holds {}; a product's kernel does not reduce that",
                                           program_.tensor(rows_.flat.equations.front().target).name, what));
  }

  size_t value_of(const ExprRef& e) {
    const auto known = std::find(out_.terms.begin(), out_.terms.end(), e);
    if (known == out_.terms.end()) out_.terms.push_back(e);
    return static_cast<size_t>(std::find(out_.terms.begin(), out_.terms.end(), e) - out_.terms.begin());
  }

  Status add(const ExprRef& r, std::optional<reduction::Corrected> corrected) {
    if (r->args.size() > 1) return refuse("a reduction under a condition");
    const ExprRef& term = r->args[0];
    if (term->kind != ir::ValueKind::kReal) return refuse("a reduction of integers or booleans");
    const bool wide = term->op == Op::kCast && term->dtype == DType::kF64;
    RowReduction found;
    found.node = r;
    SOLSTICE_TRY(found.row, reduction::reduction_of(*r, wide ? CType::kF64 : CType::kF32));
    if (found.row.ranked) return refuse("an arg-reduction");
    const bool rounds = found.row.op == "Sum" || found.row.op == "Prod";
    if (rounds) found.row.type = "double", found.row.wide = !wide;
    found.row.name = fmt::format("r{}", out_.reductions.size());
    found.corrected = std::move(corrected);
    if (!found.corrected) {
      found.value = value_of(without_casts(term));
    } else if (found.corrected->correction == reduction::Correction::kSquares) {
      found.value = value_of(without_casts(term->args[0]->args[0]));
      const auto first = std::find_if(out_.reductions.begin(), out_.reductions.end(),
                                      [&](const RowReduction& f) { return f.node == found.corrected->sum; });
      found.sum = static_cast<size_t>(first - out_.reductions.begin());
    } else {
      if (reads_row(found.corrected->center)) return refuse("exponentials around more than a maximum");
      const ExprRef exponential = take_factors(term, found);
      found.value = value_of(without_casts(exponential->args[0]->args[0]));
    }
    out_.reductions.push_back(std::move(found));
    return success();
  }

  // The exp(x - m) of a product: the one factor that uses a reduction's result.
  ExprRef take_factors(const ExprRef& term, RowReduction& found) {
    if (term->op != Op::kMul) return term;
    const size_t inside = uses_result(term->args[0]) ? 0 : 1;
    found.factors.push_back(value_of(term->args[1 - inside]));
    return take_factors(term->args[inside], found);
  }

  const ir::Program& program_;
  const Product& c_;
  const codegen::EpilogueRows& rows_;
  RowResults out_;
};

}  // namespace

Result<RowResults> row_results(const ir::Program& program, const Product& c, const codegen::EpilogueRows& rows) {
  return Planner(program, c, rows).run();
}

Result<std::string> center_text(const ir::Program& program, const RowResults& rows, const RowReduction& row,
                                const ResultText& given, std::string& before) {
  codegen::Interner indices = rows.shape.flat.indices;
  codegen::Emitter emitter(program, indices);
  emitter.set_hook([&](codegen::Emitter&, const ExprRef& node) -> Result<std::optional<codegen::Value>> {
    for (const RowReduction& f : rows.reductions) {
      if (f.node == node) return std::optional(emitter.variable(f.row.value_type, given(f), 0));
    }
    return std::optional<codegen::Value>();
  });
  SOLSTICE_TRY(const codegen::Value center, emitter.emit(row.corrected->center));
  const std::string text = emitter.convert(center, CType::kF32).text;
  before += emitter.take(0);
  return text;
}

namespace {

// Partial result number `i` of a part, into `found.f<i>`.
Result<std::string> part_text(const ir::Program& program, const RowResults& rows, size_t i, size_t first_value) {
  const RowReduction& f = rows.reductions[i];
  const size_t value = first_value + f.value;
  if (!f.corrected)
    return fmt::format("found.f{} = epilogue::reduced<reduction::{}, kLanes, {}>(values, inside);\n", i, f.row.op,
                       value);
  if (f.corrected->correction == reduction::Correction::kSquares)
    return fmt::format(
        "found.f{} = epilogue::squares_around<kLanes, {}>(found.f{} * epilogue::share_of(count), values, inside);\n", i,
        value, f.sum);
  std::string before, factors = "1.f";
  const auto own = [&](const RowReduction& of) {
    return fmt::format("reduction::center_of(found.f{})", &of - rows.reductions.data());
  };
  SOLSTICE_TRY(const std::string center, center_text(program, rows, f, own, before));
  for (const size_t factor : f.factors) factors += fmt::format(" * values[i][{}]", first_value + factor);
  return fmt::format(
      "{{\n{}found.f{} = epilogue::exponentials_around<kLanes, {}>({}, values, inside, [&](int i) {{ return {}; "
      "}});\n}}\n",
      before, i, value, center, f.factors.empty() ? "1.f" : factors);
}

}  // namespace

std::string finder_text(const ir::Program& program, const Product& c, const RowResults& rows, size_t first_value) {
  std::string fields, finds, keeps;
  for (size_t i = 0; i < rows.reductions.size(); ++i) {
    fields += fmt::format("float f{};\n", i);
    finds += part_text(program, rows, i, first_value).value();
    keeps += fmt::format("at[i64({})] = found.f{};\n", static_cast<int64_t>(i) * rows.parts * rows.shape.row_count, i);
  }
  return fmt::format(
      "static constexpr bool kWholeParts = {};\nstruct Found {{\n{}}};\n\ntemplate <int kLanes, int kCount>\n"
      "SOLSTICE_DEVICE Found find(const float (&values)[kCount][kValues], const bool (&inside)[kCount], int count) "
      "const {{\n"
      "Found found;\n{}return found;\n}}\n\n"
      "SOLSTICE_DEVICE void keep(int part, int batch, int m, const Found& found) const {{\n"
      "float* const at = parts + (static_cast<i64>(part) * {} + (batch * {} + m));\n{}}}\n",
      c.n % kPartColumns == 0, fields, finds, rows.shape.row_count, c.m, keeps);
}

}  // namespace solstice::families::tensor_core
