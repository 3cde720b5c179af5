#include "import/closed/decisions.h"

#include <algorithm>

#include "import/closed/rounding.h"

namespace solstice::importer {
namespace {

bool is_narrow(DType dtype) { return is_float(dtype) && size_of(dtype) <= 2; }

// An extremum is one of its operands; sums and products are not.
bool is_extremum(const Term& term) { return term.text == "max" || term.text == "min"; }
bool reduces(const TermRef& term) {
  return (term->kind == TermKind::kReduce && !is_extremum(*term)) || any_child(*term, reduces);
}

// It yields one of the values that it reads, up to the sign, which needs no rounding of its own.
bool only_chooses(const TermRef& term) {
  if (term->kind == TermKind::kRead) return !term->has_else() || only_chooses(term->args[0]);
  if (term->kind == TermKind::kPrefix) return only_chooses(term->args[0]);
  if (term->kind == TermKind::kLiteral) return term->text == "0" || term->text == "1" || term->text == "inf";
  if (term->kind == TermKind::kReduce) return is_extremum(*term) && only_chooses(term->args[0]);
  const bool chooses =
      term->kind == TermKind::kApply && (term->text == "select" || term->text == "relu" || is_extremum(*term));
  const auto first = term->args.begin() + (term->text == "select" ? 1 : 0);
  return chooses && std::all_of(first, term->args.end(), only_chooses);
}

// A cast to a format that keeps most digits decides nothing: it is off by no more than its operand is.
bool decides_here(const Term& term) {
  const auto cast = dtype_from_name(term.text);
  return is_jump(term) && !(cast && is_float(*cast) && size_of(*cast) >= 2);
}

class DecisionRounding {
 public:
  DecisionRounding(Draft& draft, const std::vector<bool>& results)
      : draft_(draft), results_(results), reached_(results.size(), false), rounded_(reached_) {}

  void run() {
    for (auto item = draft_.items.rbegin(); item != draft_.items.rend(); ++item) {
      if (item->is_equation()) visit(item->equation);
    }
    for (DraftItem& item : draft_.items) {
      if (item.is_equation()) round(item.equation);
    }
  }

 private:
  // Readers stand behind what they read, so the reasons to round a tensor are known before its equations are met.
  void visit(const DraftEquation& equation) {
    const auto target = static_cast<size_t>(equation.tensor);
    const bool passes = (reached_[target] || rounded_[target]) && !reduces(equation.rhs);
    mark(equation.rhs, nullptr, false, passes);
  }

  void mark(const TermRef& term, const Term* above, bool decides, bool passes) {
    if (term->kind == TermKind::kRead) {
      const auto id = static_cast<size_t>(term->tensor);
      const bool is_cast = above && above->text == name_of(draft_.tensors[id].dtype);
      reached_[id] = reached_[id] || decides || passes;
      rounded_[id] = rounded_[id] || passes || (decides && !is_cast);
    }
    any_child(*term, [&](const TermRef& below) {
      mark(below, term.get(), decides || decides_here(*term), passes);
      return false;
    });
  }

  void round(DraftEquation& equation) const {
    const auto target = static_cast<size_t>(equation.tensor);
    const DType dtype = draft_.tensors[target].dtype;
    if (!rounded_[target] || !results_[target] || !is_narrow(dtype) || only_chooses(equation.rhs)) return;
    const std::string cast(name_of(dtype));
    if (equation.rhs->kind == TermKind::kApply && equation.rhs->text == cast) return;
    equation.rhs = apply(cast, {equation.rhs});
  }

  Draft& draft_;
  const std::vector<bool>& results_;
  std::vector<bool> reached_;  // a decision reads it, or is computed from it
  std::vector<bool> rounded_;  // a decision reads it uncast, or an operation on the way to one does
};

}  // namespace

void round_decided(Draft& draft, const std::vector<bool>& results) { DecisionRounding(draft, results).run(); }

}  // namespace solstice::importer
