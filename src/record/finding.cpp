#include "record/finding.h"

namespace solstice {

std::vector<const char*> enum_names(FindingSeverity) { return {"note", "low", "medium", "high"}; }
std::vector<const char*> enum_names(Confidence) { return {"low", "medium", "high"}; }
std::vector<const char*> enum_names(ActionKind) { return {"text", "knobs", "cut", "rewrite", "math", "once", "code"}; }

}  // namespace solstice
