#include "evaluate/model_device.h"

#include "base/clock.h"
#include "evaluate/findings/diagnosing.h"

namespace solstice::evaluate {

namespace {

constexpr Seconds kLook{0.1};  // between looks whether to stop

}  // namespace

void ModelDevice::begin(const search::Node& node) {
  pending_.try_emplace(node.id, node.proposal.program, setting_, compiler_);
}

// A search without a GPU does not read machine code: nvdisasm would take as long as the compiler.
void ModelDevice::diagnose(const Preparation& candidate, search::Measurement& out) const {
  const Seconds began = monotonic_now();
  Facts facts = candidate.facts(setting_, bounds_);
  const Seconds took = monotonic_now() - began;
  CodeToRead code;
  if (diagnosis_.keep_facts && candidate.built()) code = {&*candidate.built(), candidate.compiler()};
  out.cost += Diagnosing(std::move(facts), code, setting_, diagnosis_, took).finish(Seconds(0), out.record).total();
}

Result<search::Measurement> ModelDevice::finish(int node) {
  const auto found = pending_.find(node);
  if (found == pending_.end()) return fail(Code::internal, "a trial was finished that was never started");
  Preparation& candidate = found->second;
  while (!candidate.ready(kLook)) {
    if (is_asked(setting_.stop)) candidate.give_up();
  }
  SOLSTICE_CHECK(candidate.finish());
  search::Measurement out;
  out.state = candidate.state();
  out.detail = candidate.why();
  if (!candidate.refused()) out.time = candidate.predicted();
  out.cost = candidate.cost();
  out.record = candidate.record();
  if (!candidate.refused()) diagnose(candidate, out);
  pending_.erase(found);
  return out;
}

}  // namespace solstice::evaluate
