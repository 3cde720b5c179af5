#include "pytorch/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ir/walk_distinct.h"
#include "pytorch/value.h"

namespace solstice::pytorch {
namespace {

constexpr const char* kWords[] = {"False",   "None",     "True",     "and",    "as",       "assert", "async",  "await",
                                  "break",   "class",    "continue", "def",    "del",      "elif",   "else",   "except",
                                  "finally", "for",      "from",     "global", "if",       "import", "in",     "is",
                                  "lambda",  "nonlocal", "not",      "or",     "pass",     "raise",  "return", "try",
                                  "while",   "with",     "yield",    "self",   "torch",    "F",      "device", "range",
                                  "float",   "min",      "max",      "int",    "reversed", "Model"};

// Where rounding decides a result, products are not rounded to their operands' format on the way.
bool decides(const ir::Expr& e) {
  switch (e.op) {
    case ir::Op::kLt:
    case ir::Op::kLe:
    case ir::Op::kEq:
    case ir::Op::kNe:
    case ir::Op::kGe:
    case ir::Op::kGt:
    case ir::Op::kFmod:
    case ir::Op::kRemainder:
    case ir::Op::kFloorDivide:
      return std::any_of(e.args.begin(), e.args.end(), [](const auto& a) { return a->kind == ir::ValueKind::kReal; });
    case ir::Op::kFloor:
    case ir::Op::kCeil:
    case ir::Op::kRound:
    case ir::Op::kTrunc:
    case ir::Op::kRank:
      return true;
    case ir::Op::kCast:
      return !is_float(e.dtype);
    case ir::Op::kReduce:
      return e.reducer == ir::Reducer::kArgMax || e.reducer == ir::Reducer::kArgMin;
    default:
      return false;
  }
}

bool is_wide(const ir::Tensor& t) {
  return t.kind == ir::TensorKind::kOutput && t.dtype && is_float(*t.dtype) && size_of(*t.dtype) > 2;
}

bool narrow_products(const ir::Program& program) {
  bool out = std::none_of(program.tensors.begin(), program.tensors.end(), is_wide);
  for (const ir::Equation& e : program.equations)
    ir::walk_distinct(e.rhs, [&](const ir::Expr& x) { out = out && !decides(x); });
  return out;
}

}  // namespace

Body::Body(const ir::Program& program) : program_(program) {
  taken_.insert(std::begin(kWords), std::end(kWords));
  for (const ir::Tensor& t : program.tensors) {
    names_.push_back(fresh(t.name));
    if (t.dtype == DType::kF64) real_ = DType::kF64;
  }
  keeps_narrow_ = narrow_products(program);
}

std::string Body::fresh(std::string wanted) {
  for (char& c : wanted) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (wanted.empty() || std::isdigit(static_cast<unsigned char>(wanted[0]))) wanted = "_" + wanted;
  while (!taken_.insert(wanted).second) wanted += "_";
  return wanted;
}

DType Body::stored_as(int tensor) const {
  const ir::Tensor& t = program_.tensor(tensor);
  if (t.dtype) return *t.dtype;
  if (t.value == ir::ValueKind::kReal) return real_;
  return t.value == ir::ValueKind::kInt ? DType::kI64 : DType::kBool;
}

std::string Body::temporary(const std::string& text) {
  const std::string name = fresh(fmt::format("t{}", ++temporaries_));
  line(fmt::format("{} = {}", name, text));
  return name;
}

std::string Body::range(int64_t extent) {
  const auto found = ranges_.find(extent);
  if (found != ranges_.end()) return found->second;
  uses_device_ = true;
  return ranges_[extent] = fresh(fmt::format("i{}", extent));
}

std::vector<std::string> Body::opening() const {
  std::vector<std::string> out;
  if (!uses_device_) return out;
  const auto first = std::find_if(program_.tensors.begin(), program_.tensors.end(), is_given);
  out.push_back(first == program_.tensors.end()
                    ? "device = None"
                    : fmt::format("device = {}.device", names_[static_cast<size_t>(first - program_.tensors.begin())]));
  for (const auto& [extent, name] : ranges_)
    out.push_back(fmt::format("{} = torch.arange({}, device=device)", name, extent));
  return out;
}

}  // namespace solstice::pytorch
