// The run store that commands work on.
#pragma once

#include "cli/command.h"
#include "store/store.h"

namespace solstice::cli {

// The store of --store, or the user's. Errors: not_found where --store names a folder without one; those of
// Store::open() and Store::default_folder().
Result<store::Store> named_store(const Invocation& in);

}  // namespace solstice::cli
