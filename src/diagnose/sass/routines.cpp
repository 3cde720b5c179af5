#include "diagnose/sass/routines.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagnose/sass/operands.h"

namespace solstice::diagnose::sass {
namespace {

// How the compiler's own routines are named: "__cuda_sm20_div_rn_f64_full", "__cuda_sm20_dsqrt_rn_f64_mediumpath_v1".
struct RoutineName {
  std::string_view part, operation;
};
constexpr RoutineName kRoutineNames[] = {
    {"_div_", "division"}, {"_rem_", "remainder"}, {"_rcp_", "reciprocal"}, {"rsqrt_", "rsqrt"}, {"sqrt_", "sqrt"}};
constexpr std::string_view kRoutineFormats[] = {"f32", "f64", "s64", "u64", "s32", "u32", "s16", "u16"};

bool is_routine_label(std::string_view label, const Function& function) {
  return label != function.name && !label.empty() && label.front() != '.';
}

// The part of "$calls$callee" and "$__internal_0_$__cuda_sm20_rcp_rn_f32_slowpath" that says something.
std::string_view short_name(std::string_view label) {
  const size_t dollar = label.rfind('$');
  return dollar == std::string_view::npos || dollar + 1 == label.size() ? label : label.substr(dollar + 1);
}

class RoutineFinder {
 public:
  explicit RoutineFinder(const Function& function) : function_(function), targets_(function) {}

  Routines run() {
    for (const Label& label : function_.labels) {
      if (is_routine_label(label.name, function_) && label.at > 0 && label.at < size()) found_.push_back(label);
    }
    std::vector<int> callees(size(), -1);
    for (size_t i = 0; i < size(); ++i) callees[i] = callee(function_.instructions[i]);
    std::stable_sort(found_.begin(), found_.end(), [](const Label& a, const Label& b) { return a.at < b.at; });
    const auto same = [](const Label& a, const Label& b) { return a.at == b.at; };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    fill(callees);
    return std::move(out_);
  }

 private:
  size_t size() const { return function_.instructions.size(); }

  // The instruction that is called; -1: it is no call, -2: not known, as in a call by register.
  int callee(const Instruction& at) {
    if (base_of(at.opcode) != "CALL") return -1;
    const std::vector<std::string_view> operands = split_operands(at.operands);
    if (operands.size() != 1 || register_of(operands[0].substr(0, operands[0].find('`'))) >= 0) return -2;
    const int target = targets_.of(operands[0]);
    if (target <= 0) return -2;
    found_.push_back({"", static_cast<size_t>(target)});  // a label, if there is one, was found before
    return target;
  }

  void fill(const std::vector<int>& callees) {
    for (const Label& label : found_) {
      const size_t next = out_.starts.size() + 1;
      const size_t end = next < found_.size() ? found_[next].at : size();
      out_.starts.push_back(label.at);
      out_.list.push_back({.name = std::string(short_name(label.name)),
                           .kind = kind_of_routine(label.name),
                           .instructions = static_cast<int64_t>(end - label.at)});
    }
    out_.called.assign(size(), -1);
    for (size_t i = 0; i < size(); ++i) {
      if (callees[i] == -2) out_.called[i] = -2;
      if (callees[i] < 0) continue;
      const auto at = std::lower_bound(out_.starts.begin(), out_.starts.end(), static_cast<size_t>(callees[i]));
      out_.called[i] = static_cast<int>(at - out_.starts.begin());
      ++out_.list[static_cast<size_t>(out_.called[i])].calls;
    }
  }

  const Function& function_;
  Targets targets_;
  std::vector<Label> found_;
  Routines out_;
};

}  // namespace

std::string kind_of_routine(std::string_view name) {
  if (name.find("__cuda_") == std::string_view::npos) return "function";
  for (const RoutineName& known : kRoutineNames) {
    if (name.find(known.part) == std::string_view::npos) continue;
    for (const std::string_view format : kRoutineFormats) {
      if (name.find(format) != std::string_view::npos) return fmt::format("{} {}", known.operation, format);
    }
  }
  return "function";
}

Routines routines_of(const Function& function) { return RoutineFinder(function).run(); }

}  // namespace solstice::diagnose::sass
