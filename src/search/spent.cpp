#include "search/spent.h"

namespace solstice::search {

std::vector<const char*> enum_names(Currency) { return {"trials", "seconds", "tokens"}; }

}  // namespace solstice::search
