#include "flow/run/stages/prepare/start_rivals.h"

#include <thread>

namespace solstice::flow {

bool times_rivals(const Run& run) { return run.engine.hello.device.is_cuda() && run.options.baselines; }

Status start_rivals(Run& run) {
  run.rivals_started = true;
  const ModuleOptions& module = run.options.module;
  const Status started = run.engine.oracle->start_rivals(run.original.string(), module.class_name, module.mode);
  if (started.ok()) return success();
  for (const Code gone : {Code::interrupted, Code::deadline, Code::process_failed}) {
    if (started.error().code == gone) return started;
  }
  run.report.warnings.push_back("the other baselines could not be prepared beside: " + started.error().message);
  return success();
}

Status start_rivals_early(Run& run) {
  constexpr unsigned kFewProcessors = 4;  // with fewer, importing a compiler would be felt in timings meanwhile
  if (!times_rivals(run) || run.original.empty() || std::thread::hardware_concurrency() < kFewProcessors)
    return success();
  return start_rivals(run);
}

}  // namespace solstice::flow
