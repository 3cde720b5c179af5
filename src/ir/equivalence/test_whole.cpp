// Comparison of all elements, at dims that are small enough.
#include <fmt/format.h>

#include "ir/equivalence/compare.h"
#include "ir/equivalence/inputs.h"
#include "ir/equivalence/magnitude.h"
#include "ir/equivalence/masks.h"
#include "ir/equivalence/testing.h"

namespace solstice::ir {
namespace {

class WholeTest {
 public:
  WholeTest(const Program& problem, const Program& candidate, Tested tested, const Deadline& deadline, Equivalence& out)
      : problem_(problem), candidate_(candidate), tested_(tested), out_(out), uses_(problem, &candidate) {
    options_.deadline = deadline;
    options_.coverage = &coverage_;
  }

  Outcome run() {
    const int tried = out_.families;
    for (int f = 0; f < input_families(); ++f) {
      if (const Outcome o = try_family(f); o != Outcome::kEqual) return o;
    }
    std::vector<int> more = families_beyond(uses_);
    const size_t beyond = more.size();
    for (int f = input_families(); f < input_families() + rescaled_families(); ++f) more.push_back(f);
    for (size_t k = 0; k < more.size() && (k < beyond || !coverage_.is_complete()); ++k) {
      const Outcome o = try_family(more[k]);
      if (o == Outcome::kDifferent) return o;
      if (o == Outcome::kNotTested) break;
    }
    out_.uncovered = coverage_.uncovered();
    out_.beyond = coverage_.uncovered(true);
    return out_.families > tried && finite_ ? Outcome::kEqual : Outcome::kNotTested;
  }

 private:
  Outcome try_family(int family) {
    TensorValues inputs;
    auto expected = Result<TensorValues>(inputs);
    using Integers = InputFunctions::Integers;
    for (const auto integers : {Integers::kAnySize, Integers::kWide, Integers::kInRange}) {
      if (integers == Integers::kAnySize && family != InputFunctions::kFamilyOfAnySize) continue;
      inputs =
          all_values(problem_, InputFunctions(problem_, uses_, family, static_cast<uint64_t>(family) + 1, integers));
      expected = interpret(problem_, inputs, options_);
      if (expected.ok() || expected.error().code == Code::deadline) break;
    }
    if (!expected.ok() && expected.error().code == Code::deadline) return Outcome::kNotTested;
    if (!expected.ok()) return Outcome::kEqual;  // these inputs are not the problem's; other families may be
    const auto actual = interpret(candidate_, inputs, options_);
    if (!actual.ok() && actual.error().code == Code::deadline) return Outcome::kNotTested;
    if (!actual.ok() && actual.error().code == Code::not_yet) return Outcome::kEqual;
    if (!actual.ok()) {
      out_.reason = fmt::format("the candidate fails where the problem does not: {}", actual.error().message);
      return Outcome::kDifferent;
    }
    ++out_.families;
    for (const auto& [name, value] : *expected) compare(name, value, actual->at(name).values, inputs, family);
    if (out_.counterexamples.empty()) return Outcome::kEqual;
    out_.reason = difference_text(out_);
    return Outcome::kDifferent;
  }

  void compare(const std::string& name, const TensorValue& expected, const std::vector<double>& actual,
               const TensorValues& inputs, int family) {
    const bool exactly = problem_.tensor(problem_.find_tensor(name)).value != ValueKind::kReal;
    const Terms terms =
        terms_of(problem_, name, [&](const Program& program, const std::string& of, const auto& places) {
          return values_of(program, of, places, inputs);
        });
    Compared found = compared(expected.values, actual, exactly, terms);
    const auto masked = [&](const std::vector<size_t>& places) {
      return values_of(with_finite_masks(problem_), name, places, inputs);
    };
    add_infinities(found, tested_, masked);
    finite_ = finite_ || found.finite > 0;
    out_.unasked += static_cast<int64_t>(found.unasked);
    for (const size_t i : found.different) {
      if (out_.counterexamples.size() >= kMostCounterexamples) return;
      out_.counterexamples.push_back({name, index_at(static_cast<int64_t>(i), expected.shape), expected.values[i],
                                      actual[i], std::string(input_family_name(family)), out_.dims});
    }
  }

  std::vector<double> values_of(const Program& program, const std::string& name, const std::vector<size_t>& places,
                                const TensorValues& inputs) const {
    InterpretOptions options;
    options.deadline = options_.deadline;
    const auto found = interpret(program, inputs, options);
    std::vector<double> out;
    if (!found.ok()) return out;
    const std::vector<double>& all = found->at(name).values;
    for (const size_t p : places) out.push_back(all[p]);
    return out;
  }

  const Program& problem_;
  const Program& candidate_;
  const Tested tested_;
  Equivalence& out_;
  const Uses uses_;
  InterpretOptions options_;
  Coverage coverage_;
  bool finite_ = false;
};

}  // namespace

Outcome test_whole(const Program& problem, const Program& candidate, Tested tested, const Deadline& deadline,
                   Equivalence& out) {
  return WholeTest(problem, candidate, tested, deadline, out).run();
}

}  // namespace solstice::ir
