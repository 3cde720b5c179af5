// What the index holds of one file, made without the index: several threads do this at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace solstice::codesearch {

struct PreparedChunk {
  int first = 0;
  int last = 0;
  std::string title;
  std::string name, notes, code;  // words
};

struct Prepared {
  std::string hash;   // of the text
  std::string path;   // words of its path
  std::string brief;  // and of what its first comment says
  std::vector<PreparedChunk> chunks;
  std::vector<std::string> identifiers;  // distinct
  std::string kept;                      // the text itself where no file has it
};

Prepared prepare(std::string_view path, std::string_view text, bool keep);

}  // namespace solstice::codesearch
