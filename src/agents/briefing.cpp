#include "agents/briefing.h"

namespace solstice::agents {

std::vector<const char*> enum_names(Writes) { return {"ucut", "cuda", "both"}; }
std::vector<const char*> enum_names(Feedback) { return {"none", "raw", "tools"}; }

}  // namespace solstice::agents
