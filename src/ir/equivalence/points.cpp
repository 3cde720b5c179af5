#include "ir/equivalence/points.h"

#include <algorithm>
#include <random>

namespace solstice::ir {
namespace {

constexpr int64_t kMostCorners = 4096;
constexpr int64_t kMostCrossings = 256;
constexpr int64_t kRandomElements = 512;
constexpr int64_t kMostResidues = 16;
constexpr int64_t kLargestStride = 64;

bool is_constant(const ExprRef& e, int64_t& value) {
  const auto form = as_affine(e);
  if (!form || !form->is_constant()) return false;
  value = form->offset;
  return true;
}

// Values of one dim that may matter.
std::vector<int64_t> chosen(int64_t extent, const Boundaries& boundaries) {
  std::set<int64_t> out;
  const auto add = [&](int64_t v) {
    if (v >= 0 && v < extent) out.insert(v);
  };
  for (const int64_t v : boundaries.values) {
    for (int64_t near = v - 1; near <= v + 1; ++near) add(near), add(extent - 1 - near);
  }
  for (int64_t r = 0; r < boundaries.residues; ++r) add(r), add(extent - 1 - r);
  return {out.begin(), out.end()};
}

class Choice {
 public:
  Choice(const std::vector<int64_t>& shape, const Boundaries& boundaries) : shape_(shape) {
    for (const int64_t extent : shape) {
      total_ *= extent;
      const std::set<int64_t> ends = {0, std::min<int64_t>(1, extent - 1), extent / 2, std::max<int64_t>(0, extent - 2),
                                      extent - 1};
      corners_.emplace_back(ends.begin(), ends.end());
      special_.push_back(chosen(extent, boundaries));
      std::vector<int64_t>& marks = marks_.emplace_back();
      std::copy_if(boundaries.values.begin(), boundaries.values.end(), std::back_inserter(marks),
                   [&](int64_t v) { return v >= 0 && v < extent; });
    }
  }

  std::vector<int64_t> run() {
    if (total_ <= kMostCorners) {
      for (int64_t p = 0; p < total_; ++p) positions_.push_back(p);
      std::shuffle(positions_.begin(), positions_.end(), random_);
      return positions_;
    }
    add_combinations(corners_, kMostCorners);
    positions_.push_back(0);
    positions_.push_back(total_ - 1);
    if (shape_.size() > 1) add_combinations(marks_, kMostCrossings);
    for (size_t d = 0; d < shape_.size(); ++d) {
      for (const int64_t v : special_[d]) {
        for (int twice = 0; twice < 2; ++twice) add_random(static_cast<int>(d), v);
      }
    }
    for (int64_t i = 0; i < kRandomElements; ++i) add_random(-1, 0);
    std::sort(positions_.begin(), positions_.end());
    positions_.erase(std::unique(positions_.begin(), positions_.end()), positions_.end());
    std::shuffle(positions_.begin(), positions_.end(), random_);
    // The first and the last element first.
    std::iter_swap(positions_.begin(), std::find(positions_.begin(), positions_.end(), 0));
    std::iter_swap(positions_.begin() + 1, std::find(positions_.begin(), positions_.end(), total_ - 1));
    return positions_;
  }

 private:
  int64_t pick(const std::vector<int64_t>& from) { return from[random_() % from.size()]; }

  void add(const std::vector<int64_t>& at) {
    int64_t position = 0;
    for (size_t d = 0; d < shape_.size(); ++d) position = position * shape_[d] + at[d];
    positions_.push_back(position);
  }

  // Every choice of one value a dim, or random ones where there are more than `most`.
  void add_combinations(const std::vector<std::vector<int64_t>>& values, int64_t most) {
    int64_t combinations = 1;
    for (const auto& of_dim : values)
      combinations = std::min(combinations * static_cast<int64_t>(of_dim.size()), most + 1);
    std::vector<int64_t> at(shape_.size());
    for (int64_t k = 0; k < std::min(combinations, most); ++k) {
      int64_t rest = k;
      for (size_t d = 0; d < shape_.size(); ++d) {
        const auto n = static_cast<int64_t>(values[d].size());
        at[d] = combinations <= most ? values[d][static_cast<size_t>(rest % n)] : pick(values[d]);
        rest /= n;
      }
      add(at);
    }
  }

  // The other dims random, near an end or anywhere.
  void add_random(int dim, int64_t value) {
    std::vector<int64_t> at(shape_.size());
    for (size_t d = 0; d < shape_.size(); ++d) {
      const bool special = !special_[d].empty() && random_() % 4 == 0;
      at[d] = special ? pick(special_[d]) : static_cast<int64_t>(random_() % static_cast<uint64_t>(shape_[d]));
    }
    if (dim >= 0) at[static_cast<size_t>(dim)] = value;
    add(at);
  }

  const std::vector<int64_t>& shape_;
  int64_t total_ = 1;
  std::vector<std::vector<int64_t>> corners_, special_, marks_;  // by dim; marks: the boundaries themselves
  std::vector<int64_t> positions_;
  std::mt19937_64 random_{20240229};
};

}  // namespace

void Boundaries::add(const Program& program) {
  const auto stride = [&](int64_t c) {
    if (std::abs(c) <= kLargestStride) residues = std::max(residues, std::min(kMostResidues, std::abs(c)));
  };
  for (const Equation& e : program.equations) {
    for (size_t d = 0; d < e.lhs.size(); ++d) {
      const Affine form = *as_affine(e.lhs[d]);
      int64_t last = form.offset;
      for (const auto& [id, c] : form.terms) {
        stride(c);
        last += c * (e.indices[static_cast<size_t>(id)].extent - 1);
      }
      const bool whole = form.offset == 0 && last == program.target_of(e).shape[d] - 1;
      if (!whole) values.insert(form.offset), values.insert(last);
    }
    walk(e.rhs, [&](const Expr& x) {
      int64_t c = 0;
      if (x.op == Op::kRead) {
        for (const ExprRef& index : x.args) {
          const auto form = as_affine(index);
          for (size_t t = 0; form && t < form->terms.size(); ++t) stride(form->terms[t].second);
        }
      }
      if ((x.op == Op::kFloorDiv || x.op == Op::kMod) && is_constant(x.args[1], c)) stride(c);
      if (x.op < Op::kLt || x.op > Op::kGt) return;
      for (const ExprRef& side : x.args) {
        if (side->kind == ValueKind::kInt && is_constant(side, c)) values.insert(c);
      }
    });
  }
  while (values.size() > 24) values.erase(std::prev(values.end()));
}

std::vector<int64_t> positions_of(const std::vector<int64_t>& shape, const Boundaries& boundaries) {
  return Choice(shape, boundaries).run();
}

}  // namespace solstice::ir
