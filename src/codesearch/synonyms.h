// Words of the field that mean the same, as data: a question is asked in one, the code has another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace solstice::codesearch {

// A way to say it: one or several words ("transaction barrier"), as stems.
using Phrase = std::vector<std::string>;

struct SynonymGroup {
  std::vector<Phrase> phrases;
};
const std::vector<SynonymGroup>& synonym_groups();

// Words of questions that say nothing of the code: "how", "the", "with".
bool says_nothing(std::string_view word);

}  // namespace solstice::codesearch
