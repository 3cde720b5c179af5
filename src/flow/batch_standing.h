// What of a batch's results stands when it is evaluated once more: the rest is measured, or timed, again.
//
// What is damaged, missing or of another batch never stands. A prediction stands where times are predicted again (`predicting`): whoever
// has a GPU measures.
#pragma once

#include "flow/batch_files.h"

namespace solstice::flow {

// Of the program that was proposed, as it was asked for last. `predictions` counts those that are, whether they stand or not.
std::optional<BatchResult> standing_result(const std::filesystem::path& folder, const Batch& batch, const BatchCandidate& candidate,
                                           bool predicting, int& predictions);
std::optional<BatchOriginal> standing_original(const std::filesystem::path& folder, const Batch& batch, bool predicting);

}  // namespace solstice::flow
