// The last word on a run in the store.
#pragma once

#include "base/result.h"

namespace solstice::flow {

// The status of a run once its work is done and the store knows its end. Where both failed it is the work's error, and
// a warning says that the store does not know of it.
Status told_after(const Status& work, const Status& kept);

}  // namespace solstice::flow
