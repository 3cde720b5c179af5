#include "cli/named_store.h"

#include "flow/opening.h"

namespace solstice::cli {

Result<store::Store> named_store(const Invocation& in) {
  if (in.has("--store")) return store::Store::open(in.get("--store"));
  return flow::store_of({});
}

}  // namespace solstice::cli
