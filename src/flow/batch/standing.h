// Results of a batch that stand when it is evaluated again; the others are measured, or timed, again.
//
// A result that is damaged, missing or of another batch never stands. A prediction stands where times are predicted
// again (`predicting`): with a GPU it is measured.
#pragma once

#include <map>
#include <string>

#include "flow/batch/files.h"

namespace solstice::flow {

// The result of the proposed program at its last request. `predictions` counts predicted results, standing or not.
std::optional<BatchResult> standing_result(const std::filesystem::path& folder, const Batch& batch,
                                           const BatchCandidate& candidate, bool predicting, int& predictions);
std::optional<BatchOriginal> standing_original(const std::filesystem::path& folder, const Batch& batch,
                                               bool predicting);

// Differences that make the times of two sets of results incomparable: "driver 550.1 and 560.2, torch 2.10 and 2.11",
// of driver, torch and build if both name them; "" if they are the same.
std::string differing_versions(const std::map<std::string, std::string>& some,
                               const std::map<std::string, std::string>& others);

}  // namespace solstice::flow
