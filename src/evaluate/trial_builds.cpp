#include "evaluate/trial_builds.h"

#include <fmt/format.h>

namespace solstice::evaluate {

TrialBuilds::TrialBuilds(Setting setting, toolchain::Compiler& compiler, std::filesystem::path folder,
                         std::function<Seconds()> best)
    : setting_(std::move(setting)), compiler_(compiler), folder_(std::move(folder)), best_(std::move(best)) {}

Status TrialBuilds::build(const search::Node& node) const {
  std::error_code missing;
  if (std::filesystem::exists(plan_of(node.id), missing)) return success();
  Preparation candidate(node.proposal.program, setting_, &compiler_);
  SOLSTICE_CHECK(candidate.finish());
  if (candidate.refused())
    return fail(Code::internal, fmt::format("trial {} cannot be built again: {}", node.id, candidate.why()));
  return write_build(*candidate.built(), folder_of(node.id));
}

}  // namespace solstice::evaluate
