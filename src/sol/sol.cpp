#include "sol/sol.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"
#include "sol/bounds.h"
#include "sol/practical.h"

namespace solstice::sol {
namespace {

void add_notes(const ir::Program& program, const ir::Count& count, const SolOptions& options, SolReport& report) {
  for (int id : count.opaque) {
    report.notes.push_back(fmt::format("opaque `{}`: its work and bytes are unknown and not counted",
                                       program.opaques[static_cast<size_t>(id)].op));
  }
  const bool exact = std::all_of(count.equations.begin(), count.equations.end(), [](const auto& e) { return e.exact; });
  if (!exact)
    report.notes.push_back(
        "some domains are too large to count exactly: work is an upper bound of the operations, io a lower bound "
        "of the bytes");
  if (options.frozen)
    report.notes.push_back("weights are frozen: io counts no parameter, since they may be prepared at load");
}

}  // namespace

Result<SolReport> analyse(const ir::Program& program, const machine::Machine& machine, const SolOptions& options) {
  const ir::Count count = ir::count(program);
  SolReport report;
  report.program = program.name;
  report.machine = machine.name;
  report.numerics = std::string(numerics::name_of(options.policy));
  report.weights = options.frozen ? "frozen" : "live";
  report.io = io_bound(program, count, machine, options.frozen);
  report.io_warm = warm_io(program, count, machine, options.frozen);
  SOLSTICE_TRY(report.work, work_bound(program, count, machine, options));
  SOLSTICE_TRY(report.practical, practical_bound(program, count, machine, options, report));
  add_notes(program, count, options, report);
  return report;
}

std::string violation(const SolReport& report, Seconds measured, Cache cache) {
  const bool warm = cache == Cache::kWarm;
  const Seconds bound = warm ? report.io_warm : report.io.time;
  if (!(measured < bound)) return "";
  return fmt::format("{} is below the io bound of {}{}: the kernels cannot have done the work", time_text(measured),
                     time_text(bound), warm ? " with inputs in L2" : "");
}

}  // namespace solstice::sol
