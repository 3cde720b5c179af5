#include "import/draft/finite.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/dtype.h"

namespace solstice::importer {
namespace {

class Search {
 public:
  explicit Search(const Draft& draft) : draft_(draft) {}

  bool found(const TermRef& term) {
    if (is_truth(*term)) return false;
    switch (term->kind) {
      case TermKind::kIndex:
        return false;
      case TermKind::kLiteral:
        return term->text == "inf";
      case TermKind::kRead:
        return found_in(term->tensor) || any(*term);
      case TermKind::kBinary:
        return binary(*term);
      case TermKind::kApply:
        return apply(*term);
      case TermKind::kPrefix:
      case TermKind::kReduce:
        return any(*term);
    }
    return true;
  }

 private:
  bool any(const Term& term) {
    return std::any_of(term.args.begin(), term.args.end(), [&](const TermRef& arg) { return found(arg); });
  }

  bool found_in(int tensor) {
    if (!seen_.insert(tensor).second) return false;
    return std::any_of(draft_.items.begin(), draft_.items.end(), [&](const DraftItem& item) {
      return item.is_equation() && item.equation.tensor == tensor && found(item.equation.rhs);
    });
  }

  static bool is_nonzero(const Term& term) {
    return term.kind == TermKind::kLiteral && term.text != "0" && term.text != "inf" && term.text != "false";
  }

  bool binary(const Term& term) {
    if ((term.text == "/" || term.text == "**") && !is_nonzero(*term.args[1])) return true;
    return any(term);
  }

  bool apply(const Term& term) {
    static const std::set<std::string> kUnbounded = {"exp", "expm1", "log", "log1p", "sqrt", "rsqrt"};
    static const std::set<std::string> kQuotients = {"fmod", "remainder", "floor_divide"};
    const auto dtype = dtype_from_name(term.text);
    if (dtype && is_integer(*dtype)) return false;
    if (term.text == "select") return found(term.args[1]) || found(term.args[2]);
    if (kQuotients.count(term.text) && !is_nonzero(*term.args[1])) return true;
    return kUnbounded.count(term.text) > 0 || any(term);
  }

  const Draft& draft_;
  std::set<int> seen_;
};

}  // namespace

bool may_be_infinite(const Draft& draft, const TermRef& term) { return Search(draft).found(term); }

}  // namespace solstice::importer
