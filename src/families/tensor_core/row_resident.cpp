#include "families/tensor_core/row_resident.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "codegen/short_values.h"
#include "codegen/text/marks.h"

namespace solstice::families::tensor_core {
namespace {

using codegen::CType;
using codegen::Emitter;
using codegen::FlatEquation;
using codegen::Value;
using ir::ExprRef;
using ir::Op;

struct Found {
  ExprRef node;
  size_t sweep = 0;
  reduction::Reduction row;
};

class RowResidentPlanner {
 public:
  RowResidentPlanner(const ir::Program& program, const Product& c, const codegen::ResidentEpilogue& epilogue)
      : program_(program), c_(c), epilogue_(epilogue) {}

  Result<RowResident> run() {
    out_.shape = shape_of_rows(program_, c_, epilogue_.flat, epilogue_.canonical);
    const reduction::Phases phases = reduction::phases_of(out_.shape, false);
    for (const reduction::Sweep& sweep : phases.sweeps) {
      if (sweep.reductions.empty()) continue;
      for (const ExprRef& r : sweep.reductions) SOLSTICE_CHECK(add(r));
      ++reducing_;
    }
    short_ = codegen::short_values_of(program_, out_.shape.flat);
    for (size_t s = 0; s <= reducing_; ++s) SOLSTICE_CHECK(emit_sweep(s));
    SOLSTICE_CHECK(emit_rows());
    return std::move(out_);
  }

 private:
  Error refuse(const std::string& what) const {
    return fail(Code::not_yet, fmt::format("`{}` holds {}; a product's kernel does not reduce that",
                                           program_.tensor(epilogue_.flat.equations.front().target).name, what));
  }

  Status add(const ExprRef& r) {
    if (r->args.size() > 1) return refuse("a reduction under a condition");
    if (r->args[0]->kind != ir::ValueKind::kReal) return refuse("a reduction of integers or booleans");
    const bool wide = r->args[0]->op == Op::kCast && r->args[0]->dtype == DType::kF64;
    Found found{r, reducing_, {}};
    SOLSTICE_TRY(found.row, reduction::reduction_of(*r, wide ? CType::kF64 : CType::kF32));
    if (found.row.ranked) return refuse("an arg-reduction");
    found.row.name = fmt::format("r{}", found_.size());
    found_.push_back(std::move(found));
    return success();
  }

  bool is_accumulator(const ExprRef& e) const { return e->op == Op::kRead && e->id == epilogue_.accumulator; }

  // The accumulator is needed for `e`, even where `kept` is known.
  bool reaches(const ExprRef& e, const ir::Expr* kept) const {
    if (e.get() == kept || e->op == Op::kReduce) return false;
    return is_accumulator(e) ||
           std::any_of(e->args.begin(), e->args.end(), [&](const ExprRef& arg) { return reaches(arg, kept); });
  }

  // `e` needs results of sweeps before number s alone.
  bool is_known(const ExprRef& e, size_t s) const {
    if (e->op == Op::kReduce)
      return std::any_of(found_.begin(), found_.end(), [&](const Found& f) { return f.node == e && f.sweep < s; });
    return std::all_of(e->args.begin(), e->args.end(), [&](const ExprRef& arg) { return is_known(arg, s); });
  }

  std::vector<ExprRef> terms_of(size_t s) const {
    std::vector<ExprRef> out;
    for (const Found& f : found_) {
      if (f.sweep == s) out.push_back(without_casts(f.node->args[0]));
    }
    return out;
  }

  // Values that later sweeps compute from the accumulator.
  std::vector<ExprRef> later_than(size_t s) const {
    std::vector<ExprRef> out;
    for (const Found& f : found_) {
      if (f.sweep > s) out.push_back(f.node->args[0]);
    }
    for (size_t k = 0; k < out_.shape.flat.equations.size(); ++k) {
      if (!epilogue_.of_rows[k]) out.push_back(out_.shape.flat.equations[k].rhs);
    }
    return out;
  }

  // The outermost value below the sweep's terms that later sweeps can do with instead of the accumulator; none: null.
  ExprRef kept_of(size_t s) const {
    const std::vector<ExprRef> later = later_than(s);
    const auto search = [&](const auto& self, const ExprRef& e) -> ExprRef {
      if (e->op == Op::kReduce || is_accumulator(e) || !reaches(e, nullptr)) return nullptr;
      const auto suffices = [&](const ExprRef& root) { return !reaches(root, e.get()); };
      if (e->kind == ir::ValueKind::kReal && is_known(e, s) && std::all_of(later.begin(), later.end(), suffices))
        return e;
      for (const ExprRef& arg : e->args) {
        if (ExprRef found = self(self, arg)) return found;
      }
      return nullptr;
    };
    for (const ExprRef& term : terms_of(s)) {
      if (ExprRef found = search(search, term)) return found;
    }
    return nullptr;
  }

  // With the results of sweeps before number s, at depth 0.
  void begin(Emitter& emitter, size_t s) {
    emitter.set_short_values(short_);
    codegen::bind_variable(emitter, program_, out_.shape.flat, "batch", epilogue_.digits[0], 0);
    codegen::bind_variable(emitter, program_, out_.shape.flat, "m", epilogue_.digits[1], 0);
    emitter.set_hook([this, s](Emitter& e, const ExprRef& node) -> Result<std::optional<Value>> {
      if (node == kept_ || is_accumulator(node)) return std::optional(e.variable(CType::kF32, "acc", 2));
      for (const Found& f : found_) {
        if (f.node == node && f.sweep < s) return std::optional(e.variable(f.row.value_type, f.row.name, 0));
      }
      return std::optional<Value>();
    });
  }

  std::string results_text(size_t s) const {
    std::string out;
    for (size_t i = 0; i < found_.size(); ++i) {
      if (found_[i].sweep < s)
        out += fmt::format("const {0} r{1} = static_cast<{0}>(results[{1}]);\n",
                           codegen::name_of(found_[i].row.value_type), i);
    }
    return out;
  }

  void take_reads(const Emitter& emitter) {
    for (const int id : emitter.tensors_read()) {
      if (std::find(out_.reads.begin(), out_.reads.end(), id) != out_.reads.end()) continue;
      out_.reads.push_back(id);
      out_.names.push_back(emitter.pointer_name(id));
    }
  }

  Status emit_sweep(size_t s) {
    Emitter emitter(program_, out_.shape.flat.indices);
    begin(emitter, s);
    emitter.push();
    codegen::bind_variable(emitter, program_, out_.shape.flat, "n", epilogue_.digits[2], 1);
    emitter.push();
    ResidentSweep sweep;
    ExprRef kept;
    if (s < reducing_) {
      for (const Found& f : found_) {
        if (f.sweep != s) continue;
        sweep.reductions.push_back(f.row);
        SOLSTICE_TRY(const Value value, emitter.emit(without_casts(f.node->args[0])));
        sweep.values.push_back(emitter.convert(value, CType::kF32).text);
      }
      kept = kept_of(s);
      if (kept == kept_) kept = nullptr;
      if (kept) {
        SOLSTICE_TRY(const Value value, emitter.emit(kept));
        if (value.type == CType::kF32)
          sweep.kept = value.text;
        else
          kept = nullptr;
      }
    } else {
      for (size_t k = 0; k < out_.shape.flat.equations.size(); ++k) {
        if (epilogue_.of_rows[k]) continue;
        SOLSTICE_TRY(const Value value, emitter.emit(out_.shape.flat.equations[k].rhs));
        sweep.values.push_back(value.text);
      }
    }
    const std::vector<codegen::Statement> load = emitter.take_statements(1), element = emitter.take_statements(2);
    std::set<std::string> used(sweep.values.begin(), sweep.values.end());
    used.insert(sweep.kept);
    codegen::add_operands(element, used);
    sweep.fields = codegen::fields_of(load, used);
    sweep.load = codegen::text_of(load);
    sweep.element = codegen::text_of(element);
    sweep.row = results_text(s) + emitter.take(0);
    take_reads(emitter);
    if (kept) kept_ = kept;
    out_.sweeps.push_back(std::move(sweep));
    return success();
  }

  Status emit_rows() {
    Emitter emitter(program_, out_.shape.flat.indices);
    begin(emitter, found_.size() + 1);
    std::string stores;
    for (size_t k = 0; k < out_.shape.flat.equations.size(); ++k) {
      const FlatEquation& e = out_.shape.flat.equations[k];
      if (!epilogue_.of_rows[k]) continue;
      SOLSTICE_TRY(const Value value, emitter.emit(e.rhs));
      SOLSTICE_TRY(const Emitter::Place to, emitter.place(program_.tensor(e.target), e.lhs));
      stores += codegen::mark(e.equation) +
                fmt::format("store_one(s{} + {}, {});\n", out_.row_writes.size(), to.offset.text, value.text);
      out_.row_names.push_back(fmt::format("s{}", out_.row_writes.size()));
      out_.row_writes.push_back(e.target);
    }
    if (!stores.empty()) out_.row_stores = results_text(found_.size() + 1) + emitter.take(0) + stores;
    take_reads(emitter);
    return success();
  }

  const ir::Program& program_;
  const Product& c_;
  const codegen::ResidentEpilogue& epilogue_;
  RowResident out_;
  std::vector<Found> found_;
  size_t reducing_ = 0;
  codegen::ShortValues short_;
  ExprRef kept_;  // the value that accumulators hold
};

}  // namespace

Result<RowResident> row_resident(const ir::Program& program, const Product& c,
                                 const codegen::ResidentEpilogue& epilogue) {
  return RowResidentPlanner(program, c, epilogue).run();
}

}  // namespace solstice::families::tensor_core
