// One way to compute the problem: equations, cut into kernels, and the schedules of each kernel that are worth trying.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/rewrite/driver.h"
#include "propose/cut/partition.h"
#include "propose/cut/recut.h"
#include "propose/cut/render.h"
#include "propose/formulation/rewriting.h"
#include "record/fact.h"

namespace solstice::propose {

// The schedules of one kernel worth trying, of every family that can run it, best first by their cost models.
struct Axis {
  std::string kernel;
  std::vector<Schedule> options;
  std::vector<Seconds> predicted;  // of each option
};

// The schedules of every kernel of `scheduled` (a program that apply() made).
Result<std::vector<Axis>> axes_of(const ir::Program& scheduled, const PlanningContext& context);

// The option of each axis.
using Choice = std::vector<size_t>;
// A choice as the text of a candidate.
using Render = std::function<Result<std::string>(const std::vector<Axis>&, const Choice&)>;

// The equations to compute, and the machine and policy to compute them for.
struct Equations {
  std::shared_ptr<const ir::BoundText> text;
  PlanningContext context;  // its machine outlives this
  // Answers about groups of equations, whatever cut they are in: each is asked for once.
  mutable Assessed assessed = {};
  mutable std::map<std::vector<int>, Axis> axes = {};
  mutable std::unordered_map<std::string, Axis> alike = {};  // by family and form (cut/form.h)
  mutable std::map<std::vector<int>, Structure> structures = {};
  Derivation from = {};  // where the text came from
};

struct Formulation {
  std::string label = {};  // "" the problem's own equations, else "rewritten by factor_sums"
  std::vector<Axis> axes = {};
  Render render = {};
  std::shared_ptr<const Equations> equations = {};    // null where there is no other cut
  Partition cut = {};                                 // of them; a group for each axis
  std::shared_ptr<const ir::Program> scheduled = {};  // the cut applied
  std::vector<Structure> structures = {};             // of each axis' kernel; none where nobody knows

  std::vector<std::string> settings_of(const Choice& choice) const;
  // Nothing where a kernel has another name or no longer such a setting.
  std::optional<Choice> choice_of(const std::vector<std::string>& settings) const;
  Seconds predicted(const Choice& choice) const;
};

// Once `stop` says so, the kernels that are left have the settings that their families choose, and no others.
Result<Formulation> formulate(std::shared_ptr<const Equations> equations, Partition cut, const StopTest& stop = {});

// The cuts that differ in one step.
std::vector<Recut> recuts(const Formulation& from);

// A cut by the numbers of its equations, "0 1 | 2", as the tree keeps it.
std::string cut_text(const Partition& cut);
// Errors: bad_argument where it is no cut of this problem; those of cut_as().
Result<Partition> parse_cut(const std::string& text, const Equations& equations);

}  // namespace solstice::propose
