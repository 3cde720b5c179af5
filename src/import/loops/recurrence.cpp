#include "import/loops/recurrence.h"

#include <algorithm>

namespace solstice::importer {
namespace {

// The equations of a step that feed back into each other, by place: a number for each circle, -1 outside of all.
class Circles {
 public:
  explicit Circles(const Unrolled& loop) : loop_(loop), of_(loop.period, -1) {
    std::vector<std::vector<char>> reached;
    for (size_t p = 0; p < loop.period; ++p) reached.push_back(from(p));
    for (size_t p = 0; p < loop.period; ++p) {
      if (of_[p] >= 0 || !reached[p][p]) continue;
      for (size_t q = p; q < loop.period; ++q) {
        if (reached[p][q] && reached[q][p]) of_[q] = count_;
      }
      ++count_;
    }
  }

  int of(size_t place) const { return of_[place]; }
  int count() const { return count_; }

 private:
  // What the equation at this place reads, and so on.
  std::vector<char> from(size_t place) const {
    std::vector<char> seen(loop_.period, 0);
    std::vector<size_t> todo{place};
    while (!todo.empty()) {
      const size_t at = todo.back();
      todo.pop_back();
      for (const Unrolled::Read& read : loop_.places[at].reads) {
        if (read.position < 0 || seen[static_cast<size_t>(read.position)]) continue;
        seen[static_cast<size_t>(read.position)] = 1;
        todo.push_back(static_cast<size_t>(read.position));
      }
    }
    return seen;
  }

  const Unrolled& loop_;
  std::vector<int> of_;
  int count_ = 0;
};

// One equation of a circle: a linear function of what it reads of the circle.
class LinearEquation {
 public:
  LinearEquation(const Draft& draft, const Unrolled& loop, const Circles& circles, size_t place)
      : equation_(draft.items[loop.at(loop.pattern, place)].equation), loop_(loop), circles_(circles), place_(place) {}

  bool run() {
    (void)degree(equation_.rhs);
    return fits_;
  }

 private:
  // 0: without the circle; 1: linear in it.
  int degree(const TermRef& term) {
    switch (term->kind) {
      case TermKind::kLiteral:
        return 0;
      case TermKind::kIndex:
        gathers(term->indices);
        return 0;
      case TermKind::kRead:
        return read(*term);
      case TermKind::kReduce:
        fits_ = false;
        return 0;
      case TermKind::kPrefix:
        return term->text == "-" ? degree(term->args[0]) : free(term->args);
      case TermKind::kBinary:
        return binary(*term);
      case TermKind::kApply:
        return term->text == "select" ? select(*term) : free(term->args);
    }
    return 0;
  }

  int free(const std::vector<TermRef>& args) {
    for (const TermRef& arg : args) fits_ = degree(arg) == 0 && fits_;
    return 0;
  }

  int binary(const Term& term) {
    const int a = degree(term.args[0]), b = degree(term.args[1]);
    if (term.text == "+" || term.text == "-") return std::max(a, b);
    const bool product = (term.text == "*" && a + b < 2) || (term.text == "/" && b == 0);
    fits_ = fits_ && (product || a + b == 0);
    return std::min(a + b, 1);
  }

  int select(const Term& term) {
    fits_ = degree(term.args[0]) == 0 && fits_;
    const int yes = degree(term.args[1]);
    return std::max(yes, degree(term.args[2]));
  }

  // The order of reads is that of a visit of the equation, in which indices come before the `else`.
  int read(const Term& term) {
    const Unrolled::Read& known = loop_.places[place_].reads[next_read_++];
    gathers(term.indices);
    if (term.has_else()) (void)degree(term.args[0]);
    if (known.position < 0 || circles_.of(static_cast<size_t>(known.position)) != circles_.of(place_)) return 0;
    fits_ = fits_ && !term.has_else() && is_own_element(term);
    return 1;
  }

  void gathers(const std::vector<Index>& indices) {
    for (const Index& index : indices) {
      (void)any_read(index, [&](const TermRef& term) {
        fits_ = degree(term) == 0 && fits_;
        return false;
      });
    }
  }

  // The indices are those of the left side.
  bool is_own_element(const Term& term) const {
    const auto same = [](const Index& a, const Index& b) {
      return a.bare() ? b.bare() && a.bare()->id == b.bare()->id
                      : a.is_constant() && b.is_constant() && a.offset.value() == b.offset.value();
    };
    return std::equal(term.indices.begin(), term.indices.end(), equation_.lhs.begin(), equation_.lhs.end(), same);
  }

  const DraftEquation& equation_;
  const Unrolled& loop_;
  const Circles& circles_;
  const size_t place_;
  size_t next_read_ = 0;
  bool fits_ = true;
};

// A circle reads one of its own tensors of the step before: that is its state.
bool has_one_state(const Unrolled& loop, const Circles& circles, int circle) {
  std::vector<int> states;
  for (size_t p = 0; p < loop.period; ++p) {
    for (const Unrolled::Read& read : loop.places[p].reads) {
      if (circles.of(p) == circle && read.distance == 1 && circles.of(static_cast<size_t>(read.position)) == circle)
        states.push_back(read.position);
    }
  }
  return !states.empty() && std::count(states.begin(), states.end(), states[0]) == std::ssize(states);
}

}  // namespace

bool is_of_linear_recurrences(const Draft& draft, const Unrolled& loop) {
  const Circles circles(loop);
  for (int circle = 0; circle < circles.count(); ++circle) {
    if (!has_one_state(loop, circles, circle)) return false;
  }
  for (size_t p = 0; p < loop.period; ++p) {
    if (circles.of(p) < 0) continue;
    const int target = draft.items[loop.at(loop.pattern, p)].equation.tensor;
    if (!is_float(draft.tensors[static_cast<size_t>(target)].dtype)) return false;
    if (!LinearEquation(draft, loop, circles, p).run()) return false;
  }
  return circles.count() > 0;
}

bool has_readers(const Unrolled& loop) {
  const Circles circles(loop);
  for (size_t p = 0; p < loop.period; ++p) {
    const auto is_state = [&](const Unrolled::Read& read) {
      return read.position >= 0 && circles.of(static_cast<size_t>(read.position)) >= 0;
    };
    const auto& reads = loop.places[p].reads;
    if (circles.of(p) < 0 && std::any_of(reads.begin(), reads.end(), is_state)) return true;
  }
  return false;
}

}  // namespace solstice::importer
