#include "import/loops/reroll.h"

#include <algorithm>

#include "import/loops/roll.h"

namespace solstice::importer {
namespace {

constexpr size_t kLongestStep = 256;  // items
constexpr size_t kFewestSteps = 4;
constexpr int64_t kLeastLinesSaved = 5;  // lines

struct Stretch {
  size_t first = 0, period = 0,
         length = 0;  // items i and i + period are alike in [first, first + length - period), numbers grow evenly
  int64_t saved() const { return static_cast<int64_t>(length) - static_cast<int64_t>(period); }
};

class Finder {
 public:
  explicit Finder(const Draft& draft) {
    std::map<std::string, int> numbers;
    for (size_t i = 0; i < draft.items.size(); ++i) {
      items_.push_back(loop_item(draft, draft.items[i]));
      const std::string& structure = items_.back().structure;
      const int number = structure.empty() ? -static_cast<int>(i) - 1 : static_cast<int>(numbers.size());
      alike_.push_back(structure.empty() ? number : numbers.emplace(structure, number).first->second);
      for (const int target : targets(draft, draft.items[i])) writers_[target].push_back(i);
    }
  }

  // The loop that saves most.
  std::optional<Unrolled> best() const {
    std::vector<Stretch> all = stretches();
    std::stable_sort(all.begin(), all.end(), [](const Stretch& a, const Stretch& b) { return a.saved() > b.saved(); });
    for (const Stretch& stretch : all) {
      if (auto loop = in(stretch)) return loop;
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

  // A step may begin anywhere in the period: where the fewest tensors cross from step to step.
  std::optional<Unrolled> in(const Stretch& stretch) const {
    std::optional<Unrolled> best;
    for (size_t shift = 0; shift < stretch.period; ++shift) {
      const size_t count = (stretch.length - shift) / stretch.period;
      if (count < kFewestSteps) break;
      auto loop = unrolled(items_, writers_, stretch.first + shift, stretch.period, count);
      if (!loop) loop = unrolled(items_, writers_, stretch.first + shift + stretch.period, stretch.period, count - 1);
      if (!loop || loop->count < kFewestSteps) continue;
      if (!best || loop->carried < best->carried) best = std::move(loop);
    }
    return best;
  }

  std::vector<LoopItem> items_;
  std::vector<int> alike_;  // equal for items of one structure
  std::map<int, std::vector<size_t>> writers_;
};

}  // namespace

void reroll(Draft& draft) {
  while (const std::optional<Unrolled> loop = Finder(draft).best()) roll(draft, *loop);
}

}  // namespace solstice::importer
