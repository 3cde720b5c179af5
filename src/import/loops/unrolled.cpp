#include "import/loops/unrolled.h"

#include <set>

namespace solstice::importer {
namespace {

class Checker {
 public:
  Checker(const std::vector<LoopItem>& items, const Writers& writers, Unrolled& out)
      : items_(items), writers_(writers), out_(out) {}

  bool run() {
    if (!may_be_steps()) return false;
    for (size_t p = 0; p < out_.period; ++p) {
      out_.places.emplace_back();
      if (!targets(p) || !offsets(p) || !numbers(p) || !sizes(p)) return false;
    }
    for (size_t p = 0; p < out_.period; ++p) {
      for (size_t r = 0; r < item(0, p).reads.size(); ++r) {
        if (!read(p, r)) return false;
      }
    }
    return true;
  }

 private:
  // What is made outside is the same for the first and the last steps: a look at few of them, before all are compared.
  bool may_be_steps() const {
    for (size_t p = 0; p < out_.period; ++p) {
      for (size_t r = 0; r < item(0, p).reads.size(); ++r) {
        const int last = item(out_.count - 1, p).reads[r];
        const auto made = writers_.find(last);
        const bool outside = made == writers_.end() || !inside(made->second[0]);
        if (outside && (item(0, p).reads[r] != last || item(1, p).reads[r] != last)) return false;
      }
    }
    return true;
  }

  const LoopItem& item(size_t step, size_t position) const { return items_[out_.at(step, position)]; }
  bool inside(size_t index) const { return index >= out_.first && index < out_.last(); }

  // A tensor of its own for each step, written within the step; or one for all, written in pieces that move.
  bool targets(size_t p) {
    Unrolled::Place& place = out_.places[p];
    place.pieces = item(0, p).target == item(1, p).target;
    for (size_t k = 0; k < out_.count; ++k) {
      const int target = item(k, p).target;
      if (place.pieces && target != item(0, p).target) return false;
      if (place.pieces) continue;
      for (const size_t writer : writers_.at(target)) {
        if (!inside(writer) || (writer - out_.first) / out_.period != k) return false;
      }
    }
    return true;
  }

  bool offsets(size_t p) {
    bool moves = false;
    for (size_t i = 0; i < item(0, p).offsets.size(); ++i) {
      const int64_t start = item(0, p).offsets[i].value();
      const int64_t step = item(1, p).offsets[i].value() - start;
      for (size_t k = 2; k < out_.count; ++k) {
        if (item(k, p).offsets[i].value() != start + step * static_cast<int64_t>(k)) return false;
      }
      out_.places[p].offsets.push_back({start, step});
      moves = moves || step != 0;
    }
    return moves || !out_.places[p].pieces;
  }

  bool numbers(size_t p) {
    for (size_t i = 0; i < item(0, p).numbers.size(); ++i) {
      const auto same = [&](size_t k) {
        const LoopItem::Number &first = item(0, p).numbers[i], &other = item(k, p).numbers[i];
        return first.units == other.units && first.text == other.text;
      };
      Unrolled::Number out;
      bool is_fixed = true;
      for (size_t k = 1; k < out_.count && is_fixed; ++k) is_fixed = same(k);
      if (!is_fixed && !moving(p, i, out)) return false;
      out_.places[p].numbers.push_back(out);
    }
    return true;
  }

  // Fractions are computed at run time, so all that they are computed from has to be exact in f32.
  bool moving(size_t p, size_t i, Unrolled::Number& out) const {
    const auto units = [&](size_t k) { return item(k, p).numbers[i].units; };
    if (!units(0) || !units(1)) return false;
    out = {*units(0), *units(1) - *units(0)};
    for (size_t k = 0; k < out_.count; ++k) {
      int64_t grown = 0;
      if (!units(k) || __builtin_mul_overflow(out.step, static_cast<int64_t>(k), &grown) ||
          *units(k) - out.start != grown)
        return false;
      if (!out.is_whole() && !(is_float(grown) && is_float(*units(k)))) return false;
    }
    return true;
  }

  static bool is_float(int64_t units) { return static_cast<int64_t>(static_cast<float>(units)) == units; }

  bool sizes(size_t p) {
    for (size_t k = 1; k < out_.count; ++k) {
      for (size_t i = 0; i < item(0, p).sizes.size(); ++i) {
        const Size& first = item(0, p).sizes[i];
        const Size& other = item(k, p).sizes[i];
        if (first.terms() == other.terms()) continue;
        if (!is_dim(first) || !is_dim(other)) return false;
        out_.joined.emplace_back(first.terms().begin()->first[0], other.terms().begin()->first[0]);
      }
    }
    return true;
  }

  static bool is_dim(const Size& size) {
    const auto& terms = size.terms();
    return terms.size() == 1 && terms.begin()->second == 1 && terms.begin()->first.size() == 1;
  }

  bool read(size_t p, size_t r) {
    const auto of = [&](size_t k) { return item(k, p).reads[r]; };
    const int last = of(out_.count - 1);
    Unrolled::Read out;
    const auto writers = writers_.find(last);
    const bool made_inside = writers != writers_.end() && inside(writers->second[0]);
    if (!made_inside) {
      for (size_t k = 0; k < out_.count; ++k) {
        if (of(k) != last) return false;
      }
      out_.places[p].reads.push_back(out);
      return true;
    }
    const size_t writer = writers->second[0] - out_.first;
    out.position = static_cast<int>(writer % out_.period);
    const size_t distance = out_.count - 1 - writer / out_.period;
    const auto position = static_cast<size_t>(out.position);
    if (distance > 1 || out_.places[position].pieces) return false;
    for (size_t k = distance; k < out_.count; ++k) {
      if (of(k) != item(k - distance, position).target) return false;
    }
    out.distance = static_cast<int>(distance);
    if (distance == 1) {
      out.initial = of(0);
      const auto made = writers_.find(out.initial);
      if (made != writers_.end() && inside(made->second[0])) return false;
      carried_.insert(out.position);
      out_.carried = {carried_.size(), out_.carried.second + 1};
    }
    out_.places[p].reads.push_back(out);
    return true;
  }

  const std::vector<LoopItem>& items_;
  const Writers& writers_;
  Unrolled& out_;
  std::set<int> carried_;
};

}  // namespace

std::optional<Unrolled> unrolled(const std::vector<LoopItem>& items, const Writers& writers, size_t first,
                                 size_t period, size_t count) {
  Unrolled out;
  out.first = first;
  out.period = period;
  out.count = count;
  if (!Checker(items, writers, out).run()) return std::nullopt;
  return out;
}

}  // namespace solstice::importer
