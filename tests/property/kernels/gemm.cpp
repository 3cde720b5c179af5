// Products: batches, either major order, several indices of a role, lines that are not aligned, offsets, epilogues,
// several outputs, weights that are split once; two sums that share an operand; operands with a prologue; reductions
// along rows or columns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "property/kernels/generators.h"

namespace solstice::random_kernels {
namespace {

constexpr int64_t kPiece = 16;

class GemmDraft {
 public:
  explicit GemmDraft(Draft& draft) : d_(draft), random_(draft.random) {}

  void run() {
    choose_axes();
    const std::string policy = random_.word({"", "", "", "", "high", "medium"});
    if (!policy.empty() && !d_.exact) d_.declare("numerics " + policy);
    const char* dtype = random_.word({"f32", "f32", "f32", "bf16", "f16", "e4m3", "e5m2"});
    const char* other = random_.percent(90) ? dtype : "f32";
    if (*dtype == 'e') {
      other = random_.word({"e4m3", "e5m2", "e4m3", "e5m2", "e4m3", "e5m2", "f32", "bf16"});
      as_stored_ = random_.percent(65);
    }
    if (as_stored_) k_ = {{"k", round_up(points_of(k_), kPiece)}};
    const bool is_long = random_.percent(20);
    if (is_long)
      k_ = {{"k", random_.between(4, std::clamp<int64_t>(products() / 4096, 4, 4096)) * (as_stored_ ? kPiece : 1)}};
    if (is_long || (as_stored_ && random_.percent(60))) choose_sides();
    const int count = *dtype != 'e' && random_.percent(25) ? 2 : 1;
    Term a = d_.stored(operands(dtype, m_, false, 1).front());
    const std::vector<std::string> reads = operands(other, n_, random_.percent(50), count);
    const bool computes = count == 1 && random_.percent(30), both = random_.percent(40);
    if (computes && (both || random_.percent(60))) a = computed(a, m_);
    std::vector<Term> sums;
    for (const std::string& read : reads) {
      const Term b = computes && (both || a.above == 2) ? computed(d_.stored(read), n_) : d_.stored(read);
      const bool swapped = random_.percent(30);
      Term sum = repeated({"", d_.exact, a.above + b.above, a.below + b.below}, points_of(k_));
      if (!d_.exact) sum = {"", false, std::min(10, 4 + bits_of(points_of(k_)) / 2), kAnyStep};
      sum.text = fmt::format("sum[{}]({} * {})", ranges(k_), (swapped ? b : a).text, (swapped ? a : b).text);
      sums.push_back(sum);
    }
    outputs(sums);
  }

 private:
  static std::string ranges(const Axes& axes) {
    std::string out;
    for (const Axis& axis : axes) out += fmt::format("{}{}<{}", out.empty() ? "" : ",", axis.name, axis.extent);
    return out;
  }

  int64_t side(int64_t most) {
    return random_.percent(12) ? random_.between(1, std::min<int64_t>(8, most)) : d_.extent(most);
  }

  void choose_axes() {
    const int64_t products = d_.sizes.products;
    const int64_t most = std::min<int64_t>(4096, d_.sizes.points);
    const auto left = [&](int64_t taken) {
      return std::clamp<int64_t>(products / std::max<int64_t>(taken, 1), 1, most);
    };
    const int64_t batch = random_.percent(65) ? 1 : d_.extent(12);
    int64_t sides[3];
    int order[3] = {0, 1, 2};
    for (int k = 2; k > 0; --k) std::swap(order[k], order[random_.below(k + 1)]);
    int64_t taken = batch;
    for (const int k : order)
      sides[k] = side(std::min(left(taken), random_.percent(60) ? int64_t{600} : most)), taken *= sides[k];
    if (batch > 1) batch_ = split("b", batch, 20);
    m_ = split("m", sides[0], 15), n_ = split("n", sides[1], 15), k_ = split("k", sides[2], 15);
  }

  int64_t products() const { return d_.sizes.products; }

  // Large enough for tensor cores, as most others are not.
  void choose_sides() {
    const auto most = static_cast<int64_t>(std::sqrt(static_cast<double>(products() / points_of(k_))));
    batch_.clear();
    for (auto* const axes : {&m_, &n_})
      axes->assign(1, {axes == &m_ ? "m" : "n", random_.between(1, std::clamp<int64_t>(most, 1, 700))});
  }

  // One index, or two that a tensor steps through with one stride.
  Axes split(const char* name, int64_t extent, int chance) {
    if (extent < 4 || !random_.percent(chance)) return {{name, extent}};
    const int64_t inner = random_.between(2, std::min<int64_t>(8, extent));
    return {{name, extent / inner}, {fmt::format("{}i", name), inner}};
  }

  // Reads of one operand, or of two that lie alike, which may be parts of one tensor. Dimensions of a role stay
  // together; gaps between lines only.
  std::vector<std::string> operands(const char* dtype, const Axes& lines, bool param, int count) {
    std::vector<Axes> groups = {batch_, lines, k_};
    if (!as_stored_ && random_.percent(50)) std::swap(groups[1], groups[2]);
    if (random_.percent(10)) std::swap(groups[0], groups[1]);
    std::vector<int64_t> shape, strides;
    std::vector<std::string> at;
    int64_t step = 1;
    const bool gaps = random_.percent(25), merged = random_.percent(15);
    const int64_t unit = as_stored_ ? kPiece : 1, offset = random_.percent(12) ? random_.between(1, 8) * unit : 0;
    for (size_t g = groups.size(); g-- > 0;) {
      const Axes& axes = groups[g];
      if (merged && axes.size() == 2) {
        add(shape, strides, at, points_of(axes), step,
            fmt::format("{}*{}+{}", axes[1].extent, axes[0].name, axes[1].name));
      } else {
        for (size_t k = axes.size(); k-- > 0;) add(shape, strides, at, axes[k].extent, step, axes[k].name);
      }
      if (at.size() == 1 && offset > 0) {
        shape[0] += offset, step += offset;
        at[0] += fmt::format("+{}", offset);
      }
      if (gaps && !axes.empty()) step += random_.of({1, 2, 4, 8}) * unit;
    }
    const bool parts = count > 1 && random_.percent(50);
    if (parts) add(shape, strides, at, count, step, "");
    for (auto* list : {&shape, &strides}) std::reverse(list->begin(), list->end());
    std::reverse(at.begin(), at.end());
    std::vector<std::string> out;
    std::string name;
    for (int i = 0; i < count; ++i) {
      if (i == 0 || !parts) {
        name = d_.fresh(param ? "w" : "a");
        d_.declare(fmt::format("{} {} : {}[{}]{}{}", param ? "param" : "input", name, dtype, fmt::join(shape, ", "),
                               param ? fmt::format(" \"{}\"", name) : "",
                               gaps ? fmt::format(" strides({})", fmt::join(strides, ", ")) : ""));
      }
      if (parts) at.front() = fmt::format("{}", i);
      out.push_back(fmt::format("{}[{}]", name, fmt::join(at, ", ")));
    }
    return out;
  }

  // A vector along a role, or a tensor of all elements, that an operand's prologue reads.
  Term beside(const Axes& lines) {
    Axes axes = random_.percent(40)   ? k_
                : random_.percent(50) ? lines
                                      : joined(batch_, random_.percent(50) ? joined(lines, k_) : lines);
    if (random_.percent(20)) random_.shuffle(axes);
    const std::string name = d_.fresh("c");
    d_.declare(fmt::format("input {} : {}[{}]", name, random_.word({"f32", "f32", "bf16", "f16"}),
                           fmt::join(shape_of(axes), ", ")));
    return d_.stored(fmt::format("{}[{}]", name, names_of(axes)));
  }

  // An operand's element as elementwise equations make it: in its product, or a local of the kernel's. Exact ones keep
  // to what any format of planes holds.
  Term computed(const Term& read, const Axes& lines) {
    Term value = read;
    bool named = random_.percent(50);
    for (int left = random_.of({1, 1, 2}); left > 0; --left) {
      switch (random_.below(5)) {
        case 0:
          value = extremum_of("max", value, number(random_));
          break;
        case 1:
          value = product_of(value, beside(lines));
          break;
        case 2:
          value = sum_of(value, random_.word({"+", "-"}), beside(lines));
          break;
        case 3:
          value = d_.exact ? negated(value) : applied(random_, value);
          named |= !d_.exact;  // the interpreter would compute functions once a product
          break;
        default:
          value = d_.combined(value, beside(lines));
      }
    }
    constexpr int kOfPlanes = 7;
    if (d_.exact && (!value.exact || value.above + value.below > kOfPlanes))
      value = extremum_of("min", read, number(random_));
    if (d_.exact && random_.percent(30)) value.text = fmt::format("{}({})", random_.word({"bf16", "f16"}), value.text);
    if (!d_.exact) value = clamped(value, 5);
    if (!named) return value;
    const Axes axes = joined(joined(batch_, lines), k_);
    const std::string name = d_.fresh("z");
    d_.define(name, names_of(axes), value.text, axes);
    value.text = fmt::format("{}[{}]", name, names_of(axes));
    return value;
  }

  static void add(std::vector<int64_t>& shape, std::vector<int64_t>& strides, std::vector<std::string>& at,
                  int64_t extent, int64_t& step, const std::string& index) {
    shape.push_back(extent), strides.push_back(step), at.push_back(index);
    step *= extent;
  }

  Term leaf(const std::vector<Term>& sums) {
    const int kind = random_.below(10);
    if (kind < 3) return random_.of(sums);
    if (kind < 5) return d_.whole_read(n_);
    if (kind == 5) return d_.whole_read(m_);
    if (kind == 6) return d_.whole_read(over_);
    return kind == 7 ? d_.read(over_) : number(random_);
  }

  // What every output begins with: of two sums mostly both.
  Term first_of(const std::vector<Term>& sums) {
    if (sums.size() == 1 || random_.percent(15)) return random_.of(sums);
    if (d_.exact || random_.percent(30)) return d_.combined(sums[0], sums[1]);
    return product_of(clamped(applied(random_, sums[0]), 5), clamped(sums[1], 5));
  }

  void outputs(const std::vector<Term>& sums) {
    for (const Axes* axes : {&batch_, &m_, &n_}) over_.insert(over_.end(), axes->begin(), axes->end());
    Axes order = over_;
    std::vector<Term> locals = sums;
    const bool named = random_.percent(70);
    const bool reduces = sums.size() == 1 && named && points_of(m_) > 1 && points_of(n_) > 1 && random_.percent(45);
    const bool along_n = random_.percent(60);
    if (reduces)
      order = joined(batch_, along_n ? joined(m_, n_) : joined(n_, m_));  // what is stored lies along what is reduced
    else if (random_.percent(sums.size() == 1 ? 15 : 4))
      random_.shuffle(order);
    for (Term& local : locals) {
      const std::string name = named ? d_.fresh("z") : "";
      if (named) d_.define(name, names_of(over_), local.text, over_);
      if (named) local.text = fmt::format("{}[{}]", name, names_of(over_));
    }
    std::vector<Term> statistics;
    if (reduces) statistics = row_results(locals.front(), along_n ? n_ : m_, joined(batch_, along_n ? m_ : n_));
    const bool whole = reduces && random_.percent(50);  // elements need their row's results
    const int count = reduces ? random_.of({0, 0, 1, 1, 2}) : named ? random_.of({1, 1, 1, 2}) : 1;
    for (int k = 0; k < count; ++k) {
      // Without a local a sum may stand in the text once.
      Term value = named ? first_of(locals) : locals.size() == 1 ? locals[0] : d_.combined(locals[0], locals[1]);
      if (random_.percent(70)) {
        const Leaf others = [&] { return leaf(named ? locals : std::vector<Term>{number(random_)}); };
        value = d_.combined(value, d_.real(named ? 2 : 1, others, over_));
        if (!d_.exact && random_.percent(40) && (named || sums.size() == 1)) value = applied(random_, value);
      }
      if (whole) value = behind_statistics(value, statistics);
      if (random_.percent(12)) value = triangle(value);
      output(value, order);
    }
  }

  // A softmax's or a norm's elements, or anything else of an element and its row's results.
  Term behind_statistics(const Term& value, const std::vector<Term>& statistics) {
    const Term& found = random_.of(statistics);
    if (d_.exact || random_.percent(50)) return d_.combined(value, found);
    const Term apart = clamped(d_.combined(value, found), 5);
    return random_.percent(50) ? applied(random_, apart) : product_of(apart, clamped(random_.of(statistics), 5));
  }

  // Masked on one side of a line through the result, where tiles need no products.
  Term triangle(const Term& value) {
    const int64_t shift = random_.between(-n_.back().extent, m_.back().extent);
    const std::string line = fmt::format("{} {} {} {} {}", n_.back().name, random_.word({"<=", "<", ">=", ">"}),
                                         m_.back().name, shift < 0 ? "-" : "+", std::abs(shift));
    const Term masked = number(random_);
    return random_.percent(50) ? choice_of(line, value, masked) : choice_of(line, masked, value);
  }

  static Axes joined(Axes a, const Axes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  // One to three results of rows: reductions of elements along all of `along`, and what follows from them.
  std::vector<Term> row_results(const Term& local, const Axes& along, const Axes& rows) {
    Term element = local;
    if (random_.percent(60)) {
      Term value = d_.combined(local, d_.real(
                                          1, [&] { return leaf({local}); }, over_));
      if (!d_.exact && random_.percent(60)) value = applied(random_, value);
      if (random_.percent(12)) value = triangle(value);
      element = value;
      element.text = fmt::format("{}[{}]", d_.fresh("h"), names_of(over_));
      d_.define(element.text.substr(0, element.text.find('[')), names_of(over_), value.text, over_);
    }
    std::vector<Term> statistics;
    const int count = random_.of({1, 1, 2, 3});
    for (int k = 0; k < count; ++k) {
      Term found = reduction(element, along);
      const std::string name = d_.fresh("s");
      d_.define(name, names_of(rows), found.text, rows);
      found.text = fmt::format("{}[{}]", name, names_of(rows));
      statistics.push_back(found);
      Term value = found;
      if (random_.percent(40)) {
        const Leaf others = [&] { return random_.percent(50) ? random_.of(statistics) : d_.whole_read(rows); };
        value = d_.combined(found, d_.real(1, others, rows));
      }
      const std::string result = d_.output(shape_of(rows), value);
      d_.define(result, names_of(rows), value.text, rows);
    }
    return statistics;
  }

  Term reduction(const Term& element, const Axes& along) {
    const int64_t count = points_of(along);
    const Term term = clamped(element, 6);
    const auto text = [&](const char* reducer, const std::string& of) {
      return fmt::format("{}[{}]({})", reducer, ranges(along), of);
    };
    switch (random_.below(8)) {
      case 0:
      case 1:
        return {text(random_.word({"max", "min"}), term.text), term.exact, term.above, term.below};
      case 2:
        if (!d_.exact) return {text("mean", term.text), false, term.above, kAnyStep};
        break;
      case 3:
        if (!d_.exact) return {fmt::format("sqrt({} + 0.01)", text("var", term.text)), false, term.above + 1, kAnyStep};
        break;
      case 4:
      case 5:
        if (!d_.exact) return {text("logsumexp", term.text), false, std::max(term.above, 5) + 1, kAnyStep};
        break;
      default:
        break;
    }
    Term sum = repeated({text("sum", term.text), term.exact, term.above, term.below}, count);
    if (d_.exact && !sum.exact) return repeated({text("sum", fmt::format("sign({})", term.text)), true, 1, 0}, count);
    if (d_.exact || sum.above <= 8) return sum;
    return {fmt::format("({} / {})", sum.text, count), false, std::max(0, sum.above - bits_of(count)), kAnyStep};
  }

  void output(Term value, const Axes& order) {
    const std::string name = d_.fresh("y");
    const std::string dtype = random_.word({"f32", "f32", "f32", "f32", "bf16", "bf16", "f16", "e4m3", "e5m2"});
    if (dtype == "f16") value = clamped(value, kLargest);
    if (dtype == "e4m3" && !d_.exact) value = clamped(value, 8);
    if (dtype == "e5m2" && !d_.exact) value = clamped(value, kLargest);
    std::vector<int64_t> shape = shape_of(order), strides(shape.size(), 1);
    const int64_t gap = random_.percent(20) ? random_.of({1, 2, 4, 8}) : 0;
    for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d] + (d + 1 == shape.size() ? gap : 0);
    d_.declare(fmt::format("output {} : {}[{}]{}", name, dtype, fmt::join(shape, ", "),
                           gap > 0 && shape.size() > 1 ? fmt::format(" strides({})", fmt::join(strides, ", ")) : ""));
    d_.define(name, names_of(order), value.text, over_);
  }

  Draft& d_;
  Random& random_;
  Axes batch_, m_, n_, k_, over_;
  bool as_stored_ =
      false;  // lines of operands are contiguous along k and whole pieces of 16 bytes, if they are of bytes
};

}  // namespace

void draft_gemm(Draft& draft) {
  if (draft.random.percent(15)) return draft_grouped(draft);
  GemmDraft(draft).run();
}

}  // namespace solstice::random_kernels
