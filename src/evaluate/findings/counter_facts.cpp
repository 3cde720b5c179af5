#include "evaluate/findings/counter_facts.h"

#include <cstdlib>

#include "diagnose/counters/chosen_launches.h"
#include "diagnose/counters/counter_table.h"
#include "diagnose/counters/counters.h"
#include "diagnose/tool.h"

namespace solstice::evaluate {

Status add_counters(const std::filesystem::path& plan, run::Judge& judge, const run::JudgeCase& test,
                    const DiagnosisOptions& options, Facts& facts) {
  const diagnose::ChosenLaunches chosen = diagnose::choose_launches(facts);
  if (chosen.steps.empty()) return success();
  diagnose::CounterRequest request;
  request.plan = plan;
  request.all = options.counter_time;
  request.steps = chosen.steps;
  const bool all = options.all_counters || !options.tools.empty();
  request.metrics = all ? diagnose::counter_metrics() : diagnose::counters_to_ask(diagnose::all_tools());
  if (const char* folder = std::getenv("SOLSTICE_KEEP_NCU")) request.keep = folder;
  SOLSTICE_TRY(diagnose::CounterRun run, diagnose::counters_of(request, diagnose::with_judge(judge, plan, test)));
  diagnose::take_counters(std::move(run), chosen, facts);
  return success();
}

}  // namespace solstice::evaluate
