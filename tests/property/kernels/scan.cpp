// Prefix reductions along one axis: either direction, with or without their own element, filtered, over flipped
// tensors, several in one kernel, with maps before and behind; and linear recurrences in their place, at times only
// their last states.
#include <fmt/format.h>

#include <algorithm>

#include "property/kernels/generators.h"

namespace solstice::random_kernels {
namespace {

class ScanDraft {
 public:
  explicit ScanDraft(Draft& draft) : d_(draft), random_(draft.random) {}

  void run() {
    backwards_ = random_.percent(30);
    filtered_ = random_.percent(25);
    recurrent_ = random_.percent(30);
    choose_axes();
    last_ = recurrent_ && all_.size() > 1 && random_.percent(30);
    data_ = d_.whole(all_);
    // Last states of several layouts would be boxes of different extents.
    const int prefixes = last_ ? 1 : random_.of({1, 1, 1, 2, 3});
    for (int k = 0; k < prefixes; ++k) prefixes_.push_back(recurrent_ ? recurrence() : named(prefix()));
    const int outputs = last_ ? 1 : std::max(prefixes, random_.of({1, 1, 2}));
    for (int k = 0; k < outputs; ++k) {
      const Term& prefix = prefixes_[static_cast<size_t>(std::min(k, prefixes - 1))];
      last_ ? last_state(prefix) : output(prefix);
    }
  }

 private:
  // The interpreter takes time in the square of the row but for plain prefixes along the last axis.
  void choose_axes() {
    constexpr int64_t kLongSlow = 2048, kMostSlow = 30'000'000;
    const int kind = random_.below(6);
    slow_ = kind < 2 || backwards_ || filtered_ || recurrent_;
    const int64_t most = random_.percent(70) ? 5000 : d_.sizes.points;
    along_ = {"n", d_.extent(std::min({d_.sizes.row, most, slow_ ? kLongSlow : most}))};
    const int64_t n = slow_ ? std::min(d_.sizes.points, kMostSlow / along_.extent) : d_.sizes.points;
    const int64_t left = std::max<int64_t>(1, n / along_.extent);
    along_at_ = kind == 0 || kind == 2 ? 0 : 1;
    if (kind == 0) all_ = {along_, {"p", d_.extent(left)}};
    if (kind == 1) all_ = {{"m", d_.extent(std::min<int64_t>(32, left))}, along_};
    if (kind == 1) all_.push_back({"p", d_.extent(std::clamp<int64_t>(left / all_[0].extent, 1, 64))});
    if (kind == 2) all_ = {along_};
    if (kind > 2) all_ = {{"m", d_.extent(left)}, along_};
  }

  // Max and min of what is not exact are bounded in time that grows with the square of the row.
  const char* reducer() {
    const bool few = d_.exact || along_.extent <= 300;
    return few ? random_.word({"sum", "sum", "sum", "prod", "max", "min"}) : random_.word({"sum", "sum", "prod"});
  }

  Term element(const Axes& over) {
    const int kind = random_.below(10);
    if (kind < 6) return d_.read(data_, over);
    if (kind == 6) return d_.whole_read({over[along_at_]});
    return kind < 9 ? d_.read(over) : number(random_);
  }

  // In place, or as a local.
  Term computed(const Axes& over) {
    const Axes& at = slow_ ? all_ : over;
    const Term value = clamped(d_.combined(d_.read(data_, at), d_.real(
                                                                   1, [&] { return element(at); }, at)),
                               5);
    if (!slow_) return value;
    Term out = named(value);
    out.text = fmt::format("{}[{}]", out.text.substr(0, out.text.find('[')), names_of(over));
    return out;
  }

  Term prefix() {
    Axes over = all_;
    over[along_at_].name = "j";
    const std::string_view how = reducer();
    const bool exclusive = random_.percent(25), flipped = random_.percent(15);
    Axes read_at = over;
    if (flipped) read_at[along_at_].name = fmt::format("{}-j", along_.extent - 1);
    const char* sign = backwards_ ? (exclusive ? ">" : ">=") : (exclusive ? "<" : "<=");
    std::string where = fmt::format("j {} n", sign);
    const Term data = d_.read(data_, read_at);
    if (filtered_ && random_.percent(70)) where += fmt::format(" and {} > {}", data.text, number(random_).text);
    Term term = data;
    if (random_.percent(50)) term = computed(over);
    const auto text = [&](const std::string& body) {
      return fmt::format("{}[j<{} where {}]({})", how, along_.extent, where, body);
    };
    if (how == "prod") return product(data, text);
    if (how != "sum") return {fmt::format("clamp({}, -31, 31)", text(term.text)), term.exact, 5, term.below};
    const Term out = repeated({text(term.text), term.exact, term.above, term.below}, along_.extent);
    if (out.exact || !d_.exact) return out;
    return repeated({text(fmt::format("sign({})", term.text)), true, 1, 0}, along_.extent);
  }

  // Factors are 1, 0 and -1 where results are to be exact, else within these.
  std::string factor() {
    if (random_.percent(15)) return "1";
    const Term data = random_.percent(50) ? d_.read(data_, all_) : d_.read(all_);
    if (!d_.exact && random_.percent(80)) return fmt::format("tanh({})", data.text);
    if (!data.exact) return "-1";
    return fmt::format("select({0} > {1}, 1, select({0} < {2}, -1, 0))", data.text, number(random_).text,
                       number(random_).text);
  }

  Term recurrence() {
    Axes before = all_;
    before[along_at_].name = backwards_ ? "n+1" : "n-1";
    const std::string name = d_.fresh("s");
    Axes sides = all_;
    sides.erase(sides.begin() + static_cast<long>(along_at_));
    const Term begin = random_.percent(40) ? Term{"0"} : random_.percent(40) ? number(random_) : d_.whole_read(sides);
    Term added = random_.percent(50) ? computed(all_) : d_.read(data_, all_);
    Term out = repeated(sum_of(added, "+", begin), along_.extent + 1);
    if (d_.exact && !out.exact) {
      added = {fmt::format("sign({})", added.text), true, 1, 0};
      out = repeated(sum_of(added, "+", begin), along_.extent + 1);
    }
    const std::string state = fmt::format("{}[{} else {}]", name, names_of(before), begin.text);
    const std::string by = factor(), taken = random_.percent(50) ? fmt::format("{} * {}", by, state)
                                                                 : fmt::format("{} * {}", state, by);
    d_.define(name, names_of(all_), fmt::format("{} {} {}", added.text, random_.word({"+", "-"}), taken), all_);
    out.text = fmt::format("{}[{}]", name, names_of(all_));
    return out;
  }

  Term named(Term prefix) {
    const std::string name = d_.fresh("s");
    d_.define(name, names_of(all_), prefix.text, all_);
    prefix.text = fmt::format("{}[{}]", name, names_of(all_));
    return prefix;
  }

  template <class Text>
  Term product(const Term& data, const Text& text) {
    if (d_.exact || along_.extent > 64)
      return {text(fmt::format("select({} > {}, 1, -1)", data.text, number(random_).text)), true, 1, 0};
    return {text(fmt::format("(1 + {} / {})", data.text, 4 + along_.extent)), false, 4, kAnyStep};
  }

  void output(const Term& prefix) {
    Term value = prefix;
    if (random_.percent(50)) {
      value = d_.combined(d_.real(
                              1, [&] { return element(all_); }, all_),
                          value);
      if (!d_.exact && value.above <= 6 && random_.percent(30)) value = applied(random_, value);
    }
    const std::string name = d_.output(shape_of(all_), value, random_.percent(5));
    d_.define(name, names_of(all_), value.text, all_);
  }

  void last_state(const Term& state) {
    Axes at = all_, sides = all_;
    at[along_at_].name = std::to_string(backwards_ ? 0 : along_.extent - 1);
    sides.erase(sides.begin() + static_cast<long>(along_at_));
    Term value = state;
    value.text = fmt::format("{}[{}]", state.text.substr(0, state.text.find('[')), names_of(at));
    if (random_.percent(50)) {
      value = d_.combined(d_.real(
                              1, [&] { return d_.read(sides); }, sides),
                          value);
    }
    const std::string name = d_.output(shape_of(sides), value, random_.percent(5));
    d_.define(name, names_of(sides), value.text, sides);
  }

  Draft& d_;
  Random& random_;
  Axes all_;
  Axis along_;
  size_t along_at_ = 0;
  bool backwards_ = false, filtered_ = false, recurrent_ = false, slow_ = false, last_ = false;
  Whole data_;
  std::vector<Term> prefixes_;
};

}  // namespace

void draft_scan(Draft& draft) { ScanDraft(draft).run(); }

}  // namespace solstice::random_kernels
