// Anchors: two lines in a program, comments of the place where they stand, that mark the block which may change.
//
//   # <<<IMPROVE BEGIN: what>>>
//   # <<<IMPROVE END>>>
//
// In a `source` they begin with `//`. Whoever writes the block gives its body alone, so that nothing outside can
// differ.
#pragma once

#include <string>

#include "base/result.h"

namespace solstice::agents {

// before + body + after is the program without the two lines.
struct Block {
  std::string before, body, after;
  std::string what;  // of the first line
};

// Errors are bad_argument, written for whoever marked it: no block, two, an end without a beginning, one in another, a
// marker that is not as above or not alone on its line, a comment of the other language, a block that begins in a
// `source` and ends outside it, or the reverse.
Result<Block> block_of(const std::string& marked);

// The same of a plan, which does nothing but mark a block: bad_argument also where the program differs from `base`.
Result<Block> marked_in(const std::string& base, const std::string& marked);

// The program with another body. Error bad_argument, for its author: markers in the body, or the first line of
// what stands before the block once more.
Result<std::string> spliced(const Block& block, const std::string& body);

}  // namespace solstice::agents
