#include "diagnose/sass/loops.h"

#include <algorithm>
#include <utility>

namespace solstice::diagnose::sass {
namespace {

class LoopFinder {
 public:
  LoopFinder(const Function& function, const Flow& flow) : function_(function), flow_(flow) {
    out_.innermost.assign(flow.blocks.size(), -1);
  }

  Loops run() {
    number_dominated();
    // Inner loops first: a header comes in the order before those of the loops inside.
    for (auto block = flow_.order.rbegin(); block != flow_.order.rend(); ++block) {
      std::vector<int> latches = latches_of(*block);
      if (!latches.empty()) add_loop(*block, std::move(latches));
    }
    sort();
    return std::move(out_);
  }

 private:
  // Entry and exit numbers of a walk of the tree of dominators: a block dominates those whose numbers lie within.
  void number_dominated() {
    const size_t count = flow_.order.size();
    std::vector<std::vector<int>> below(count);
    std::vector<int> roots;
    for (const int block : flow_.order) {
      const int above = flow_.dominator[static_cast<size_t>(block)];
      (above < 0 ? roots : below[static_cast<size_t>(above)]).push_back(block);
    }
    enter_.assign(count, 0);
    leave_.assign(count, 0);
    int clock = 0;
    std::vector<std::pair<int, bool>> work;
    for (const int root : roots) work.emplace_back(root, false);
    while (!work.empty()) {
      const auto [block, left] = work.back();
      work.pop_back();
      const auto b = static_cast<size_t>(block);
      (left ? leave_ : enter_)[b] = clock++;
      if (left) continue;
      work.emplace_back(block, true);
      for (const int child : below[b]) work.emplace_back(child, false);
    }
  }

  bool dominates(int above, int block) const {
    const auto a = static_cast<size_t>(above), b = static_cast<size_t>(block);
    return enter_[a] <= enter_[b] && leave_[b] <= leave_[a];
  }

  bool is_trap(int block) const {
    const Block& at = flow_.blocks[static_cast<size_t>(block)];
    return at.end - at.first == 1 && always_jumps(function_.instructions[at.first]);
  }

  std::vector<int> latches_of(int header) const {
    std::vector<int> out;
    for (const int from : flow_.blocks[static_cast<size_t>(header)].before) {
      if (dominates(header, from) && !(from == header && is_trap(header))) out.push_back(from);
    }
    return out;
  }

  // The outermost loop found so far that holds a block, -1: none. Shortens the way for the next time.
  int outermost(int block) {
    int loop = out_.innermost[static_cast<size_t>(block)];
    if (loop < 0) return -1;
    int top = loop;
    while (around_[static_cast<size_t>(top)] >= 0) top = around_[static_cast<size_t>(top)];
    while (loop != top) loop = std::exchange(around_[static_cast<size_t>(loop)], top);
    return top;
  }

  void add_loop(int header, std::vector<int> latches) {
    const int index = static_cast<int>(out_.loops.size());
    std::vector<int> work = latches;
    out_.loops.push_back({.header = header, .latches = std::move(latches)});
    around_.push_back(-1);
    out_.innermost[static_cast<size_t>(header)] = index;
    while (!work.empty()) {
      const int block = work.back();
      work.pop_back();
      const int holds = outermost(block);
      if (holds == index) continue;
      int continues = block;
      if (holds < 0) {
        out_.innermost[static_cast<size_t>(block)] = index;
      } else {
        out_.loops[static_cast<size_t>(holds)].parent = index;
        around_[static_cast<size_t>(holds)] = index;
        continues = out_.loops[static_cast<size_t>(holds)].header;
      }
      const std::vector<int>& before = flow_.blocks[static_cast<size_t>(continues)].before;
      work.insert(work.end(), before.begin(), before.end());
    }
  }

  // Outer loops before inner ones, those of one parent by address.
  void sort() {
    const size_t count = out_.loops.size();
    std::vector<std::vector<int>> below(count);
    std::vector<int> work, place(count, -1);
    for (size_t i = 0; i < count; ++i) {
      const int parent = out_.loops[i].parent;
      (parent < 0 ? work : below[static_cast<size_t>(parent)]).push_back(static_cast<int>(i));
    }
    const auto later = [&](int a, int b) {
      return out_.loops[static_cast<size_t>(a)].header > out_.loops[static_cast<size_t>(b)].header;
    };
    std::sort(work.begin(), work.end(), later);
    std::vector<Loop> sorted;
    while (!work.empty()) {
      const auto at = static_cast<size_t>(work.back());
      work.pop_back();
      place[at] = static_cast<int>(sorted.size());
      sorted.push_back(std::move(out_.loops[at]));
      Loop& loop = sorted.back();
      if (loop.parent >= 0) loop.parent = place[static_cast<size_t>(loop.parent)];
      if (loop.parent >= 0) loop.depth = sorted[static_cast<size_t>(loop.parent)].depth + 1;
      std::sort(below[at].begin(), below[at].end(), later);
      work.insert(work.end(), below[at].begin(), below[at].end());
    }
    out_.loops = std::move(sorted);
    for (int& loop : out_.innermost) {
      if (loop >= 0) loop = place[static_cast<size_t>(loop)];
    }
  }

  const Function& function_;
  const Flow& flow_;
  Loops out_;
  std::vector<int> around_;  // of each loop a loop around it, not always the nearest
  std::vector<int> enter_, leave_;
};

}  // namespace

Loops loops_of(const Function& function, const Flow& flow) { return LoopFinder(function, flow).run(); }

}  // namespace solstice::diagnose::sass
