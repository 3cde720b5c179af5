// The outcome folder. What a run makes lies in a folder of its own until it is whole, then its files take their places
// by renaming: a full disk, an error or a kill leaves an earlier outcome as it was.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace solstice::flow {

// An empty folder below `out`, on the same file system; what a killed run left there goes. Errors io_error, disk_full.
Result<std::filesystem::path> begin_outcome(const std::filesystem::path& out);

// Moves every file of `fresh` to its place below `out`, reports last, and removes `fresh`. Files of an earlier outcome that this one
// does not have (`model_new.py`, `dropin.json`, `program.ucut`) are removed first; files that no run writes stay.
Status commit_outcome(const std::filesystem::path& fresh, const std::filesystem::path& out);

}  // namespace solstice::flow
