#include "cli/named_store.h"

#include "flow/run/state/stored_runs.h"

namespace solstice::cli {

Result<store::Store> named_store(const Invocation& in) { return flow::existing_store(in.get("--store")); }

}  // namespace solstice::cli
