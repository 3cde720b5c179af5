#include "propose/formulation/options.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace solstice::propose {
namespace {

bool can_run(const families::Family& family, const ir::Program& program, const ir::Kernel& kernel) {
  if (!family.available || !family.match || !family.propose) return false;
  const families::Match match = family.match(program, kernel);
  return match.ok && match.built;
}

}  // namespace

Result<std::vector<Option>> options_of(const families::Family& family, const families::Context& context,
                                       ir::Kernel& kernel) {
  kernel.family = std::string(family.name);
  kernel.knobs = {};
  SOLSTICE_TRY(std::vector<families::Proposed> proposed, family.propose(context, kernel));
  std::vector<Option> out;
  for (families::Proposed& one : proposed) out.push_back({{kernel.family, std::move(one.knobs)}, one.time});
  return out;
}

std::vector<Option> options_of_others(const families::Family& but, const families::Context& context, ir::Kernel& kernel,
                                      Seconds most) {
  std::vector<Option> out;
  for (const families::Family* other : families::all_families()) {
    if (other == &but || !can_run(*other, context.program, kernel)) continue;
    const Result<std::vector<Option>> more = options_of(*other, context, kernel);
    if (!more.ok()) continue;  // it matches but has no legal setting here
    std::copy_if(more->begin(), more->end(), std::back_inserter(out), [&](const Option& o) { return o.time <= most; });
  }
  return out;
}

}  // namespace solstice::propose
