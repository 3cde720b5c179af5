// Products whose rows choose a matrix, and the gradient of those matrices: rows in any order or by group, gathered
// rows.
#include <fmt/format.h>

#include <algorithm>

#include "property/kernels/generators.h"

namespace solstice::random_kernels {
namespace {

class GroupedDraft {
 public:
  explicit GroupedDraft(Draft& draft) : d_(draft), random_(draft.random) {}

  void run() {
    dtype_ = random_.word({"bf16", "f16"});
    const int64_t most = std::min<int64_t>(512, d_.sizes.points);
    groups_ = random_.percent(10) ? 1 : random_.between(2, 12);
    n_ = {"n", lines(most)}, k_ = {"k", lines(random_.percent(25) ? 4 * most : most)};  // long sums are split
    // The interpreter of a gradient tests every row for every group.
    const int64_t rows = d_.sizes.products / (n_.extent * k_.extent * groups_);
    m_ = {"m", d_.extent(std::clamp<int64_t>(rows, 1, 3000))};
    // Names in order mean values in order: rows that lie by group.
    group_of_ = d_.fresh(random_.percent(40) ? "ascending" : "e");
    d_.declare(fmt::format("input {} : {}[{}]", group_of_, random_.word({"i32", "i64"}), m_.extent));
    random_.percent(65) ? forward() : gradient();
  }

 private:
  // Lines of 16 bytes and more.
  int64_t lines(int64_t most) { return (d_.extent(most) + 7) / 8 * 8; }

  std::string operand(const char* name, const std::string& shape) {
    const std::string out = d_.fresh(name);
    const bool param = random_.percent(30);
    d_.declare(fmt::format("{} {} : {}[{}]{}", param ? "param" : "input", out, dtype_, shape,
                           param ? fmt::format(" \"{}\"", out) : ""));
    return out;
  }

  // Rows of an operand, as they lie or gathered.
  std::string rows_of(const char* name, const Axis& column) {
    if (!random_.percent(25))
      return fmt::format("{}[m, {}]", operand(name, fmt::format("{}, {}", m_.extent, column.extent)), column.name);
    const int64_t source = d_.extent(1000);
    const std::string place = d_.fresh("g");
    d_.declare(fmt::format("input {} : i32[{}]", place, m_.extent));
    return fmt::format("{}[{}[m], {}]", operand(name, fmt::format("{}, {}", source, column.extent)), place,
                       column.name);
  }

  Term sum_over(int64_t count) const {
    if (d_.exact) return repeated({"", true, 4, 2, false}, count);
    return {"", false, std::min(10, 4 + bits_of(count) / 2), kAnyStep, false};
  }

  void forward() {
    const std::string x = rows_of("x", k_);
    const bool turned = random_.percent(40);
    const std::string w = operand("w", turned ? fmt::format("{}, {}, {}", groups_, k_.extent, n_.extent)
                                              : fmt::format("{}, {}, {}", groups_, n_.extent, k_.extent));
    const std::string at = fmt::format("{}[{}[m], {}]", w, group_of_, turned ? "k, n" : "n, k");
    Term value = sum_over(k_.extent);
    value.text = fmt::format("sum[k<{}]({})", k_.extent, random_.percent(50) ? x + " * " + at : at + " * " + x);
    const Axes over = {m_, n_};
    if (random_.percent(60)) {
      const std::string bias = d_.fresh("c");
      d_.declare(fmt::format("param {} : f32[{}, {}] \"{}\"", bias, groups_, n_.extent, bias));
      value = d_.combined(value, random_.percent(50) ? d_.stored(fmt::format("{}[{}[m], n]", bias, group_of_))
                                                     : d_.whole_read({random_.of(over)}));
    }
    if (!d_.exact && random_.percent(50)) value = applied(random_, value);
    output(over, value);
  }

  void gradient() {
    const std::string dy = rows_of("d", n_), x = rows_of("x", k_);
    Term value = sum_over(m_.extent);
    value.text = fmt::format("sum[m<{} where {}[m] == i]({} * {})", m_.extent, group_of_, dy, x);
    if (random_.percent(40)) value = d_.combined(value, number(random_));
    output({{"i", groups_}, n_, k_}, value);
  }

  void output(const Axes& over, Term value) {
    const std::string name = d_.fresh("y");
    const std::string dtype = random_.word({"f32", "f32", "bf16", "bf16", "f16", "f16", "e4m3"});
    if (dtype == "f16") value = clamped(value, kLargest);
    if (dtype == "e4m3" && !d_.exact) value = clamped(value, 8);
    std::string extents;
    for (const Axis& axis : over) extents += fmt::format("{}{}", extents.empty() ? "" : ", ", axis.extent);
    d_.declare(fmt::format("output {} : {}[{}]", name, dtype, extents));
    d_.define(name, names_of(over), value.text, over);
  }

  Draft& d_;
  Random& random_;
  const char* dtype_ = "bf16";
  int64_t groups_ = 1;
  Axis m_, n_, k_;
  std::string group_of_;
};

}  // namespace

void draft_grouped(Draft& draft) { GroupedDraft(draft).run(); }

}  // namespace solstice::random_kernels
