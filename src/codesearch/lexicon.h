// The words of an index: how many files hold one, and which identifiers resemble one that none holds.
#pragma once

#include "codesearch/question.h"
#include "store/sqlite.h"

namespace solstice::codesearch {

// Uses `database` as long as it is used itself.
Result<Lexicon> lexicon_of(store::Database& database, int64_t files);

}  // namespace solstice::codesearch
