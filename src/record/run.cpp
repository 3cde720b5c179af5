#include "record/run.h"

#include "record/kernel_time.h"
#include "record/trial.h"

namespace solstice {

std::vector<const char*> enum_names(RunState) { return {"running", "finished", "interrupted", "failed", "waiting"}; }
std::vector<const char*> enum_names(RunOutcome) {
  return {"none", "faster", "not faster", "predicted", "interrupted", "unsupported"};
}
std::vector<const char*> enum_names(TrialState) {
  return {"illegal", "not compiled", "crashed", "hung", "wrong", "verified", "predicted"};
}
std::vector<const char*> enum_names(Cut) { return {"planned", "one", "each", "apart"}; }

void RunRecord::renew() {
  if (outcome == RunOutcome::kNotFaster && summary.at("predicted").as_bool()) outcome = RunOutcome::kPredicted;
  if (summary.at("stop").as_string() == "patience") summary.set("stop", "window");
  if (const Json* speedup = summary.find("speedup"); speedup && speedup->as_double() == 0)
    summary.set("speedup", Json());
}

}  // namespace solstice
