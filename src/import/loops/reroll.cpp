#include "import/loops/reroll.h"

#include <algorithm>
#include <set>

#include "import/loops/first_step.h"
#include "import/loops/recurrence.h"
#include "import/loops/roll.h"

namespace solstice::importer {
namespace {

constexpr size_t kLongestStep = 256;  // items
constexpr size_t kFewestSteps = 4;
constexpr int64_t kLeastLinesSaved = 5;  // lines
// A shorter recurrence fits in one kernel step by step.
constexpr size_t kFewestScanned = 16;  // steps
// Where the states of few steps are wanted, such a kernel reads and writes nothing between the steps, and a scan's
// writes them all.
constexpr size_t kFewestWrittenInVain = 96;  // steps

struct Stretch {
  size_t first = 0, period = 0,
         length = 0;  // items i and i + period are alike in [first, first + length - period), numbers grow evenly
  size_t end() const { return first + length; }
  int64_t saved() const { return static_cast<int64_t>(length) - static_cast<int64_t>(period); }
};

class Finder {
 public:
  explicit Finder(const Draft& draft) : draft_(draft) {
    std::map<std::string, int> numbers;
    for (size_t i = 0; i < draft.items.size(); ++i) {
      items_.push_back(loop_item(draft, draft.items[i]));
      const std::string& structure = items_.back().structure;
      const int number = structure.empty() ? -static_cast<int>(i) - 1 : static_cast<int>(numbers.size());
      alike_.push_back(structure.empty() ? number : numbers.emplace(structure, number).first->second);
      for (const int target : targets(draft, draft.items[i])) writers_[target].push_back(i);
    }
  }

  // The loop that saves most, of those that are wanted.
  template <typename Wanted>
  std::optional<Unrolled> best(const Wanted& wanted) const {
    std::vector<Stretch> all = stretches();
    std::stable_sort(all.begin(), all.end(), [](const Stretch& a, const Stretch& b) { return a.saved() > b.saved(); });
    std::vector<Stretch> unwanted;  // several of their steps at a time are not wanted either
    for (const Stretch& stretch : all) {
      const auto holds = [&](const Stretch& part) {
        return stretch.period % part.period == 0 && part.first < stretch.end() && stretch.first < part.end();
      };
      if (std::any_of(unwanted.begin(), unwanted.end(), holds)) continue;
      auto loop = in(stretch);
      if (loop && wanted(*loop)) return loop;
      if (loop) unwanted.push_back(stretch);
    }
    return std::nullopt;
  }

 private:
  static std::vector<int> targets(const Draft& draft, const DraftItem& item) {
    return item.opaque < 0 ? std::vector<int>{item.equation.tensor}
                           : draft.opaques[static_cast<size_t>(item.opaque)].results;
  }

  std::vector<Stretch> stretches() const {
    std::vector<Stretch> out;
    for (size_t period = 1; period <= std::min(kLongestStep, alike_.size() / kFewestSteps); ++period) {
      size_t first = 0;
      for (size_t i = 0; i + period <= alike_.size(); ++i) {
        const bool same = i + period < alike_.size() && alike_[i] == alike_[i + period];
        if (same && (i < first + period || grow_evenly(items_[i - period], items_[i], items_[i + period]))) continue;
        const Stretch stretch{first, period, i - first + period};
        if (stretch.length >= kFewestSteps * period && stretch.saved() >= kLeastLinesSaved) out.push_back(stretch);
        first = same ? i - period + 1 : i + 1;  // from another step on, numbers grow by other steps
      }
    }
    return out;
  }

  // A step may begin anywhere in the period: where the fewest tensors cross from step to step, and of these where most
  // steps are found.
  std::optional<Unrolled> in(const Stretch& stretch) const {
    std::optional<Unrolled> best;
    for (size_t shift = 0; shift < stretch.period; ++shift) {
      const size_t count = (stretch.length - shift) / stretch.period;
      if (count < kFewestSteps) break;
      auto loop = unrolled(items_, writers_, stretch.first + shift, stretch.period, count);
      if (!loop) loop = unrolled(items_, writers_, stretch.first + shift + stretch.period, stretch.period, count - 1);
      if (!loop || loop->count < kFewestSteps) continue;
      (void)take_first_step(draft_, items_, writers_, *loop);
      const auto worth = [](const Unrolled& l) { return std::pair(l.carried, -static_cast<int64_t>(l.count)); };
      if (!best || worth(*loop) < worth(*best)) best = std::move(loop);
    }
    return best;
  }

  const Draft& draft_;
  std::vector<LoopItem> items_;
  std::vector<int> alike_;  // equal for items of one structure
  Writers writers_;
};

// What is computed of each step of a loop that was rolled, and handed on to none.
bool reads_steps(const Draft& draft, const Unrolled& loop) {
  std::set<int> rolled;
  for (const DraftTensor& tensor : draft.tensors) rolled.insert(tensor.steps_in);
  rolled.erase(-1);
  bool found = false;
  for (size_t p = 0; p < loop.period && loop.carried.first == 0; ++p) {
    for (const int id : loop_item(draft, draft.items[loop.at(0, p)]).reads) found = found || rolled.contains(id);
  }
  return found;
}

// The states of at least half of the steps are read after the loop, or by what a step computes of them.
bool most_steps_are_read(const Draft& draft, const Unrolled& loop) {
  std::set<int> of_steps, read;
  for (size_t i = loop.first; i < loop.last(); ++i) of_steps.insert(draft.items[i].equation.tensor);
  for (size_t i = loop.last(); i < draft.items.size(); ++i) {
    for (const int id : loop_item(draft, draft.items[i]).reads) {
      if (of_steps.contains(id)) read.insert(id);
    }
  }
  return read.size() >= loop.count / 2 || has_readers(loop);
}

bool is_scan(const Draft& draft, const Unrolled& loop) {
  if (loop.count < kFewestScanned || !is_of_linear_recurrences(draft, loop)) return false;
  return loop.count >= kFewestWrittenInVain || most_steps_are_read(draft, loop);
}

}  // namespace

void reroll(Draft& draft) {
  const auto any = [](const Unrolled&) { return true; };
  while (const std::optional<Unrolled> loop = Finder(draft).best(any)) roll(draft, *loop);
}

bool reroll_recurrences(Draft& draft) {
  bool found = false;
  const auto wanted = [&](const Unrolled& loop) { return (found && reads_steps(draft, loop)) || is_scan(draft, loop); };
  while (const std::optional<Unrolled> loop = Finder(draft).best(wanted)) {
    roll(draft, *loop);
    found = true;
  }
  return found;
}

}  // namespace solstice::importer
