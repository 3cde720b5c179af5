// E005: the pieces of a tensor are disjoint and cover it. A piece is a product of sets of integers, one a
// dimension, each a mixed radix over the left indices; both tests are exact.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "ir/bind/binder.h"

namespace solstice::ir {
namespace {

constexpr int64_t kListedElements = int64_t{1} << 22;

// first + stride * 0..count-1, or the elements themselves where the radix leaves gaps.
struct Coordinates {
  int64_t first = 0;
  int64_t stride = 1;
  int64_t count = 1;
  std::vector<int64_t> listed;
  bool injective = true;

  int64_t last() const { return listed.empty() ? first + stride * (count - 1) : listed.back(); }
};

Coordinates places_of(const Affine& form, const std::vector<Index>& indices) {
  Coordinates out;
  out.first = form.offset;
  std::vector<std::pair<int64_t, int64_t>> terms;  // coefficient, extent
  for (const auto& [id, c] : form.terms) {
    const int64_t extent = indices[static_cast<size_t>(id)].extent;
    if (c < 0) out.first += c * (extent - 1);
    if (extent > 1) terms.emplace_back(std::abs(c), extent);
  }
  std::sort(terms.begin(), terms.end());
  int64_t span = 1;  // of the terms so far
  bool regular = true;
  if (!terms.empty()) out.stride = terms[0].first;
  for (const auto& [c, extent] : terms) {
    out.injective = out.injective && c >= span;
    regular = regular && c == out.stride * out.count;
    out.count *= extent;
    span += c * (extent - 1);
  }
  if (regular || !out.injective || out.count > kListedElements) return out;
  out.listed = {out.first};
  for (const auto& [c, extent] : terms) {
    const size_t known = out.listed.size();
    for (int64_t i = 1; i < extent; ++i) {
      for (size_t k = 0; k < known; ++k) out.listed.push_back(out.listed[k] + c * i);
    }
  }
  std::sort(out.listed.begin(), out.listed.end());
  return out;
}

bool contains(const Coordinates& p, int64_t v) {
  if (!p.listed.empty()) return std::binary_search(p.listed.begin(), p.listed.end(), v);
  return v >= p.first && v <= p.last() && (v - p.first) % p.stride == 0;
}

bool disjoint(const Coordinates& a, const Coordinates& b) {
  if (a.last() < b.first || b.last() < a.first) return true;
  if (a.listed.empty() && b.listed.empty()) {
    const int64_t common = std::gcd(a.stride, b.stride);
    if ((a.first - b.first) % common != 0) return true;
  }
  const Coordinates& few = a.count <= b.count ? a : b;
  const Coordinates& many = a.count <= b.count ? b : a;
  if (few.count > kListedElements) return false;
  for (int64_t i = 0; i < few.count; ++i) {
    if (contains(many, few.listed.empty() ? few.first + few.stride * i : few.listed[static_cast<size_t>(i)]))
      return false;
  }
  return true;
}

struct Piece {
  const Equation* equation;
  std::vector<Coordinates> dimensions;
  int64_t volume = 1;
};

bool disjoint(const Piece& a, const Piece& b) {
  for (size_t d = 0; d < a.dimensions.size(); ++d) {
    if (disjoint(a.dimensions[d], b.dimensions[d])) return true;
  }
  return false;
}

// The first two in text order that meet. They are walked through along the dimension that sets most of them apart.
std::optional<std::pair<size_t, size_t>> meeting(const std::vector<Piece>& pieces) {
  std::vector<size_t> by_place(pieces.size());
  std::iota(by_place.begin(), by_place.end(), size_t{0});
  size_t along = 0, most = 0;
  for (size_t d = 0; !pieces.empty() && d < pieces[0].dimensions.size(); ++d) {
    std::set<int64_t> firsts;
    for (const Piece& p : pieces) firsts.insert(p.dimensions[d].first);
    if (firsts.size() <= most) continue;
    most = firsts.size();
    along = d;
  }
  const auto first = [&](size_t p) { return most == 0 ? 0 : pieces[p].dimensions[along].first; };
  const auto last = [&](size_t p) { return most == 0 ? 0 : pieces[p].dimensions[along].last(); };
  std::stable_sort(by_place.begin(), by_place.end(), [&](size_t a, size_t b) { return first(a) < first(b); });
  std::optional<std::pair<size_t, size_t>> out;
  for (size_t i = 0; i < by_place.size(); ++i) {
    for (size_t k = i + 1; k < by_place.size() && first(by_place[k]) <= last(by_place[i]); ++k) {
      const std::pair pair(std::min(by_place[i], by_place[k]), std::max(by_place[i], by_place[k]));
      if ((!out || pair < *out) && !disjoint(pieces[pair.first], pieces[pair.second])) out = pair;
    }
  }
  return out;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

// "[.., 32..63]": the first run in the first dimension that the pieces leave open, "" if every dimension is
// full.
std::string open_part(const std::vector<int64_t>& shape, const std::vector<Piece>& pieces) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > kListedElements) continue;
    std::vector<bool> known(static_cast<size_t>(shape[d]), false);
    for (const Piece& p : pieces) {
      const Coordinates& places = p.dimensions[d];
      for (int64_t i = 0; i < places.count; ++i) {
        known[static_cast<size_t>(places.listed.empty() ? places.first + places.stride * i
                                                        : places.listed[static_cast<size_t>(i)])] = true;
      }
    }
    const auto first = std::find(known.begin(), known.end(), false);
    if (first == known.end()) continue;
    const auto end = std::find(first, known.end(), true);
    const auto low = first - known.begin();
    const auto high = end - known.begin() - 1;
    std::string text = "[";
    for (size_t k = 0; k < shape.size(); ++k) {
      const std::string here = k != d ? ".." : low == high ? std::to_string(low) : fmt::format("{}..{}", low, high);
      text += (k ? ", " : "") + here;
    }
    return text + "]";
  }
  return "";
}

}  // namespace

void Binder::check_cover(const std::string& name, const std::vector<int64_t>& shape,
                         const std::vector<const Equation*>& equations, Span span) {
  std::vector<Piece> pieces;
  int64_t volume = 0;
  for (const Equation* e : equations) {
    Piece p;
    p.equation = e;
    std::vector<int> used;
    for (const ExprRef& i : e->lhs) {
      const Affine form = *as_affine(i);
      p.dimensions.push_back(places_of(form, e->indices));
      p.volume *= p.dimensions.back().count;
      bool unique = p.dimensions.back().injective;
      for (const auto& [id, c] : form.terms) {
        unique = unique && std::find(used.begin(), used.end(), id) == used.end();
        used.push_back(id);
      }
      if (!unique) {
        error("E005", e->span,
              fmt::format("left index `{}` of `{}` does not place every element once", to_text(program_, *e, i), name),
              "per dimension the terms form a mixed radix, as in `D*g+k` with k<D; no index stands in two "
              "dimensions");
        return;
      }
    }
    volume += p.volume;
    pieces.push_back(std::move(p));
  }
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  if (const auto twice = meeting(pieces)) {
    Diagnostic d;
    d.code = "E005";
    d.span = pieces[twice->second].equation->span;
    d.message = fmt::format("`{}` ({}): elements are defined twice", name, shape_text(shape));
    d.labels.push_back({pieces[twice->first].equation->span, "defined here first"});
    d.hint =
        "equations do not update: give the second a new name; or give the pieces ranges and offsets that "
        "do not meet";
    diagnostics_.add(std::move(d));
    return;
  }
  if (volume == elements) return;
  const std::string part = open_part(shape, pieces);
  error("E005", pieces.empty() ? span : pieces.back().equation->span,
        pieces.empty() ? fmt::format("`{}` ({}) is never defined", name, shape_text(shape))
                       : fmt::format("`{}` ({}): {} never defined", name, shape_text(shape),
                                     part.empty() ? fmt::format("{} of {} elements are", elements - volume, elements)
                                                  : "elements " + part + " are"),
        "define the rest in another piece, or declare a smaller tensor");
}

void Binder::check_cover() {
  for (size_t t = 0; t < program_.tensors.size(); ++t) {
    const Tensor& tensor = program_.tensors[t];
    const bool given = tensor.is_interface() && tensor.kind != TensorKind::kOutput;
    const TensorState& state = states_[t];
    if (given || state.poisoned || std::find(state.writers.begin(), state.writers.end(), -1) != state.writers.end())
      continue;
    // An extent that could not be told is an error of its own, and there is nothing to cover.
    if (std::any_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t extent) { return extent < 0; })) continue;
    std::vector<const Equation*> pieces;
    for (const int w : state.writers) pieces.push_back(&program_.equations[static_cast<size_t>(w)]);
    check_cover(tensor.name, tensor.shape, pieces, tensor.span);
  }
  for (const View& v : views_) {
    if (lost_.count(v.name)) continue;
    std::vector<Equation> kept;
    for (const ViewPiece& p : v.pieces) {
      Equation e;
      e.indices = p.indices;
      e.span = v.span;
      for (const Affine& form : p.lhs) {
        ExprRef sum = make_int(form.offset);
        for (const auto& [id, c] : form.terms)
          sum = make(Op::kAdd, {sum, make(Op::kMul, {make_int(c), make_index(id)})});
        e.lhs.push_back(sum);
      }
      kept.push_back(std::move(e));
    }
    std::vector<const Equation*> pieces;
    for (const Equation& e : kept) pieces.push_back(&e);
    check_cover(v.name, v.shape, pieces, v.span);
  }
}

}  // namespace solstice::ir
