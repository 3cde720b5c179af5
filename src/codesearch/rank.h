// The rank of chunks and files for a question, as a function inside of SQLite's full text.
//
// A chunk's score is the sum over concepts of weight x (how good the word is that stands for it) x (where it stands: a
// name tells more than a comment, a comment more than a line of code), times the root of the share of the question that
// it covers. How often is not asked: chunks are short. A file counts once, by its best chunk, and slightly by what its
// other chunks cover.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "codesearch/index_file.h"
#include "codesearch/question.h"

namespace solstice::codesearch {

struct RankedFile {
  int64_t file = 0;
  double score = 0;
  std::vector<int64_t> chunks;  // numbers, best first; at most three
  uint32_t concepts = 0;        // bits of those that its best chunk holds
};

struct FileWeights {
  std::vector<double> of;  // by file number; 0: it is no more
};

class Ranker {
 public:
  static Result<Ranker> make(store::Database& database);
  Ranker(Ranker&&) noexcept;
  Ranker& operator=(Ranker&&) = delete;
  ~Ranker();

  // Best first, at most `limit` files.
  Result<std::vector<RankedFile>> rank(const Question& question, const FileWeights& weights, size_t limit);

 private:
  struct State;
  explicit Ranker(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace solstice::codesearch
