#include "evaluate/window_state.h"

#include <algorithm>

namespace solstice::evaluate {

using toolchain::Effect;
using toolchain::kPredicate;
using toolchain::kUniformPredicate;
using toolchain::kUniformRegister;
using toolchain::MachineInstruction;

namespace {

constexpr size_t kLowHalf = 0, kHighHalf = 1;

bool is_of_warp(int held) { return (held >= kUniformRegister && held < kPredicate) || held >= kUniformPredicate; }

// Place of a predicate in the tables.
size_t place_of(int predicate) { return static_cast<size_t>(predicate - kPredicate); }

bool is_predicate(int held) { return held >= kPredicate; }

// A register of a warp gets the value of one lane, of which a predicate of threads says nothing.
bool takes_over(const Written& written, size_t predicate) {
  const bool of_threads = predicate < place_of(kUniformPredicate);
  const auto is_of_thread = [](int from) { return !is_of_warp(from); };
  if (written.from.empty()) return false;
  return !of_threads || !is_of_warp(written.to) ||
         std::none_of(written.from.begin(), written.from.end(), is_of_thread);
}

bool holds(Half half, size_t which) {
  return half == Half::kMixed || half == (which == kLowHalf ? Half::kLow : Half::kHigh);
}

}  // namespace

WindowState::WindowState() {
  for (auto& half : free_) {
    for (ByValue& each : half) each.fill(Registers().set());
  }
  for (auto& each : nowhere_) each.fill(true);
  for (auto& each : somewhere_if_) each.set();
  somewhere_.set();
  meeting_.fill(kNotSet);
}

Half WindowState::at(int held) const {
  const auto i = static_cast<size_t>(held);
  const bool low = held_[kLowHalf][i], high = held_[kHighHalf][i];
  return low ? (high ? Half::kMixed : Half::kLow) : high ? Half::kHigh : Half::kNone;
}

Half WindowState::at(int held, const MachineInstruction& under) const {
  if (under.guard < 0) return at(held);
  const auto i = static_cast<size_t>(held);
  const size_t guard = place_of(under.guard), value = under.negated ? 0 : 1;
  const bool low = held_[kLowHalf][i] && !free_[kLowHalf][guard][value][i];
  const bool high = held_[kHighHalf][i] && !free_[kHighHalf][guard][value][i];
  return low ? (high ? Half::kMixed : Half::kLow) : high ? Half::kHigh : Half::kNone;
}

// Whether what was there may stay, of one half: where the guard does not hold.
bool WindowState::stays(size_t half, const Written& written, const MachineInstruction& of) const {
  if (!written.surely) return true;
  if (of.guard < 0) return of.negated;  // `@!PT` never runs
  const size_t guard = place_of(of.guard), other = of.negated ? 1 : 0;
  if (nowhere_[guard][other]) return false;
  if (free_[half][guard][other][static_cast<size_t>(written.to)]) return false;
  // A lane's value, to a register of its warp: one lane is enough.
  const bool gathers = is_of_warp(written.to) && !is_of_warp(of.guard);
  return !(gathers && !of.negated && somewhere_[guard]);
}

void WindowState::write_half(size_t half, bool holding, const Written& written, const MachineInstruction& of) {
  const auto to = static_cast<size_t>(written.to);
  const bool before = held_[half][to];
  if (!holding && !before) return;
  const bool stay = stays(half, written, of);
  held_[half][to] = (stay && before) || holding;
  const bool gathers = is_of_warp(written.to) && of.guard >= 0 && !is_of_warp(of.guard);
  for (size_t p = 0; p < kPredicates; ++p) {
    for (size_t v = 0; v < 2; ++v) {
      // In lanes where predicate p is v: does the new value hold nothing, and does the old one, where it stays?
      bool fresh = !holding || nowhere_[p][v];
      if (!fresh && takes_over(written, p)) {
        fresh = std::all_of(written.from.begin(), written.from.end(), [&](int from) {
          const auto at = static_cast<size_t>(from);
          return !held_[half][at] || free_[half][p][v][at];
        });
      }
      const bool runs_there = of.guard >= 0 && p == place_of(of.guard) && v == (of.negated ? 0U : 1U) && !gathers;
      const bool overwritten = written.surely && (!stay || runs_there || (gathers && v == 1 && !of.negated &&
                                                                          somewhere_if_[p][place_of(of.guard)]));
      const bool old = overwritten || !before || free_[half][p][v][to];
      free_[half][p][v][to] = fresh && old;
    }
  }
}

void WindowState::write(const Written& written, const MachineInstruction& of) {
  for (size_t half = 0; half < kHalves; ++half) write_half(half, holds(written.half, half), written, of);
  if (is_predicate(written.to)) learn(written.to, of);
}

// Another value of a predicate: what was said of the old one is void.
void WindowState::learn(int predicate, const MachineInstruction& of) {
  const size_t p = place_of(predicate);
  const bool first = !of.writes.empty() && of.writes.front().first == predicate && of.always;
  const bool set = of.sets && first;
  const bool elected = of.effect == Effect::kElects && !of.negated && (of.guard < 0 || somewhere_[place_of(of.guard)]);
  const size_t copied = of.copies >= 0 && first ? place_of(of.copies) : p;
  const bool copies = copied != p;
  for (auto& half : free_) half[p] = copies ? half[copied] : ByValue{set ? Registers().set() : Registers(), Registers()};
  nowhere_[p] = copies ? nowhere_[copied] : std::array<bool, 2>{set, false};
  somewhere_[p] = copies ? somewhere_[copied] : set || elected;
  for (auto& each : somewhere_if_) each[p] = copies ? each[copied] : set || elected;
  somewhere_if_[p].reset();
  if (of.any_of >= 0 && first) somewhere_if_[p].set(place_of(of.any_of));
}

void WindowState::know_guard(const MachineInstruction& of, bool holds_there) {
  if (of.guard < 0) return;
  const size_t p = place_of(of.guard), value = holds_there != of.negated ? 1 : 0;
  for (size_t half = 0; half < kHalves; ++half) {
    held_[half] &= ~free_[half][p][value];
    free_[half][p][1 - value].set();
  }
  nowhere_[p][1 - value] = true;
  somewhere_[p] = value == 1;
}

void WindowState::know_somewhere(int predicate) { somewhere_.set(place_of(predicate)); }

void WindowState::part() {
  somewhere_.reset();
  for (auto& each : somewhere_if_) each.reset();
}

void WindowState::forget() {
  for (auto& half : free_) half.fill(ByValue());
  for (auto& each : nowhere_) each.fill(false);
  part();
}

bool WindowState::join(const WindowState& other) {
  bool changed = false;
  const auto take = [&](auto& mine, const auto& joined) {
    changed = changed || mine != joined;
    mine = joined;
  };
  for (size_t half = 0; half < kHalves; ++half) {
    const Registers none = ~held_[half], others_none = ~other.held_[half];
    for (size_t p = 0; p < kPredicates; ++p) {
      for (size_t v = 0; v < 2; ++v) {
        const Registers joined = (free_[half][p][v] | none) & (other.free_[half][p][v] | others_none);
        take(free_[half][p][v], joined);
      }
    }
  }
  for (size_t half = 0; half < kHalves; ++half) take(held_[half], held_[half] | other.held_[half]);
  for (size_t p = 0; p < kPredicates; ++p) {
    for (size_t v = 0; v < 2; ++v) take(nowhere_[p][v], nowhere_[p][v] && other.nowhere_[p][v]);
    take(somewhere_if_[p], (somewhere_if_[p] | somewhere_) & (other.somewhere_if_[p] | other.somewhere_));
  }
  take(somewhere_, somewhere_ & other.somewhere_);
  for (size_t b = 0; b < kBarriers; ++b) {
    const int theirs = other.meeting_[b];
    if (theirs == kNotSet || theirs == meeting_[b]) continue;
    take(meeting_[b], meeting_[b] == kNotSet ? theirs : kSeveral);
  }
  return changed;
}

}  // namespace solstice::evaluate
