#include "record/run.h"

#include "record/kernel_time.h"
#include "record/trial.h"

namespace solstice {

std::vector<const char*> enum_names(RunState) { return {"running", "finished", "interrupted", "failed", "waiting"}; }
std::vector<const char*> enum_names(RunOutcome) { return {"none", "faster", "not faster", "unsupported"}; }
std::vector<const char*> enum_names(TrialState) {
  return {"illegal", "not compiled", "crashed", "hung", "wrong", "verified", "predicted"};
}
std::vector<const char*> enum_names(Cut) { return {"planned", "one", "each", "apart"}; }

}  // namespace solstice
