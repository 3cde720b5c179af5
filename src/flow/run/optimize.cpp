#include "flow/run/optimize.h"

#include "flow/run/optimization.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

Engine::Engine() : parts_(std::make_unique<Parts>()) {}
Engine::~Engine() = default;

void Engine::release_problem() {
  parts_->prepared.reset();
  if (parts_->judge) parts_->judge->imports().close_all_of(parts_.get());
  if (parts_->oracle && !parts_->oracle->release().ok()) parts_->oracle.reset();
}

std::unique_ptr<Engine> Engine::beside() const {
  auto out = std::make_unique<Engine>();
  out->share(*this);
  return out;
}

void Engine::share(const Engine& other) {
  const Parts& from = *other.parts_;
  parts_->compiler = from.compiler;
  parts_->judge = from.judge;
  parts_->judge_request = from.judge_request;
  parts_->further = from.further;
  parts_->driver = from.driver;
}

bool Engine::sound() const { return !parts_->judge || parts_->judge->sound(); }
void Engine::drop_judge() {
  parts_->judge.reset();
  parts_->further.clear();
}

Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress) {
  Engine engine;
  return optimize(options, progress, engine);
}

Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress, Engine& engine) {
  SOLSTICE_TRY(const std::unique_ptr<Optimization> run, Optimization::open(options, progress, engine));
  run->search();
  return run->conclude();
}

}  // namespace solstice::flow
