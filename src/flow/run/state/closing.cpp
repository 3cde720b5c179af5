#include "flow/run/state/closing.h"

#include "base/json.h"
#include "base/log.h"

namespace solstice::flow {

Status told_after(const Status& work, const Status& kept) {
  if (work.ok()) return kept;
  if (!kept.ok())
    log_warning("the end of this run could not be stored", Json::object().set("why", kept.error().message));
  return work;
}

}  // namespace solstice::flow
