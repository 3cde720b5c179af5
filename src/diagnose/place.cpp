#include "diagnose/place.h"

#include <algorithm>
#include <vector>

namespace solstice::diagnose {
namespace {

double count_in(const std::map<std::string, int64_t>& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : static_cast<double>(found->second);
}

// A place without a part or an equation says nothing against what is known of them.
void take_place(const CodePlace& place, Finding& finding) {
  FindingPlace& out = finding.place;
  if (!place.part.empty()) out.part = place.part;
  if (!place.file.empty()) out.file = place.file;
  if (!place.equation.empty()) out.equation = place.equation;
  if (place.line > 0) out.line = place.line;
}

bool is_inside(const std::vector<SassLoop>& loops, int inner, int outer) {
  for (size_t steps = 0; inner >= 0 && steps <= loops.size(); ++steps) {
    if (inner == outer) return true;
    inner = static_cast<size_t>(inner) < loops.size() ? loops[static_cast<size_t>(inner)].parent : -1;
  }
  return false;
}

}  // namespace

const CodePlace* place_at(const SassFacts& sass, int64_t address) {
  const auto after = std::upper_bound(sass.runs.begin(), sass.runs.end(), address,
                                      [](int64_t at, const SassRun& run) { return at < run.first; });
  if (after == sass.runs.begin()) return nullptr;
  const int place = std::prev(after)->place;
  return place >= 0 && static_cast<size_t>(place) < sass.places.size() ? &sass.places[static_cast<size_t>(place)]
                                                                       : nullptr;
}

void name_hot_places(const SassFacts& sass, CounterFacts& counters) {
  for (HotSpot& spot : counters.hot) {
    const CodePlace* place = place_at(sass, spot.address);
    if (!place) continue;
    spot.line = place->line;
    spot.equation = place->equation;
    spot.part = place->part;
    spot.file = place->file;
  }
}

Weight instructions() {
  return [](const SassMix& mix) { return static_cast<double>(mix.instructions); };
}

Weight of_kind(std::string kind) {
  return [kind = std::move(kind)](const SassMix& mix) { return count_in(mix.counts, kind); };
}

Weight of_opcode(std::string name) {
  return [name = std::move(name)](const SassMix& mix) { return count_in(mix.named, name); };
}

Weight accesses_of(std::string space) {
  return [space = std::move(space)](const SassMix& mix) {
    double out = 0;
    for (const SassAccess& access : mix.accesses) out += access.space == space ? static_cast<double>(access.count) : 0;
    return out;
  };
}

Weight narrow_accesses(std::string space, bool store) {
  return [space = std::move(space), store](const SassMix& mix) {
    double out = 0;
    for (const SassAccess& access : mix.accesses) {
      if (access.space == space && access.store == store)
        out += std::max(0, 128 - access.bits) * static_cast<double>(access.count);
    }
    return out;
  };
}

Weight slow_paths() {
  return [](const SassMix& mix) {
    double out = 0;
    for (const auto& [kind, count] : mix.calls) out += kind == "function" ? 0 : static_cast<double>(count);
    return out;
  };
}

void name_place(const StepFacts& step, const SassMix* code, const Weight& weight, Finding& finding) {
  if (!step.sass || !code) return;
  const SassFacts& sass = *step.sass;
  const auto loop =
      std::find_if(sass.loops.begin(), sass.loops.end(), [&](const SassLoop& each) { return &each.mix == code; });
  const bool whole = loop == sass.loops.end();
  const int outer = whole ? -1 : static_cast<int>(loop - sass.loops.begin());
  std::vector<double> weights(sass.places.size(), 0);
  for (const SassSpot& spot : sass.spots) {
    const bool there = spot.place >= 0 && static_cast<size_t>(spot.place) < weights.size();
    if (there && (whole || is_inside(sass.loops, spot.loop, outer)))
      weights[static_cast<size_t>(spot.place)] += weight(spot.mix);
  }
  const auto most = std::max_element(weights.begin(), weights.end());
  if (most != weights.end() && *most > 0) take_place(sass.places[static_cast<size_t>(most - weights.begin())], finding);
}

void name_place(const StepFacts& step, int64_t address, Finding& finding) {
  const CodePlace* place = step.sass ? place_at(*step.sass, address) : nullptr;
  if (place) take_place(*place, finding);
}

void name_stalled_place(const StepFacts& step, std::string_view reason, Finding& finding) {
  if (!step.counters) return;
  const std::string name(reason);
  const HotSpot* most = nullptr;
  for (const HotSpot& spot : step.counters->hot) {
    if (spot.samples.contains(name) && (!most || spot.samples.at(name) > most->samples.at(name))) most = &spot;
  }
  if (most) take_place({most->part, 0, most->equation, most->file, most->line}, finding);
}

}  // namespace solstice::diagnose
