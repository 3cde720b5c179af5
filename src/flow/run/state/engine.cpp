#include "flow/run/state/engine.h"

#include "flow/run/state/engine_parts.h"

namespace solstice::flow {

Engine::Engine() : parts_(std::make_unique<EngineParts>()) {}
Engine::~Engine() = default;

void Engine::release_problem() {
  parts_->prepared.reset();
  if (parts_->judge) parts_->judge->imports().close_all_of(parts_.get());
  if (parts_->oracle && !parts_->oracle->release().ok()) parts_->oracle.reset();
}

std::unique_ptr<Engine> Engine::sibling() const {
  auto out = std::make_unique<Engine>();
  out->share(*this);
  return out;
}

void Engine::share(const Engine& other) {
  const EngineParts& from = *other.parts_;
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

}  // namespace solstice::flow
