// Reductions along one axis or several, inner, middle or outer, that need each other, and maps behind them. Those of
// family `reduce` do not need each other, and nothing is stored along the rows.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "property/kernels/generators.h"

namespace solstice::random_kernels {
namespace {

class RowsDraft {
 public:
  RowsDraft(Draft& draft, bool reduces) : d_(draft), random_(draft.random), reduces_(reduces) {}

  void run() {
    choose_axes();
    d_.plain_layouts = reduces_ && random_.percent(90);
    data_.push_back(d_.whole(all_));
    if (random_.percent(25)) data_.push_back(d_.whole(all_));
    const int statistics = random_.of({1, 1, 1, 2, 2, 3});
    for (int k = 0; k < statistics; ++k) statistic();
    const int outputs = random_.of({1, 1, 1, 2, 3});
    for (int k = 0; k < outputs; ++k) random_.percent(maps_ ? 65 : 0) ? whole_output() : row_output();
  }

 private:
  void choose_axes() {
    const auto row = [&](const char* name, int64_t most) {
      int64_t extent = d_.extent(most);
      // Runs that do not follow each other are copied from 256 bytes on.
      if (reduces_ && name[0] == 'p') extent = std::max<int64_t>(extent, random_.between(128, 140));
      all_.push_back({name, extent}), is_column_.push_back(false);
      rows_.push_back(all_.back());
    };
    const auto column = [&](const char* name, int64_t most) {
      all_.push_back({name, d_.extent(most)}), is_column_.push_back(true);
    };
    const int64_t n = d_.sizes.points, few = 64;
    const int64_t length = std::min(d_.sizes.row, random_.percent(60) ? int64_t{4096} : n);
    const auto left = [&] { return std::max<int64_t>(1, n / points_of(all_)); };
    switch (reduces_ && random_.percent(50) ? random_.below(4) : random_.below(11)) {
      case 0:  // the outer one of two
        column("n", std::min<int64_t>(length, 2048)), row("p", left());
        break;
      case 1:  // in the middle
        row("m", few), column("n", std::min<int64_t>(1024, left())), row("p", std::min<int64_t>(512, left()));
        break;
      case 2:  // two inner ones
        row("m", few), column("n", std::min(few, left())), column("p", std::min<int64_t>(512, left()));
        break;
      case 3:  // the outer and the inner one: channels
        column("n", 16), row("c", std::min(few, left())), column("p", std::min<int64_t>(1024, left()));
        break;
      case 4:  // everything
        column("n", length);
        break;
      case 5:
        column("n", few), column("p", std::min<int64_t>(2048, left()));
        break;
      case 6:
        row("m", 16), row("q", 32), column("n", std::min(length, left()));
        break;
      default:
        row("m", random_.percent(20) ? 4 : std::max<int64_t>(few, n / 1024)), column("n", std::min(length, left()));
    }
    maps_ = !reduces_ && random_.percent(80);
  }

  // A term of one element of a row: data, what a row or a column has, statistics found before.
  Term element(const Axes& over) {
    const int kind = random_.below(10);
    if (kind < 5) return data(over);
    if (kind < 7 && !statistics_.empty() && !reduces_) return random_.of(statistics_);
    if (kind == 7) return d_.whole_read(columns_in(over));
    if (kind == 8) return rows_.empty() ? number(random_) : d_.whole_read(rows_);
    return random_.percent(30) ? d_.read(over) : number(random_);
  }
  Term data(const Axes& over) { return d_.read(random_.of(data_), over); }

  Axes columns_in(const Axes& over) const {
    Axes out;
    for (size_t k = 0; k < over.size(); ++k) {
      if (is_column_[k]) out.push_back(over[k]);
    }
    return out;
  }
  Axes with_other_columns() const {
    Axes out = all_;
    for (size_t k = 0; k < out.size(); ++k) {
      if (is_column_[k]) out[k].name += "k";
    }
    return out;
  }

  std::string filter(const Axes& over) {
    const Axis axis = random_.of(columns_in(over));
    switch (random_.below(4)) {
      case 0:
        return fmt::format(" where {}[{}]", d_.mask(shape_of(over)), names_of(over));
      case 1:
        return fmt::format(" where {} > {}", data(over).text, number(random_).text);
      case 2:
        return fmt::format(" where {} {} {}", axis.name, random_.word({"<", ">", "!="}),
                           random_.below(static_cast<int>(axis.extent)));
      default:
        return fmt::format(" where {} % 3 != 1", axis.name);
    }
  }

  // The name of a local, an output or a text that stands for a reduction of the row.
  void statistic() {
    const Term found = reduction(random_.percent(40) ? with_other_columns() : all_);
    const std::string name = d_.fresh("s");
    d_.define(name, names_of(rows_), found.text, rows_);
    Term as_read = found;
    as_read.text = fmt::format("{}[{}]", name, names_of(rows_));
    statistics_.push_back(as_read);
  }

  Term body(const Axes& over, int depth) {
    const Term element_of = data(over);
    if (depth == 0) return element_of;
    const Term other = d_.real(
        depth, [&] { return element(over); }, over);
    const Term both = d_.combined(element_of, other);
    return random_.percent(30) && !d_.exact ? applied(random_, both) : both;
  }

  Term reduction(const Axes& over) {
    const Axes columns = columns_in(over);
    const int64_t count = points_of(columns);
    std::string binders;
    for (const Axis& axis : columns)
      binders += fmt::format("{}{}<{}", binders.empty() ? "" : ",", axis.name, axis.extent);
    const auto text = [&](const char* reducer, const std::string& where, const std::string& term) {
      return fmt::format("{}[{}{}]({})", reducer, binders, where, term);
    };
    const Term term = clamped(body(over, random_.of({0, 0, 1, 2})), 6);
    const std::string where = random_.percent(20) ? filter(over) : "";
    switch (random_.below(12)) {
      case 0:
      case 1:
        return extremum(text(random_.percent(50) ? "max" : "min", where, term.text), term, where.empty());
      case 2:
        if (columns.size() == 1 && term.exact)
          return {text(random_.word({"argmax", "argmin"}), "", term.text), true, bits_of(count) + 1, 0, true};
        break;
      case 3:
        return {fmt::format("select({}, 1, 0)", text(random_.word({"any", "all"}), "", condition(over))), true, 1, 0};
      case 4:
        if (!d_.exact) return {text("mean", "", term.text), false, term.above, kAnyStep};
        break;
      case 5:  // two rounds of reductions
        if (!d_.exact && !reduces_)
          return {fmt::format("sqrt({} + 0.01)", text("var", "", term.text)), false, term.above + 1, kAnyStep};
        break;
      case 6:
        if (!d_.exact && !reduces_)
          return {text("logsumexp", "", term.text), false, std::max(term.above, 5) + 1, kAnyStep};
        break;
      case 7:
        return product(over, text("prod", where, "{}"), count);
      default:
        break;
    }
    const Term sum = repeated({text("sum", where, term.text), term.exact, term.above, term.below}, count);
    if (sum.exact || !d_.exact) return scaled(sum, count);
    return repeated({text("sum", where, fmt::format("sign({})", term.text)), true, 1, 0},
                    count);  // short enough to be exact
  }

  std::string condition(const Axes& over) {
    return fmt::format("{} {} {}", data(over).text, random_.word({"<", ">=", "=="}), number(random_).text);
  }

  // The extremum of nothing is infinite.
  Term extremum(std::string text, const Term& term, bool of_all) {
    if (of_all) return {std::move(text), term.exact, term.above, term.below};
    return {fmt::format("clamp({}, -63, 63)", text), term.exact, 6, term.below};
  }

  // As large as one element, so that what comes behind stays in range.
  Term scaled(Term out, int64_t count) {
    if (d_.exact || out.above <= 8) return out;
    return {fmt::format("({} / {})", out.text, count), false, std::max(0, out.above - bits_of(count)), kAnyStep};
  }

  Term product(const Axes& over, const std::string& text, int64_t count) {
    const Term element_of = data(over);
    if (d_.exact || count > 200) {
      const std::string term = fmt::format("select({} > {}, 1, -1)", element_of.text, number(random_).text);
      return {fmt::format(fmt::runtime(text), term), true, 1, 0};
    }
    return {fmt::format(fmt::runtime(text), fmt::format("(1 + {} / {})", element_of.text, 4 + 2 * count)), false, 4,
            kAnyStep};
  }

  // Every equation of the family's holds a reduction.
  Term with_statistic(Term value) {
    Term out = d_.combined(std::move(value), random_.of(statistics_));
    return out.above <= kLargest ? out : clamped(out, kLargest);
  }

  void whole_output() {
    Term value = with_statistic(d_.real(
        2, [&] { return element(all_); }, all_));
    if (d_.exact && !value.exact) value = with_statistic(data(all_));
    const std::string name = d_.output(shape_of(all_), value);
    d_.define(name, names_of(all_), value.text, all_);
  }

  void row_output() {
    const Term found = random_.of(statistics_);
    if (found.exact && found.below == 0 && random_.percent(found.integer ? 70 : 30)) {
      Term whole = found;
      const std::string name = d_.fresh("y");
      d_.declare(fmt::format("output {} : {}[{}]", name, random_.word({"i64", "i32"}), extents_of(rows_)));
      d_.define(name, names_of(rows_), whole.integer ? whole.text : fmt::format("i64({})", whole.text), rows_);
      return;
    }
    Term value = random_.percent(50) ? found
                                     : d_.combined(found, d_.real(
                                                              1, [&] { return random_.of(statistics_); }, rows_));
    const std::string name = d_.output(shape_of(rows_), value);
    d_.define(name, names_of(rows_), value.text, rows_);
  }

  static std::string extents_of(const Axes& axes) {
    std::string out;
    for (const Axis& axis : axes) out += fmt::format("{}{}", out.empty() ? "" : ", ", axis.extent);
    return out;
  }

  Draft& d_;
  Random& random_;
  Axes rows_, all_;  // all_ in the order of the data
  std::vector<bool> is_column_;
  std::vector<Whole> data_;
  std::vector<Term> statistics_;
  const bool reduces_;  // family reduce
  bool maps_ = true;
};

}  // namespace

void draft_rows(Draft& draft) { RowsDraft(draft, false).run(); }
void draft_reduce(Draft& draft) { RowsDraft(draft, true).run(); }

}  // namespace solstice::random_kernels
