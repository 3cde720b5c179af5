#include "record/search_event.h"

namespace solstice::search {

std::vector<const char*> enum_names(Precision) { return {"rough", "usual", "precise"}; }
std::vector<const char*> enum_names(Author) { return {"other", "model"}; }
std::vector<const char*> enum_names(Event::Kind) { return {"proposed", "skipped", "again", "measured", "lost", "spent", "opened"}; }

}  // namespace solstice::search
