// The store's tables, as a list of steps from one schema version to the next. Old stores pass through the steps that
// they lack; a step, once released, is never edited.
#pragma once

#include "store/sqlite.h"

namespace solstice::store {

// The number of steps: what PRAGMA user_version is after upgrade().
int schema_version();

// Brings `database` to schema_version(); store_error where it is newer than this program.
Status upgrade(Database& database);

}  // namespace solstice::store
