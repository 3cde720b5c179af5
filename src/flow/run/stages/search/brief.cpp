#include "flow/run/stages/search/brief.h"

namespace solstice::flow {

Status brief_agent(Run& run, const Opened& opened, const Imported& imported, const Bounds& bounds,
                   const Planned& planned, std::function<Seconds()> left) {
  if (!run.agent) return success();
  return run.agent->brief({.equations = imported.problem.imported.text,
                           .setting = setting_of(run, opened, imported),
                           .sol = bounds.sol,
                           .expert = *planned.expert,
                           .compiler = run.engine.compiler.get(),
                           .predicted = !opened.gpu && !run.options.place.detached,
                           .trials = run.options.search.trials,
                           .seed = run.options.search.seed,
                           .store = run.stored.store->folder(),
                           .left = std::move(left),
                           .news = [&run](const std::string& text) { run.progress.message(text); }});
}

}  // namespace solstice::flow
