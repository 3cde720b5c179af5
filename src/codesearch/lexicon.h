// The words of an index: how many chunks hold one, and which identifiers resemble one that none holds.
#pragma once

#include "codesearch/question.h"
#include "store/sqlite.h"

namespace solstice::codesearch {

// Uses `database` as long as it is used itself.
Result<Lexicon> lexicon_of(store::Database& database, int64_t chunks);

}  // namespace solstice::codesearch
