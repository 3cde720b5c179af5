// A file in pieces that each answer a question: a struct or function with the comment before it.
//
// C++ and CUDA are cut at declarations: braces are counted, those of namespaces are not, and what stands between #else
// and #endif begins at the depth of its #if. Short neighbours (includes, aliases) share a piece; what is longer than
// kMostLines is cut at its members, whose titles name what they stand in (`Pipeline::consumer_wait`), and in the end
// every kMostLines. Python is cut at its top-level definitions, Markdown at its headings, other text at blank lines.
// Notices of copyright are left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace solstice::codesearch {

inline constexpr int kMostLines = 80;

struct Chunk {
  int first = 0;  // line, from 1
  int last = 0;
  std::string title;  // what it declares: "struct SM90_TMA_LOAD_2D"; "" for a piece without a name
  std::string notes;  // its comments
  std::string code;   // its other lines
};

struct ChunkedFile {
  std::string brief;  // what its first comment says of the file
  std::vector<Chunk> chunks;
};

enum class Language { kCpp, kPython, kMarkdown, kText };
Language language_of(std::string_view path);

ChunkedFile cut_file(std::string_view text, Language language);

}  // namespace solstice::codesearch
