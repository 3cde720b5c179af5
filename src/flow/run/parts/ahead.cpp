#include "flow/run/parts/ahead.h"

#include "base/process/interrupt.h"
#include "flow/run/stages/prepare/plan.h"

namespace solstice::flow {

void CompiledAhead::begin(const Problem& stage, Seconds budget) {
  if (!run_.engine.compiler || interrupted()) return;
  const Result<std::string> first = first_choice(run_.options.terms, opened_.machine, stage, budget);
  if (!first.ok() || first->empty()) return;
  const evaluate::Setting setting{opened_.machine, run_.options.terms.numerics, run_.options.terms.frozen, nullptr,
                                  run_.options.candidate};
  begun_.emplace_back(*first, setting, run_.engine.compiler.get());
}

}  // namespace solstice::flow
