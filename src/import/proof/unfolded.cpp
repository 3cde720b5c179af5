#include "import/proof/unfolded.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "import/proof/linear.h"

namespace solstice::importer {
namespace {

using ir::ExprRef;
using ir::Op;

constexpr int kMostCopies = 256;  // tensors that copy tensors, one after the other: concatenations that grow

class Unfolding {
 public:
  Unfolding(const ir::Program& flat, const ir::Program& folded) : flat_(flat), folded_(folded) {
    for (size_t e = 0; e < folded.equations.size(); ++e)
      equations_[folded.equations[e].target].push_back(&folded.equations[e]);
  }

  std::string run(const std::map<std::string, FoldedPlace>& places) {
    if (std::string why = find_places(places); !why.empty()) return why;
    for (size_t t = 0; t < flat_.tensors.size(); ++t) {
      if (!is_like(static_cast<int>(t))) return fmt::format("`{}` has another shape or role", flat_.tensors[t].name);
    }
    for (const ir::Equation& equation : flat_.equations) {
      if (!has(equation)) return fmt::format("`{}` is computed otherwise", flat_.target_of(equation).name);
    }
    return opaques_differ() ? "an operation of PyTorch's has other operands" : "";
  }

 private:
  struct Place {
    int tensor = -1;
    int64_t step = -1;
    auto operator<=>(const Place&) const = default;
  };

  std::string find_places(const std::map<std::string, FoldedPlace>& places) {
    for (size_t t = 0; t < flat_.tensors.size(); ++t) {
      const std::string& name = flat_.tensors[t].name;
      const auto found = places.find(name);
      if (found == places.end()) return fmt::format("`{}` is nowhere in it", name);
      const FoldedPlace& given = found->second;
      const int whole = given.tensor.empty() ? -1 : folded_.find_tensor(given.tensor);
      const int loop = given.loop.empty() ? -1 : folded_.find_tensor(given.loop);
      if (whole < 0 && loop < 0) return fmt::format("`{}` is nowhere in it", name);
      places_.push_back(whole >= 0 ? Place{whole, -1} : Place{loop, given.step});
      bool is_new = tensors_.emplace(places_.back(), static_cast<int>(t)).second;
      if (whole >= 0 && loop >= 0)
        is_new = tensors_.emplace(Place{loop, given.step}, static_cast<int>(t)).second && is_new;
      if (!is_new) return fmt::format("`{}` stands where another tensor does", name);
      if (loop >= 0) looped_.insert(loop);
    }
    return "";
  }

  bool is_like(int id) const {
    const Place& place = places_[static_cast<size_t>(id)];
    const ir::Tensor &own = flat_.tensor(id), &there = folded_.tensor(place.tensor);
    const bool in_loop = place.step >= 0;
    std::vector<int64_t> shape = there.shape;
    if (in_loop && (shape.empty() || place.step >= shape[0])) return false;
    if (in_loop) shape.erase(shape.begin());
    if (shape != own.shape || own.value != there.value) return false;
    if (own.dtype && there.dtype && own.dtype != there.dtype) return false;
    if (in_loop) return !own.is_interface();
    const auto same_target = [&](int a, int b) {
      return (a < 0) == (b < 0) && (a < 0 || places_[static_cast<size_t>(a)] == Place{b, -1});
    };
    return (own.kind == there.kind || (!own.is_interface() && !there.is_interface())) && own.path == there.path &&
           own.strides == there.strides && same_target(own.into, there.into) && same_target(own.same, there.same);
  }

  // An equation of the flat program: the folded one's at that place has the same right side.
  bool has(const ir::Equation& equation) {
    indices_ = &equation.indices;
    own_.clear();
    for (size_t i = 0; i < equation.indices.size(); ++i) own_[static_cast<int>(i)] = {0, {{static_cast<int>(i), 1}}};
    const Place& place = places_[static_cast<size_t>(equation.target)];
    std::vector<Linear> at;
    if (place.step >= 0) at.push_back({place.step, {}});
    for (const ExprRef& e : equation.lhs) {
      const auto position = linear_of(e, own_);
      if (!position) return false;
      at.push_back(*position);
    }
    return is_at(equation.rhs, place.tensor, at, 0);
  }

  // What the folded program computes at this place is `own`.
  bool is_at(const ExprRef& own, int tensor, const std::vector<Linear>& place, int copies) {
    const auto found = equations_.find(tensor);
    for (size_t e = 0; found != equations_.end() && e < found->second.size(); ++e) {
      const ir::Equation& equation = *found->second[e];
      std::optional<Binding> bound = solve(equation, place, *indices_);
      if (bound) return is_same(own, equation.rhs, *bound, equation, copies);
    }
    return false;
  }

  bool is_same(const ExprRef& own, const ExprRef& there, Binding& bound, const ir::Equation& equation, int copies) {
    if (const auto a = linear_of(own, own_), b = linear_of(there, bound); a && b) return importer::is_same(*a, *b);
    if (const auto a = number_of(own, own_); a) {
      if (const auto b = number_of(there, bound); b) return std::bit_cast<uint64_t>(*a) == std::bit_cast<uint64_t>(*b);
    }
    if (there->op == Op::kRead) return is_read(own, *there, bound, equation, copies);
    const bool alike = own->op == there->op && own->args.size() == there->args.size() &&
                       own->reducer == there->reducer && own->binders.size() == there->binders.size();
    if (!alike || (own->op == Op::kCast && own->dtype != there->dtype)) return false;
    if (own->op == Op::kReal || own->op == Op::kInt || own->op == Op::kIndex) return false;  // told apart above
    if (own->op == Op::kBool && own->integer != there->integer) return false;
    for (size_t i = 0; i < own->binders.size(); ++i) {
      const int a = own->binders[i], b = there->binders[i];
      if ((*indices_)[static_cast<size_t>(a)].extent != equation.indices[static_cast<size_t>(b)].extent) return false;
      bound[b] = {0, {{a, 1}}};
    }
    for (size_t i = 0; i < own->args.size(); ++i) {
      if (!is_same(own->args[i], there->args[i], bound, equation, copies)) return false;
    }
    return true;
  }

  // A read of the folded program: of the same tensor, of a tensor that copies it, or what stands in for one outside.
  bool is_read(const ExprRef& own, const ir::Expr& there, Binding& bound, const ir::Equation& equation, int copies) {
    const std::vector<int64_t>& shape = folded_.tensor(there.id).shape;
    std::vector<std::optional<Linear>> at;
    bool inside = true, outside = false;
    for (size_t d = 0; d < shape.size(); ++d) {
      at.push_back(linear_of(there.args[d], bound));
      inside = inside && at[d] && is_within(*at[d], *indices_, 0, shape[d] - 1);
      outside = outside || (at[d] && is_beyond(*at[d], *indices_, 0, shape[d] - 1));
    }
    if (there.has_else && outside) return is_same(own, there.args.back(), bound, equation, copies);
    if (own->op == Op::kRead && is_same_read(*own, there, at, bound, equation, copies)) return true;
    if (!inside || copies == kMostCopies) return false;
    std::vector<Linear> place;
    for (const auto& position : at) place.push_back(*position);
    return is_at(own, there.id, place, copies + 1);
  }

  bool is_same_read(const ir::Expr& own, const ir::Expr& there, const std::vector<std::optional<Linear>>& at,
                    Binding& bound, const ir::Equation& equation, int copies) {
    const bool looped = looped_.contains(there.id);
    if (looped && (!at[0] || !is_constant(*at[0]))) return false;
    const auto found = tensors_.find({there.id, looped ? at[0]->constant : -1});
    if (found == tensors_.end() || found->second != own.id) return false;
    const size_t first = looped ? 1 : 0, rank = folded_.tensor(there.id).shape.size() - first;
    for (size_t d = 0; d < rank; ++d) {
      if (!is_same(own.args[d], there.args[d + first], bound, equation, copies)) return false;
    }
    if (own.has_else) return there.has_else && is_same(own.args.back(), there.args.back(), bound, equation, copies);
    return true;  // without an `else` it is inside, and so is the other at the same place
  }

  bool opaques_differ() {
    if (flat_.opaques.size() != folded_.opaques.size()) return true;
    const auto is_there = [&](int own, int there) { return places_[static_cast<size_t>(own)] == Place{there, -1}; };
    for (size_t o = 0; o < flat_.opaques.size(); ++o) {
      const ir::Opaque &own = flat_.opaques[o], &there = folded_.opaques[o];
      if (own.op != there.op || own.strings != there.strings || own.arguments.size() != there.arguments.size() ||
          !std::equal(own.results.begin(), own.results.end(), there.results.begin(), there.results.end(), is_there))
        return true;
      for (size_t i = 0; i < own.arguments.size(); ++i) {
        const auto& [name, a] = own.arguments[i];
        const auto& [other, b] = there.arguments[i];
        if (name != other || !is_same_argument(a, b, is_there)) return true;
      }
    }
    return false;
  }

  template <typename IsThere>
  static bool is_same_argument(const ExprRef& a, const ExprRef& b, const IsThere& is_there) {
    if (!a || !b) return !a && !b;
    if (a->op == Op::kRead) return b->op == Op::kRead && is_there(a->id, b->id);
    const auto x = number_of(a, {}), y = number_of(b, {});
    if (x || y) return x == y;
    return a->op == b->op && a->integer == b->integer;
  }

  const ir::Program& flat_;
  const ir::Program& folded_;
  std::map<int, std::vector<const ir::Equation*>> equations_;  // of the folded program, by tensor
  std::vector<Place> places_;                                  // of the flat program's tensors
  std::map<Place, int> tensors_;                               // the way back
  std::set<int> looped_;                                       // tensors of the folded program that hold steps
  const std::vector<ir::Index>* indices_ = nullptr;            // of the flat equation in hand
  Binding own_;                                                // each of them is itself
};

}  // namespace

std::string difference(const ir::Program& flat, const ir::Program& folded,
                       const std::map<std::string, FoldedPlace>& places) {
  return Unfolding(flat, folded).run(places);
}

}  // namespace solstice::importer
