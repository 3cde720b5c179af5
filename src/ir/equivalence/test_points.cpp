// Comparison at single elements of the real shapes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "ir/equivalence/compare.h"
#include "ir/equivalence/inputs.h"
#include "ir/equivalence/magnitude.h"
#include "ir/equivalence/masks.h"
#include "ir/equivalence/points.h"
#include "ir/equivalence/testing.h"
#include "ir/equivalence/uses.h"
#include "ir/interpret/interpret_at.h"

namespace solstice::ir {
namespace {

constexpr size_t kFirstPoints = 4;  // of every family, whatever they cost
constexpr size_t kMostAtOnce = 256;
constexpr size_t kPointsForCoverage = 64;
constexpr int kTermsCost = 8;  // times what the values cost
constexpr int kMostRounds = 8;
constexpr int kPointsOfSize = 96, kPointsToStop = 12;
constexpr int64_t kSeedsOfRound = 16;  // of a round
constexpr int64_t kCheap = 20;         // a part of the operations that further rounds may take

// These inputs are not the problem's, or its integers leave what is computed exactly; with others it may have a value.
bool is_skipped(Code code) { return code == Code::program_invalid || code == Code::not_yet; }

class PointTest {
  using Integers = InputFunctions::Integers;

 public:
  PointTest(const Program& problem, const Program& candidate, Tested tested, int64_t operations,
            const Deadline& deadline, Equivalence& out)
      : problem_(problem),
        tested_(tested),
        operations_(operations),
        deadline_(deadline),
        out_(out),
        uses_(problem, &candidate),
        a_(problem),
        b_(candidate) {
    Boundaries boundaries;
    boundaries.add(problem);
    boundaries.add(candidate);
    std::vector<bool> defined(problem.tensors.size(), false);
    for (const Equation& e : problem.equations) defined[static_cast<size_t>(e.target)] = true;
    for (size_t t = 0; t < problem.tensors.size(); ++t) {
      const Tensor& tensor = problem.tensors[t];
      if (!defined[t] || (tensor.kind != TensorKind::kOutput && tensor.into < 0)) continue;
      const auto [known, made] = positions_.try_emplace(tensor.shape);
      if (made) known->second = positions_of(tensor.shape, boundaries);
      asked_.push_back({static_cast<int>(t), candidate.find_tensor(tensor.name), known->second, 0, 0});
    }
    for (const Tensor& tensor : candidate.tensors) named_.push_back(problem.find_tensor(tensor.name));
  }

  Outcome run() {
    std::vector<int> plain(static_cast<size_t>(input_families()));
    std::iota(plain.begin(), plain.end(), 0);
    std::vector<int> all = families_beyond(uses_);
    all.insert(all.begin(), plain.begin(), plain.end());
    if (const Outcome o = try_families(all, asked_points()); o != Outcome::kEqual) return o;
    // Cheap programs are tried with other values, and every point with other families: ties and zeros of a few elements
    // are rare, and a zero may hide a difference.
    for (round_ = 1;
         round_ < kMostRounds && spent_ * (round_ + 1) < round_ * operations_ / kCheap && !deadline_.passed();
         ++round_) {
      for (Asked& t : asked_) t.next += asked_points();
      if (try_families(plain, asked_points()) == Outcome::kDifferent) return Outcome::kDifferent;
    }
    if (try_sizes() == Outcome::kDifferent) return Outcome::kDifferent;
    Coverage coverage = taken();
    for (int f = 0; f < rescaled_families() && !coverage.is_complete() && !deadline_.passed(); ++f) {
      if (try_families({input_families() + f}, kPointsForCoverage) == Outcome::kDifferent) return Outcome::kDifferent;
      coverage = taken();
    }
    out_.uncovered = coverage.uncovered();
    out_.beyond = coverage.uncovered(true);
    const bool compared = std::all_of(asked_.begin(), asked_.end(), [](const Asked& t) { return t.finite > 0; });
    if (!compared) out_.reason = inexact_;
    return compared ? Outcome::kEqual : Outcome::kNotTested;
  }

 private:
  struct Asked {
    int in_problem, in_candidate;
    const std::vector<int64_t>& positions;
    size_t next;       // the first place that no family has tried; after the last from the front
    size_t finite;     // elements compared
    size_t tried = 0;  // by this family
  };

  size_t asked_points() const {
    size_t most = 0;
    for (const Asked& t : asked_) most = std::max(most, t.positions.size());
    return std::max(most / static_cast<size_t>(input_families()) + 1, std::min(most, kPointsForCoverage));
  }

  Coverage taken() const {
    Coverage out;
    a_.add_coverage(out);
    b_.add_coverage(out);
    return out;
  }

  // The first points of every family before more of any.
  Outcome try_families(const std::vector<int>& families, size_t points) {
    std::vector<std::pair<int, Integers>> taken;
    for (const int f : families) {
      const Outcome o = first_points(f, taken);
      if (o != Outcome::kEqual) return o;
    }
    for (const auto& [family, integers] : taken) {
      begin(family, integers);
      const Outcome o = more_points(points);
      spent_ += a_.operations() + b_.operations();
      if (o != Outcome::kEqual) return o;
    }
    return Outcome::kEqual;
  }

  // Integers of one size after the other, up to the ends of their types. Point by point: what some have lies beyond
  // what is computed exactly.
  Outcome try_sizes() {
    const auto is_integer = [&](const Tensor& t) {
      return t.value == ValueKind::kInt && t.is_interface() && t.kind != TensorKind::kOutput;
    };
    if (std::none_of(problem_.tensors.begin(), problem_.tensors.end(), is_integer)) return Outcome::kEqual;
    const int64_t most = spent_ + operations_ / kCheap;
    for (size_t s = 0; s < InputFunctions::kSizes.size() && spent_ < most && !deadline_.passed(); ++s) {
      for (Asked& t : asked_) {
        if (try_size(t, static_cast<int>(s)) == Outcome::kDifferent) return Outcome::kDifferent;
      }
    }
    return Outcome::kEqual;
  }

  // Ends where the first points all stop the problem.
  Outcome try_size(Asked& t, int size) {
    int equal = 0;
    for (int k = 0; k < kPointsOfSize && (equal > 0 || k < kPointsToStop) && !t.positions.empty(); ++k) {
      round_ = kMostRounds + size * kPointsOfSize + k;
      begin(k % input_families(), Integers::kSized, InputFunctions::kSizes[static_cast<size_t>(size)]);
      const Outcome o = compare(t, {t.positions[static_cast<size_t>(k) % t.positions.size()]});
      spent_ += a_.operations() + b_.operations();
      if (o == Outcome::kDifferent) return o;
      equal += o == Outcome::kEqual ? 1 : 0;
    }
    return Outcome::kEqual;
  }

  void begin(int family, Integers integers, int size = 0) {
    inputs_.emplace(problem_, uses_, family, static_cast<uint64_t>(family + kSeedsOfRound * round_) + 1, integers,
                    size);
    family_ = family;
    const int64_t share = operations_ / input_families() / 2;
    a_.begin(values_, share, deadline_);
    b_.begin([&](int t, const int64_t* at, int64_t n,
                 double* out) { inputs_->evaluate(named_[static_cast<size_t>(t)], at, n, out); },
             share, deadline_);
  }

  // Integers of any size and sign; where the problem stops at such, those that it takes.
  Outcome first_points(int family, std::vector<std::pair<int, Integers>>& taken) {
    for (const Integers integers : {Integers::kAnySize, Integers::kWide, Integers::kInRange}) {
      if (integers == Integers::kAnySize && family != InputFunctions::kFamilyOfAnySize) continue;
      begin(family, integers);
      Outcome o = Outcome::kEqual;
      for (size_t k = 0; k < asked_.size() && o == Outcome::kEqual; ++k) {
        Asked& t = asked_[k];
        t.tried = std::min(kFirstPoints, t.positions.size());
        o = compare(t, {t.positions.begin(), t.positions.begin() + static_cast<ptrdiff_t>(t.tried)});
      }
      spent_ += a_.operations() + b_.operations();
      if (o == Outcome::kNotTested && skipped_) continue;
      if (o == Outcome::kEqual) ++out_.families, taken.emplace_back(family, integers);
      return o;
    }
    return Outcome::kEqual;
  }

  // Points that no other family tried, in growing batches, until the share of operations is spent.
  Outcome more_points(size_t points) {
    for (Asked& t : asked_) t.tried = std::min(kFirstPoints, t.positions.size());
    size_t batch = 2 * kFirstPoints;
    for (size_t done = 0; done < points; done += batch, batch = std::min(2 * batch, kMostAtOnce)) {
      for (Asked& t : asked_) {
        if (t.tried >= t.positions.size()) continue;
        t.next = std::max(t.next, kFirstPoints);
        if (t.next >= t.positions.size()) t.next = kFirstPoints;
        const size_t last = std::min({t.positions.size(), t.next + batch, t.next + points - done});
        const Outcome o = compare(t, {t.positions.begin() + static_cast<ptrdiff_t>(t.next),
                                      t.positions.begin() + static_cast<ptrdiff_t>(last)});
        if (o == Outcome::kDifferent) return o;
        if (o == Outcome::kNotTested) return Outcome::kEqual;  // the share is spent
        t.tried += last - t.next;
        t.next = last;
      }
    }
    return Outcome::kEqual;
  }

  void note_inexact(const Error& e) {
    if (e.code == Code::not_yet) inexact_ = e.message;
  }

  Outcome compare(Asked& t, const std::vector<int64_t>& at) {
    skipped_ = false;
    const auto expected = a_.at(t.in_problem, at);
    if (!expected.ok()) {
      skipped_ = is_skipped(expected.error().code);
      note_inexact(expected.error());
      return Outcome::kNotTested;
    }
    const auto actual = b_.at(t.in_candidate, at);
    if (!actual.ok()) {
      skipped_ = actual.error().code == Code::not_yet;
      note_inexact(actual.error());
      if (actual.error().code != Code::program_invalid) return Outcome::kNotTested;
      out_.reason = fmt::format("the candidate fails where the problem does not: {}", actual.error().message);
      return Outcome::kDifferent;
    }
    const Tensor& tensor = problem_.tensor(t.in_problem);
    const Terms terms =
        terms_of(problem_, tensor.name, [&](const Program& program, const std::string& name, const auto& places) {
          return values_of(program, name, at, places);
        });
    Compared found = compared(*expected, *actual, tensor.value != ValueKind::kReal, terms);
    const auto masked = [&](const std::vector<size_t>& places) {
      return values_of(with_finite_masks(problem_), tensor.name, at, places);
    };
    add_infinities(found, tested_, masked);
    t.finite += found.finite;
    out_.points += static_cast<int64_t>(at.size() - found.unasked);
    out_.unasked += static_cast<int64_t>(found.unasked);
    for (const size_t i : found.different) {
      if (out_.counterexamples.size() >= kMostCounterexamples) break;
      out_.counterexamples.push_back({tensor.name,
                                      index_at(at[i], tensor.shape),
                                      (*expected)[i],
                                      (*actual)[i],
                                      std::string(input_family_name(family_)),
                                      {}});
    }
    if (found.different.empty()) return Outcome::kEqual;
    out_.reason = difference_text(out_);
    return Outcome::kDifferent;
  }

  // Values of a program at the problem's inputs.
  std::vector<double> values_of(const Program& program, const std::string& name, const std::vector<int64_t>& at,
                                const std::vector<size_t>& places) {
    PointInterpreter values(program);
    values.begin(values_, kTermsCost * operations_, deadline_);
    std::vector<int64_t> positions;
    for (const size_t p : places) positions.push_back(at[p]);
    const auto out = values.at(program.find_tensor(name), positions);
    return out.ok() ? *out : std::vector<double>();
  }

  const Program& problem_;
  const Tested tested_;
  const int64_t operations_;
  const Deadline& deadline_;
  Equivalence& out_;
  const Uses uses_;
  PointInterpreter a_, b_;
  std::map<std::vector<int64_t>, std::vector<int64_t>> positions_;  // by shape
  std::vector<Asked> asked_;
  std::vector<int> named_;  // by tensor of the candidate: the problem's of that name
  std::optional<InputFunctions> inputs_;
  const InputFunction values_ = [this](int t, const int64_t* at, int64_t n, double* out) {
    inputs_->evaluate(t, at, n, out);
  };
  int family_ = 0;
  int64_t spent_ = 0;  // operations of all families
  int64_t round_ = 0;
  bool skipped_ = false;
  std::string inexact_;
};

}  // namespace

Outcome test_points(const Program& problem, const Program& candidate, Tested tested, int64_t operations,
                    const Deadline& deadline, Equivalence& out) {
  return PointTest(problem, candidate, tested, operations, deadline, out).run();
}

std::vector<int64_t> index_at(int64_t position, const std::vector<int64_t>& shape) {
  std::vector<int64_t> out(shape.size());
  for (size_t d = shape.size(); d-- > 0; position /= shape[d]) out[d] = position % shape[d];
  return out;
}

std::string difference_text(const Equivalence& found) {
  const Counterexample& c = found.counterexamples[0];
  return fmt::format("`{}[{}]` is {} in the problem and {} in the candidate (inputs: {})", c.tensor,
                     fmt::join(c.index, ","), c.problem, c.candidate, c.family);
}

}  // namespace solstice::ir
