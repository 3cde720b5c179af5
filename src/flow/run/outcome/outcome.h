// The outcome folder. What a run makes lies in a folder of its own (`.fresh`) until it is whole. One renaming then
// makes it the outcome (`.outcome`), and its files take their places one by one. A full disk, an error or a kill before
// that renaming leaves an earlier outcome as it was; after it, whoever begins the next outcome first finishes this one.
// That needs only renaming within one folder, which every file system has; exchanging whole folders would be one step,
// but not every file system can, and files of the user lie beside an outcome. Between a kill and the next run the
// folder may hold files of both: dropin.json names the content of the plan and the cubins, so that such a drop-in says
// so and uses the original forward (docs/protocol.md).
//
// An outcome lists its files (`.files`). Only files so listed are ever replaced or removed.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace solstice::flow {

// Keeps other runs out of one folder as long as it lives, also where its process is killed.
class OutcomeLock {
 public:
  // Makes the folder where it is missing. Errors: bad_argument where another run holds it for more than two seconds
  // (one that was killed is still taken down); io_error.
  static Result<OutcomeLock> take(const std::filesystem::path& out);
  OutcomeLock(OutcomeLock&& other) noexcept
      : descriptor_(other.descriptor_), file_(std::move(other.file_)), made_(std::move(other.made_)) {
    other.descriptor_ = -1;
  }
  OutcomeLock& operator=(OutcomeLock&&) = delete;
  ~OutcomeLock();

  // Of a run that came to nothing: folders that were made for it go, where nothing lies in them.
  void leave_no_trace();

 private:
  explicit OutcomeLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
  std::filesystem::path file_;
  std::vector<std::filesystem::path> made_;  // innermost first
};

// Finishes the outcome of a run that was killed while its files took their places. Then an empty folder below `out`, on
// the same file system; what a killed run left there goes. Errors: bad_argument where a file is in the way that no
// outcome lists; bad_record for a list that cannot be read; io_error, disk_full.
Result<std::filesystem::path> begin_outcome(const std::filesystem::path& out);

// Moves every file of `fresh` to its place below `out`, reports last, and removes `fresh`. Files of an earlier outcome
// that this one does not have go. Files that no outcome lists stay; one in the way is an error (bad_argument) before
// anything is moved.
Status commit_outcome(const std::filesystem::path& fresh, const std::filesystem::path& out);

// The subject of an outcome, for comparison: the file's whole path and the class that was named.
std::string subject_text(const std::filesystem::path& file, const std::string& class_name);

// The subject of the outcome in `folder`, by its report; "" where there is none, or of a module without a file; of a
// damaged report a text that is no subject's.
std::string subject_in(const std::filesystem::path& folder);

// `wanted`, or the first of `wanted`-2, `wanted`-3, ... that holds no outcome of anything but `subject`.
std::filesystem::path folder_for(const std::filesystem::path& wanted, const std::string& subject);

}  // namespace solstice::flow
