// Search in the code that kernels are written from: CUTLASS and CuTe, CCCL, CUDA's device headers, kernels/, examples/
// and verified programs of the run store.
//
// The index is one SQLite file below cache_folder(). It is built when it is first asked (seconds), and kept as the
// files are: a file that has changed is indexed again. Paths are shown with a prefix that does not depend on the
// machine: cutlass/include/, cutlass/examples/, cutlass/tools/util/include/, cccl/, cuda/, kernels/, examples/, store/.
// docs/code-search.md says how results are ranked. Not thread-safe: one object a thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codesearch/answer.h"
#include "codesearch/sources.h"

namespace solstice::codesearch {

class Priors;
struct RankedFile;

struct Options {
  std::vector<Root> roots;                      // empty: installed_roots()
  std::filesystem::path folder;                 // of the index; empty: codesearch/ of cache_folder()
  std::filesystem::path store;                  // folder of the run store whose programs are searched too; empty: none
  std::function<void(const std::string&)> say;  // lines of progress while it is built; may be empty
};

struct SearchLimits {
  size_t hits = 8;
  size_t lines = 4;             // of each hit
  size_t characters = 100'000;  // of all lines, paths and titles; a token of code is about three
};

struct ReadLimits {
  size_t lines = 400;
  size_t characters = 40'000;
};

// "PATH:FROM-TO", "PATH:LINE" (its surroundings), "PATH" (from its beginning).
struct Place {
  std::string path;
  int first = 0;  // 0: not given
  int last = 0;
};
Result<Place> parse_place(std::string_view text);  // bad_argument

class CodeIndex {
 public:
  // Errors: io_error and disk_full where it cannot be built or brought up to date; not_found where there is no code.
  static Result<CodeIndex> open(Options options = {});
  CodeIndex(CodeIndex&&) noexcept;
  CodeIndex& operator=(CodeIndex&&) noexcept;
  ~CodeIndex();

  // Any text is a question: operators of full text have no meaning in it. Error bad_argument where it has no word. An
  // index that turns out to be damaged is built again once.
  Result<Answer> search(std::string_view question, const SearchLimits& limits = {});

  // Only files of the index can be read. Errors: not_found with paths that are nearly so; bad_argument for lines that
  // the file has not.
  Result<Passage> read(const Place& place, const ReadLimits& limits = {});

 private:
  struct State;
  explicit CodeIndex(std::unique_ptr<State> state);
  static Status load(State& state, bool anew);
  static Status prefer_plain(State& state, const Priors& priors, std::vector<RankedFile>& ranked);
  Result<Answer> look_up(std::string_view question, const SearchLimits& limits);
  std::unique_ptr<State> state_;
};

}  // namespace solstice::codesearch
