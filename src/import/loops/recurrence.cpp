#include "import/loops/recurrence.h"

#include <algorithm>

namespace solstice::importer {
namespace {

class Steps {
 public:
  Steps(const Draft& draft, const Unrolled& loop) : draft_(draft), loop_(loop), state_(loop.period, false) {}

  bool are_linear() {
    // A value that depends on the state is read after it is written, or at the next step: one more pass finds these.
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t p = 0; p < loop_.period; ++p) {
        place_ = p;
        next_read_ = 0;
        state_[p] = state_[p] || degree(equation().rhs) > 0;
        if (!fits_) return false;
      }
    }
    return true;
  }

 private:
  const DraftEquation& equation() const { return draft_.items[loop_.at(0, place_)].equation; }

  // 0: without the state; 1: linear in it. What is neither, or no work element by element, does not fit.
  int degree(const TermRef& term) {
    switch (term->kind) {
      case TermKind::kLiteral:
        return 0;
      case TermKind::kIndex:
        fits_ = fits_ && is_of_loops(term->indices);
        return 0;
      case TermKind::kRead:
        return read(*term);
      case TermKind::kReduce:
        fits_ = false;
        return 0;
      case TermKind::kPrefix:
        return term->text == "-" ? degree(term->args[0]) : free(term->args);
      case TermKind::kBinary:
        return binary(*term);
      case TermKind::kApply:
        return term->text == "select" ? select(*term) : free(term->args);
    }
    return 0;
  }

  int free(const std::vector<TermRef>& args) {
    for (const TermRef& arg : args) fits_ = degree(arg) == 0 && fits_;
    return 0;
  }

  int binary(const Term& term) {
    const int a = degree(term.args[0]), b = degree(term.args[1]);
    if (term.text == "+" || term.text == "-") return std::max(a, b);
    const bool product = (term.text == "*" && a + b < 2) || (term.text == "/" && b == 0);
    fits_ = fits_ && (product || a + b == 0);
    return a + b;
  }

  int select(const Term& term) {
    fits_ = degree(term.args[0]) == 0 && fits_;
    const int yes = degree(term.args[1]);
    return std::max(yes, degree(term.args[2]));
  }

  // The order of reads is that of a visit of the equation, in which indices come before the `else`.
  int read(const Term& term) {
    const Unrolled::Read& known = loop_.places[place_].reads[next_read_++];
    fits_ = fits_ && is_of_loops(term.indices);
    if (term.has_else()) (void)degree(term.args[0]);
    if (known.position < 0) return 0;
    const bool state = known.distance == 1 || state_[static_cast<size_t>(known.position)];
    fits_ = fits_ && (!state || (!term.has_else() && is_own_element(term)));
    return state ? 1 : 0;
  }

  static bool is_of_loops(const std::vector<Index>& indices) {
    return std::all_of(indices.begin(), indices.end(), [](const Index& index) {
      return std::all_of(index.terms.begin(), index.terms.end(),
                         [](const IndexTerm& part) { return part.atom->kind == AtomKind::kLoop; });
    });
  }

  // The indices are those of the left side, which may have constants among them (a result that is stacked).
  bool is_own_element(const Term& term) const {
    std::vector<int> own, there;
    for (const Index& index : equation().lhs) {
      if (const Loop* loop = index.bare()) own.push_back(loop->id);
    }
    for (const Index& index : term.indices) {
      if (const Loop* loop = index.bare()) there.push_back(loop->id);
      if (!index.bare() && !index.is_constant()) return false;
    }
    return own == there;
  }

  const Draft& draft_;
  const Unrolled& loop_;
  std::vector<bool> state_;  // of each place: it depends on the step before
  size_t place_ = 0, next_read_ = 0;
  bool fits_ = true;
};

}  // namespace

bool is_linear_recurrence(const Draft& draft, const Unrolled& loop) {
  if (loop.carried.first != 1) return false;
  for (size_t p = 0; p < loop.period; ++p) {
    const DraftTensor& tensor = draft.tensors[static_cast<size_t>(draft.items[loop.at(0, p)].equation.tensor)];
    if (!is_float(tensor.dtype)) return false;
  }
  return Steps(draft, loop).are_linear();
}

}  // namespace solstice::importer
