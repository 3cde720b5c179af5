#include "evaluate/model_device.h"

namespace solstice::evaluate {

namespace {

constexpr Seconds kLook{0.1};  // between looks whether to stop

}  // namespace

void ModelDevice::begin(const search::Node& node) {
  pending_.try_emplace(node.id, node.proposal.program, setting_, compiler_);
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
  const SassDepth sass = diagnosis_.keep_facts ? SassDepth::kPlaces : SassDepth::kNone;
  if (!candidate.refused()) add_findings(candidate.facts(setting_, bounds_, sass), setting_, diagnosis_, out.record);
  pending_.erase(found);
  return out;
}

}  // namespace solstice::evaluate
