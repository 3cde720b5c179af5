// Elementwise kernels: several outputs over boxes of any rank, locals, pieces, small windows, booleans and integers.
#include <fmt/format.h>

#include <algorithm>

#include "property/kernels/generators.h"

namespace solstice::random_kernels {
namespace {

class MapDraft {
 public:
  explicit MapDraft(Draft& draft) : d_(draft), random_(draft.random) {}

  void run() {
    over_ = d_.axes(random_.of({0, 1, 1, 2, 2, 2, 3, 3, 4}), points());
    for (int k = random_.of({0, 0, 0, 1, 2}); k > 0 && !over_.empty(); --k) local();
    const int outputs = random_.of({1, 1, 1, 2, 3});
    for (int k = 0; k < outputs; ++k) {
      if (k > 0 && random_.percent(30)) over_ = d_.axes(random_.of({1, 2, 3}), points()), locals_.clear();
      output();
    }
  }

 private:
  // Most programs near the upper end, some tiny.
  int64_t points() {
    const int64_t most = d_.sizes.points;
    return std::max<int64_t>(1, random_.percent(70) ? most / random_.of({1, 2, 4, 16}) : random_.between(1, 300));
  }

  Term leaf(const Axes& over) {
    if (!locals_.empty() && random_.percent(30)) return local_read(over);
    if (!over.empty() && random_.percent(8)) return d_.window(over);
    if (!over.empty() && random_.percent(6)) {
      const int64_t extent = std::max_element(over.begin(), over.end(), [](const Axis& a, const Axis& b) {
                               return a.extent < b.extent;
                             })->extent;
      return {random_.of(over).name, true, bits_of(extent + 1), 0};
    }
    return random_.percent(8) ? number(random_) : d_.read(over);
  }

  void local() {
    const Term value = d_.real(
        2, [&] { return leaf(over_); }, over_);
    const std::string name = d_.fresh("t");
    d_.define(name, names_of(over_), value.text, over_);
    Term as_read = value;
    as_read.text = name;
    locals_.push_back(as_read);
  }

  Term local_read(const Axes& over) {
    Term out = random_.of(locals_);
    const bool moved = over.size() > 0 && random_.percent(25);
    std::string at = names_of(over);
    if (moved) at = fmt::format("{}-1{}", over[0].name, at.substr(over[0].name.size()));
    out.text = fmt::format("{}[{}{}]", out.text, at, moved ? " else 0" : "");
    return out;
  }

  void output() {
    if (random_.percent(8)) return boolean();
    if (random_.percent(6) && !over_.empty()) return integer();
    if (random_.percent(20) && !over_.empty()) return pieces();
    Term value = d_.real(
        3, [&] { return leaf(over_); }, over_);
    const std::string name = d_.output(shape_of(over_), value);
    d_.define(name, names_of(over_), value.text, over_);
  }

  void boolean() {
    const std::string condition = d_.condition([&] { return leaf(over_); }, over_);
    const std::string name = d_.fresh("y");
    std::string extents;
    for (const Axis& axis : over_) extents += fmt::format("{}{}", extents.empty() ? "" : ", ", axis.extent);
    d_.declare(fmt::format("output {} : bool[{}]", name, extents));
    d_.define(name, names_of(over_), condition, over_);
  }

  void integer() {
    const std::string name = d_.fresh("y");
    std::string extents;
    for (const Axis& axis : over_) extents += fmt::format("{}{}", extents.empty() ? "" : ", ", axis.extent);
    d_.declare(fmt::format("output {} : {}[{}]", name, random_.word({"i64", "i32"}), extents));
    const std::string value =
        random_.percent(50) ? d_.index(over_) : fmt::format("i64(floor({}))", d_.read(over_).text);
    d_.define(name, names_of(over_), value, over_);
  }

  // Concatenated along one axis, or interleaved.
  void pieces() {
    const size_t along = static_cast<size_t>(random_.below(static_cast<int>(over_.size())));
    Axes first = over_, second = over_;
    const bool interleaved = random_.percent(30);
    second[along].extent = interleaved ? first[along].extent : d_.extent(std::min<int64_t>(100, first[along].extent));
    std::vector<int64_t> shape = shape_of(first);
    shape[along] += second[along].extent;
    locals_.clear();
    Term a = d_.real(
             2, [&] { return leaf(first); }, first),
         b = d_.real(
             2, [&] { return leaf(second); }, second);
    a = clamped(a, kLargest), b = clamped(b, kLargest);
    const std::string name = d_.output(shape, a);
    const auto at = [&](const Axes& over, const std::string& place) {
      Axes moved = over;
      moved[along].name = place;
      return names_of(moved);
    };
    const std::string i = over_[along].name;
    d_.define(name, at(first, interleaved ? "2*" + i : i), a.text, first);
    d_.define(name, at(second, interleaved ? "2*" + i + "+1" : fmt::format("{}+{}", i, first[along].extent)), b.text,
              second);
  }

  Draft& d_;
  Random& random_;
  Axes over_;
  std::vector<Term> locals_;  // names in `text`, over over_
};

}  // namespace

void draft_map(Draft& draft) { MapDraft(draft).run(); }

}  // namespace solstice::random_kernels
