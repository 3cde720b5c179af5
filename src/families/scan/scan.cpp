// Family `scan`: prefix domains and linear recurrences (cumsum, masked or reverse), sorting by rank.
#include "families/declared.h"

namespace solstice::families {
namespace {

std::vector<KnobSpec> scan_knobs() {
  return {
      {"threads", "int", {"128", "256", "512", "1024"}, "", "auto", "threads a block"},
      {"items", "int", {}, "1..32", "auto", "elements a thread scans by itself"},
      {"passes", "int", {"1", "2", "3"}, "", "auto", "1: blocks look back at their predecessors; more: sums first"},
  };
}

}  // namespace

extern const Family solstice_families_scan;
const Family solstice_families_scan = declared_family("scan", "prefix sums and products along an axis, stable ranking", scan_knobs);

}  // namespace solstice::families
