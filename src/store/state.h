// What a Store holds.
#pragma once

#include "store/sqlite.h"
#include "store/store.h"

namespace solstice::store {

struct Store::State {
  std::filesystem::path folder;
  Database database;
};

}  // namespace solstice::store
