// The lines of a hit that tell most.
#pragma once

#include <string>
#include <vector>

#include "codesearch/answer.h"
#include "codesearch/question.h"

namespace solstice::codesearch {

struct Excerpt {
  std::vector<CodeLine> lines;
  std::vector<std::string> why, lacks;
};

// At most `most` of the lines first..last of `text`, chosen one by one: each adds most of the question that those
// before it do not hold. Lines that add nothing are left out; the first line of the piece stands for one without any.
Excerpt excerpt(std::string_view text, int first, int last, const std::string& path, const Question& question,
                size_t most);

}  // namespace solstice::codesearch
