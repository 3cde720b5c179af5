// Expressions to text, with the fewest brackets. Arithmetic is spaced where it makes values (`a + b * c`) and
// tight where it makes indices and bounds (`2*p+r-1`).
#include "lang/print.h"

namespace solstice::lang {
namespace {

// Levels of the grammar: an operand of a lower level than its place wants is bracketed.
enum Level {
  kOrLevel = 1,
  kAndLevel,
  kNotLevel,
  kCompareLevel,
  kSumLevel,
  kProductLevel,
  kNegLevel,
  kPowLevel,
  kAtomLevel
};

Level level_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kOr:
      return kOrLevel;
    case BinaryOp::kAnd:
      return kAndLevel;
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
      return kSumLevel;
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod:
      return kProductLevel;
    case BinaryOp::kPow:
      return kPowLevel;
  }
  return kAtomLevel;
}

Level level_of(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kBinary:
      return level_of(e.binary);
    case ExprKind::kCompare:
      return kCompareLevel;
    case ExprKind::kNot:
      return kNotLevel;
    case ExprKind::kNeg:
      return kNegLevel;
    case ExprKind::kInt:
      return e.integer < 0 ? kNegLevel : kAtomLevel;
    default:
      return kAtomLevel;
  }
}

std::string text(const ExprRef& e, Level wanted, bool tight);

std::string list(const std::vector<ExprRef>& expressions, std::string_view separator, bool tight) {
  std::string out;
  for (const ExprRef& e : expressions) {
    if (!out.empty()) out += separator;
    out += text(e, kOrLevel, tight);
  }
  return out;
}

std::string binary_text(const Expr& e, bool tight) {
  const Level level = level_of(e.binary);
  Level left = level;
  Level right = static_cast<Level>(level + 1);
  if (e.binary == BinaryOp::kPow) {
    left = kAtomLevel;
    right = kNegLevel;
  }
  const bool word = e.binary == BinaryOp::kOr || e.binary == BinaryOp::kAnd;
  const bool always_tight = e.binary == BinaryOp::kPow || e.binary == BinaryOp::kFloorDiv || e.binary == BinaryOp::kMod;
  const std::string space = word || (!tight && !always_tight) ? " " : "";
  return text(e.args[0], left, tight) + space + std::string(symbol_of(e.binary)) + space +
         text(e.args[1], right, tight);
}

std::string compare_text(const Expr& e) {
  std::string out = text(e.args[0], kSumLevel, true);
  for (size_t i = 0; i < e.compares.size(); ++i) {
    out += " " + std::string(symbol_of(e.compares[i])) + " " + text(e.args[i + 1], kSumLevel, true);
  }
  return out;
}

std::string binder_text(const Range& r) { return r.extent ? r.name + "<" + text(r.extent, kSumLevel, true) : r.name; }

std::string reduce_text(const Expr& e) {
  std::string out = e.text + "[";
  for (size_t i = 0; i < e.binders.size(); ++i) out += (i ? "," : "") + binder_text(e.binders[i]);
  if (e.where) out += " where " + text(e.where, kOrLevel, true);
  return out + "](" + text(e.args[0], kOrLevel, false) + ")";
}

std::string read_text(const Expr& e) {
  std::string out = e.text + "[" + list(e.args, ",", true);
  if (e.otherwise) out += " else " + text(e.otherwise, kOrLevel, true);
  return out + "]";
}

std::string bare(const Expr& e, bool tight) {
  switch (e.kind) {
    case ExprKind::kInt:
      return std::to_string(e.integer);
    case ExprKind::kNumber:
    case ExprKind::kName:
      return e.text;
    case ExprKind::kRead:
      return read_text(e);
    case ExprKind::kReduce:
      return reduce_text(e);
    case ExprKind::kRank:
      return e.text + "[" + binder_text(e.binders[0]) + "; " + text(e.args[1], kOrLevel, true) + "](" +
             text(e.args[0], kOrLevel, false) + ")";
    case ExprKind::kApply:
      return e.text + "(" + list(e.args, ", ", tight) + ")";
    case ExprKind::kNeg:
      return "-" + text(e.args[0], kNegLevel, tight);
    case ExprKind::kNot:
      return "not " + text(e.args[0], kNotLevel, tight);
    case ExprKind::kBinary:
      return binary_text(e, tight);
    case ExprKind::kCompare:
      return compare_text(e);
  }
  return "";
}

std::string text(const ExprRef& e, Level wanted, bool tight) {
  if (!e) return "";
  std::string out = bare(*e, tight);
  return level_of(*e) < wanted ? "(" + out + ")" : out;
}

}  // namespace

std::string_view symbol_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kOr:
      return "or";
    case BinaryOp::kAnd:
      return "and";
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSub:
      return "-";
    case BinaryOp::kMul:
      return "*";
    case BinaryOp::kDiv:
      return "/";
    case BinaryOp::kFloorDiv:
      return "//";
    case BinaryOp::kMod:
      return "%";
    case BinaryOp::kPow:
      return "**";
  }
  return "";
}

std::string_view symbol_of(CompareOp op) {
  switch (op) {
    case CompareOp::kLt:
      return "<";
    case CompareOp::kLe:
      return "<=";
    case CompareOp::kEq:
      return "==";
    case CompareOp::kNe:
      return "!=";
    case CompareOp::kGe:
      return ">=";
    case CompareOp::kGt:
      return ">";
  }
  return "";
}

std::string print(const ExprRef& expression) { return text(expression, kOrLevel, false); }

std::string print_tight(const ExprRef& expression) { return text(expression, kSumLevel, true); }

}  // namespace solstice::lang
