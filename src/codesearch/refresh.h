// Keeps the index as the files are: built where there is none (or one that is damaged, or of another version), and
// where files have changed, by their hash, these are indexed again.
//
// A build writes a file of its own and puts it in the index's place when it is whole; of two processes that build at
// once one waits for the other. Readers see the old index or the new one.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codesearch/index_file.h"
#include "codesearch/sources.h"

namespace solstice::codesearch {

using Say = std::function<void(const std::string&)>;  // one line of progress

struct RefreshOptions {
  std::vector<Root> roots;
  std::filesystem::path folder;  // of the index; made where missing
  std::filesystem::path store;   // folder of the run store; "": none
  Say say;                       // may be empty
  bool anew = false;             // build it, whatever is there
};

// The index, up to date and open to read. Errors: io_error where the folder cannot be written and the index is not up
// to date; disk_full; not_found where the roots hold no file.
Result<IndexFile> refreshed_index(const RefreshOptions& options);

}  // namespace solstice::codesearch
