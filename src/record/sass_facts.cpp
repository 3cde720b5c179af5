#include "record/sass_facts.h"

#include <algorithm>

namespace solstice {

const CodePlace* SassFacts::place_at(int64_t address) const {
  const auto after = std::upper_bound(runs.begin(), runs.end(), address,
                                      [](int64_t at, const SassRun& run) { return at < run.first; });
  if (after == runs.begin()) return nullptr;
  const int place = std::prev(after)->place;
  return place >= 0 && static_cast<size_t>(place) < places.size() ? &places[static_cast<size_t>(place)] : nullptr;
}

}  // namespace solstice
