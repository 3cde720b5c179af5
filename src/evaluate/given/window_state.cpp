#include "evaluate/given/window_state.h"

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
  return !of_threads || !is_of_warp(written.to) || std::none_of(written.from.begin(), written.from.end(), is_of_thread);
}

std::array<std::bitset<16>, 2> all_predicates() { return {std::bitset<16>().set(), std::bitset<16>().set()}; }

bool holds(Half half, size_t which) {
  return half == Half::kMixed || half == (which == kLowHalf ? Half::kLow : Half::kHigh);
}

}  // namespace

WindowState::WindowState() {
  for (auto& half : free_) {
    for (ByValue& each : half) each.fill(Registers().set());
  }
  for (auto& each : nowhere_) each.fill(true);
  for (auto& each : somewhere_if_) each.fill(all_predicates());
  like_.fill(all_predicates());
  somewhere_ = all_predicates();
  votes_.fill(kNotSet);
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
  return !(gathers && somewhere_[1 - other][guard]);
}

// Whether, in lanes where predicate p is v, the instruction runs and leaves nothing of what was there.
bool WindowState::is_overwritten(const Written& written, const MachineInstruction& of, size_t p, size_t v) const {
  if (!written.surely || of.guard < 0) return false;
  const size_t guard = place_of(of.guard), value = of.negated ? 0 : 1;
  if (is_of_warp(written.to) && !is_of_warp(of.guard)) return somewhere_if_[p][v][value][guard];
  return p == guard ? v == value : like_[guard][v == value ? 1 : 0][p];
}

void WindowState::write_half(size_t half, bool holding, const Written& written, const MachineInstruction& of) {
  const auto to = static_cast<size_t>(written.to);
  const bool before = held_[half][to];
  if (!holding && !before) return;
  const bool stay = stays(half, written, of);
  held_[half][to] = (stay && before) || holding;
  for (size_t p = 0; p < kPredicates; ++p) {
    for (size_t v = 0; v < 2; ++v) {
      bool fresh = !holding || nowhere_[p][v];
      if (!fresh && takes_over(written, p)) {
        fresh = std::all_of(written.from.begin(), written.from.end(), [&](int from) {
          const auto at = static_cast<size_t>(from);
          return !held_[half][at] || free_[half][p][v][at];
        });
      }
      const bool old = !stay || !before || free_[half][p][v][to] || is_overwritten(written, of, p, v);
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
  const WindowState before = *this;
  void_all(p);
  learn_somewhere(p, of);
  if (of.guard >= 0 && is_of_warp(of.guard) == is_of_warp(predicate)) learn_guarded(p, of, before);
  const bool first = !of.writes.empty() && of.writes.front().first == predicate && of.always;
  if (!first) return;
  if (of.sets || of.clears) {
    const size_t never = of.sets ? 0 : 1;
    for (auto& half : free_) half[p][never].set();
    nowhere_[p][never] = true;
    somewhere_[1 - never].set(p);
  }
  if (of.copies >= 0) learn_copy(p, place_of(of.copies), of.inverts);
  if (of.vote >= 0) learn_vote(p, of);
}

void WindowState::void_all(size_t p) {
  for (auto& half : free_) half[p].fill({});
  nowhere_[p].fill(false);
  like_[p].fill({});
  votes_[p] = kSeveral;
  for (size_t q = 0; q < kPredicates; ++q) {
    for (size_t v = 0; v < 2; ++v) {
      like_[q][v].reset(p);
      somewhere_if_[q][0][v].reset(p);
      somewhere_if_[q][1][v].reset(p);
    }
    if (votes_[q] >= 0 && static_cast<size_t>(votes_[q]) / 2 == p) votes_[q] = kSeveral;
  }
  somewhere_[0].reset(p);
  somewhere_[1].reset(p);
  somewhere_if_[p].fill({});
}

// A lane in which it has a value now either ran the instruction, or had that value before.
void WindowState::learn_guarded(size_t p, const MachineInstruction& of, const WindowState& before) {
  const size_t guard = place_of(of.guard), value = of.negated ? 0 : 1;
  for (size_t v = 0; v < 2; ++v) {
    for (size_t half = 0; half < kHalves; ++half)
      free_[half][p][v] = before.free_[half][guard][value] & before.free_[half][p][v];
    nowhere_[p][v] = before.nowhere_[guard][value] && before.nowhere_[p][v];
  }
}

void WindowState::learn_copy(size_t p, size_t of, bool inverted) {
  if (p == of) return;
  for (size_t v = 0; v < 2; ++v) {
    const size_t theirs = inverted ? 1 - v : v;
    for (auto& half : free_) half[p][v] = half[of][theirs];
    nowhere_[p][v] = nowhere_[of][theirs];
    somewhere_[v][p] = somewhere_[theirs][of];
    somewhere_if_[p][v] = somewhere_if_[of][theirs];
    like_[p][v] = like_[of][theirs];
    for (auto& each : somewhere_if_) {
      for (auto& by_value : each) by_value[v][p] = by_value[theirs][of];
    }
  }
  like_[p][inverted ? 0 : 1].set(of);
  for (size_t q = 0; q < kPredicates; ++q) {
    for (size_t v = 0; v < 2; ++v) like_[q][v][p] = like_[p][v][q];
  }
}

// The outcome of a vote on another predicate, and of the same vote before.
void WindowState::learn_vote(size_t p, const MachineInstruction& of) {
  const size_t on = place_of(of.vote), value = of.unanimous ? 0 : 1;
  const int vote = static_cast<int>(2 * on + value);
  for (size_t q = 0; q < kPredicates; ++q) {
    if (q != p && votes_[q] == vote) learn_copy(p, q, false);
  }
  votes_[p] = vote;
  Somewhere& out = somewhere_if_[p][value];
  out[value].set(on);
  out[value] |= like_[on][1];
  out[1 - value] |= like_[on][0];
}

// An elected lane is one of those that take part.
void WindowState::learn_somewhere(size_t p, const MachineInstruction& of) {
  if (of.effect != Effect::kElects) return;
  if (of.guard < 0) return void(somewhere_[1].set(p));
  const size_t guard = place_of(of.guard), value = of.negated ? 0 : 1;
  if (guard == p) return;
  somewhere_[1][p] = somewhere_[value][guard];
  for (auto& each : somewhere_if_) {
    for (Somewhere& by_value : each) by_value[1][p] = by_value[value][guard];
  }
}

void WindowState::know_guard(const MachineInstruction& of, bool holds_there) {
  if (of.guard < 0) return;
  const size_t p = place_of(of.guard), value = holds_there != of.negated ? 1 : 0;
  for (size_t half = 0; half < kHalves; ++half) {
    held_[half] &= ~free_[half][p][value];
    free_[half][p][1 - value].set();
  }
  nowhere_[p][1 - value] = true;
  somewhere_[value].set(p);
}

void WindowState::know_somewhere(const MachineInstruction& of) {
  if (of.guard >= 0) somewhere_[of.negated ? 0 : 1].set(place_of(of.guard));
}

void WindowState::part() {
  somewhere_.fill({});
  for (auto& each : somewhere_if_) each.fill({});
  votes_.fill(kSeveral);
}

void WindowState::forget() {
  for (auto& half : free_) half.fill(ByValue());
  for (auto& each : nowhere_) each.fill(false);
  for (auto& each : like_) each.fill({});
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
    for (size_t v = 0; v < 2; ++v) {
      take(like_[p][v], like_[p][v] & other.like_[p][v]);
      for (size_t w = 0; w < 2; ++w) {
        take(somewhere_if_[p][v][w],
             (somewhere_if_[p][v][w] | somewhere_[w]) & (other.somewhere_if_[p][v][w] | other.somewhere_[w]));
      }
    }
    if (other.votes_[p] != kNotSet && other.votes_[p] != votes_[p])
      take(votes_[p], votes_[p] == kNotSet ? other.votes_[p] : kSeveral);
  }
  for (size_t v = 0; v < 2; ++v) take(somewhere_[v], somewhere_[v] & other.somewhere_[v]);
  for (size_t b = 0; b < kBarriers; ++b) {
    const int theirs = other.meeting_[b];
    if (theirs == kNotSet || theirs == meeting_[b]) continue;
    take(meeting_[b], meeting_[b] == kNotSet ? theirs : kSeveral);
  }
  return changed;
}

}  // namespace solstice::evaluate
