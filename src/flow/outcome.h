// The outcome folder. What a run makes lies in a folder of its own until it is whole, then its files take their places
// by renaming: a full disk or an error before that leaves an earlier outcome as it was. A kill between two renames can
// leave files of both; dropin.json names the content of the plan and the cubins, so that such a drop-in says so and uses
// the original forward (docs/protocol.md), and the next run sets it right.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace solstice::flow {

// Keeps other runs out of one folder as long as it lives, also where its process is killed.
class OutcomeLock {
 public:
  // Makes the folder where it is missing. Errors: bad_argument where another run holds it; io_error.
  static Result<OutcomeLock> take(const std::filesystem::path& out);
  OutcomeLock(OutcomeLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  OutcomeLock& operator=(OutcomeLock&&) = delete;
  ~OutcomeLock();

 private:
  explicit OutcomeLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// An empty folder below `out`, on the same file system; what a killed run left there goes. Errors io_error, disk_full.
Result<std::filesystem::path> begin_outcome(const std::filesystem::path& out);

// Moves every file of `fresh` to its place below `out`, reports last, and removes `fresh`. Files of an earlier outcome
// that this one does not have are removed first: those that its list (`.files`) names. Files that no run wrote stay.
Status commit_outcome(const std::filesystem::path& fresh, const std::filesystem::path& out);

}  // namespace solstice::flow
