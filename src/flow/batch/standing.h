// What of a batch's results stands when it is evaluated once more: the rest is measured, or timed, again.
//
// What is damaged, missing or of another batch never stands. A prediction stands where times are predicted again
// (`predicting`): whoever has a GPU measures.
#pragma once

#include <map>
#include <string>

#include "flow/batch/files.h"

namespace solstice::flow {

// Of the program that was proposed, as it was asked for last. `predictions` counts those that are, whether they stand
// or not.
std::optional<BatchResult> standing_result(const std::filesystem::path& folder, const Batch& batch,
                                           const BatchCandidate& candidate, bool predicting, int& predictions);
std::optional<BatchOriginal> standing_original(const std::filesystem::path& folder, const Batch& batch,
                                               bool predicting);

// Where times of two sets of results may not compare: "driver 550.1 and 560.2, torch 2.10 and 2.11", of driver, torch
// and build as far as both name them; "" where they are the same.
std::string differing_versions(const std::map<std::string, std::string>& some,
                               const std::map<std::string, std::string>& others);

}  // namespace solstice::flow
