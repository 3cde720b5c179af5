#include "flow/session.h"

namespace solstice::flow {

Status compute_bounds(Session&) { return success(); }

}  // namespace solstice::flow
