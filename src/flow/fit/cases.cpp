#include "flow/fit/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>

#include "base/dtype.h"
#include "base/file.h"
#include "ir/bind.h"
#include "ir/rewrite/driver.h"
#include "lang/parse.h"
#include "lang/print.h"
#include "numerics/policy.h"
#include "propose/expert.h"
#include "propose/formulation/plan.h"

namespace solstice::flow {
namespace {

Status read_word(const std::string& word, FitCase& out) {
  const size_t at = word.find('=');
  const std::string key = word.substr(0, at), value = at == std::string::npos ? "" : word.substr(at + 1);
  int64_t extent = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), extent);
  if (key == "dtype" && dtype_from_name(value)) {
    out.dtype = value;
  } else if (key == "numerics" && numerics::policy_from_name(value)) {
    out.numerics = value;
  } else if (key == "cut" && value == "all") {
    out.all_cuts = true;
  } else if (parsed.ec == std::errc() && parsed.ptr == value.data() + value.size() && extent > 0) {
    out.dims.emplace_back(key, extent);
  } else {
    return fail(Code::bad_argument, fmt::format("`{}` is not one of DIM=VALUE, dtype=T, numerics=P, cut=all", word));
  }
  return success();
}

Result<FitCase> read_case(const std::string& line, const std::filesystem::path& folder) {
  std::istringstream words(line);
  FitCase out;
  for (std::string word; words >> word;) {
    if (out.problem.empty()) {
      out.file = folder / (word + ".ucut");
    } else {
      SOLSTICE_CHECK(read_word(word, out));
    }
    if (!word.starts_with("cut=")) out.problem += (out.problem.empty() ? "" : " ") + word;
  }
  return out;
}

// The case's program: its dims, and its type in place of f32.
Result<ir::BoundText> problem_of(const FitCase& one) {
  SOLSTICE_TRY(const std::string text, read_file(one.file));
  SOLSTICE_TRY(const ir::BoundText written, ir::bound_text(text, one.file.string()));
  for (const auto& [name, value] : one.dims) {
    const auto is_it = [&name = name](const ir::Dim& dim) { return dim.name == name; };
    if (std::none_of(written.program.dims.begin(), written.program.dims.end(), is_it)) {
      return fail(Code::bad_argument,
                  fmt::format("`{}`: {} has no dim `{}`", one.problem, one.file.filename().string(), name));
    }
  }
  lang::Program tree = lang::with_dims(written.tree, one.dims);
  for (lang::Item& item : tree.items) {
    auto* const declared = std::get_if<lang::Decl>(&item.node);
    if (declared && declared->type.dtype == "f32" && !one.dtype.empty()) declared->type.dtype = one.dtype;
  }
  return ir::bound_text(lang::print(tree), one.file.string());
}

// The cuts beside the planner's own that are different ones: all equations in one kernel, each in a kernel of its own.
std::vector<std::pair<Cut, std::vector<std::vector<int>>>> other_cuts(const ir::Program& program, size_t planned) {
  std::vector<int> all(program.equations.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::pair<Cut, std::vector<std::vector<int>>>> out;
  if (planned > 1) out.push_back({Cut::kOne, {all}});
  if (planned < all.size()) {
    out.push_back({Cut::kEach, {}});
    for (const int equation : all) out.back().second.push_back({equation});
  }
  return out;
}

constexpr double kHopeless =
    20;  // a cut that is predicted to take so many times as long says nothing, and may run for minutes

double cost_of(const propose::Partition& parts) {
  double sum = 0;
  for (const propose::Group& group : parts.groups) sum += group.cost.value;
  return sum;
}

class Scheduler {
 public:
  Scheduler(const FitCase& one, const machine::Machine& machine, ir::BoundText problem)
      : case_(one), machine_(machine), context_{machine_, one.numerics, false}, problem_(std::move(problem)) {}

  Result<std::vector<KernelTime>> run(size_t proposals) {
    SOLSTICE_TRY(const propose::Partition planned, propose::partition(problem_.program, context_));
    SOLSTICE_CHECK(add(Cut::kPlanned, planned, proposals));
    if (!case_.all_cuts) return std::move(out_);
    for (const auto& [cut, groups] : other_cuts(problem_.program, planned.groups.size())) {
      const Result<propose::Partition> parts = propose::cut_as(problem_.program, groups, context_);
      if (parts.ok() && cost_of(*parts) < kHopeless * cost_of(planned))
        SOLSTICE_CHECK(add(cut, *parts, 1));  // no family may take them all
    }
    if (const auto apart = propose::statistics_apart(problem_)) {
      problem_ = *apart;
      SOLSTICE_TRY(const propose::Partition parts, propose::partition(problem_.program, context_));
      SOLSTICE_CHECK(add(Cut::kApart, parts, 1));
    }
    return std::move(out_);
  }

 private:
  Status add(Cut cut, const propose::Partition& parts, size_t proposals) {
    const ir::Program scheduled = propose::apply(problem_.program, parts);
    SOLSTICE_TRY(const std::vector<propose::Axis> axes, propose::axes_of(scheduled, context_));
    const size_t count = axes.size() > 1 ? 1 : std::min(proposals, axes.front().options.size());
    for (size_t i = 0; i < count; ++i) {
      std::vector<propose::Schedule> schedules;
      KernelTime time;
      for (const propose::Axis& axis : axes) {
        schedules.push_back(axis.options[i]);
        time.predicted += axis.predicted[i];
      }
      SOLSTICE_TRY(const lang::Program text,
                   propose::render(problem_.tree, scheduled, schedules, {machine_.name, case_.numerics, false}));
      time.problem = case_.problem;
      time.cut = cut;
      time.program = lang::print(text);
      time.machine = machine_.name;
      out_.push_back(std::move(time));
    }
    return success();
  }

  const FitCase& case_;
  const machine::Machine& machine_;
  propose::PlanningContext context_;
  ir::BoundText problem_;
  std::vector<KernelTime> out_;
};

}  // namespace

Result<std::vector<FitCase>> read_fit_cases(const std::filesystem::path& table, const std::vector<std::string>& only) {
  SOLSTICE_TRY(const std::string text, read_file(table));
  std::vector<FitCase> out;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    Result<FitCase> one = read_case(line, table.parent_path());
    if (!one.ok()) return fail(one.error().code, fmt::format("{}:{}: {}", table.string(), number, one.error().message));
    const auto named = [&](const std::string& part) { return one->problem.find(part) != std::string::npos; };
    if (only.empty() || std::any_of(only.begin(), only.end(), named)) out.push_back(std::move(one).value());
  }
  return out;
}

Result<std::vector<KernelTime>> programs_of(const FitCase& one, const machine::Machine& machine, int proposals) {
  SOLSTICE_TRY(ir::BoundText problem, problem_of(one));
  return Scheduler(one, machine, std::move(problem)).run(static_cast<size_t>(proposals));
}

}  // namespace solstice::flow
