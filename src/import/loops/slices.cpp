#include "import/loops/slices.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "import/draft/substitute.h"
#include "import/draft/term_mapper.h"

namespace solstice::importer {
namespace {

// t[.., d, ..] = select(d == at, value, base)
struct Slice {
  size_t dimension = 0;
  int64_t at = 0;
  TermRef value, base;
};

std::optional<int64_t> literal_integer(const Term& term) {
  int64_t out = 0;
  const char* end = term.text.data() + term.text.size();
  const bool digits = term.kind == TermKind::kLiteral && is_number(term);
  const auto [stop, error] = std::from_chars(term.text.data(), end, out);
  return digits && error == std::errc() && stop == end ? std::optional(out) : std::nullopt;
}

// One dimension for each axis.
bool is_plain(const DraftTensor& tensor) {
  for (size_t d = 0; tensor.is_merged && d < tensor.merged.size(); ++d) {
    if (tensor.merged[d] != std::vector<int>{static_cast<int>(d)}) return false;
  }
  return true;
}

std::optional<Slice> slice_of(const Draft& draft, const DraftItem& item) {
  if (!item.is_equation()) return std::nullopt;
  const DraftEquation& equation = item.equation;
  const Term& rhs = *equation.rhs;
  if (!is_plain(draft.tensors[static_cast<size_t>(equation.tensor)])) return std::nullopt;
  if (rhs.kind != TermKind::kApply || rhs.text != "select" || rhs.args.size() != 3) return std::nullopt;
  const Term& test = *rhs.args[0];
  if (test.kind != TermKind::kBinary || test.text != "==" || test.args[0]->kind != TermKind::kIndex)
    return std::nullopt;
  const Loop* along = test.args[0]->indices[0].bare();
  const std::optional<int64_t> at = literal_integer(*test.args[1]);
  if (!along || !at) return std::nullopt;
  std::map<int, Loop> used;
  collect_loops(rhs.args[1], used);
  Slice out{0, *at, rhs.args[1], rhs.args[2]};
  bool found = false;
  for (size_t d = 0; d < equation.lhs.size(); ++d) {
    const Loop* loop = equation.lhs[d].bare();
    if (!loop) return std::nullopt;
    if (loop->id == along->id) out.dimension = d, found = true;
  }
  return found && !used.contains(along->id) ? std::optional(out) : std::nullopt;
}

class Uses : public TermCopier {
 public:
  explicit Uses(const Draft& draft) : TermCopier(draft) {
    for (const DraftItem& item : draft.items) {
      if (item.is_equation()) (void)equation(item.equation);
    }
    for (const DraftOpaque& opaque : draft.opaques) {
      for (const auto& argument : opaque.arguments) ++count[argument.tensor];
    }
  }
  std::map<int, int> count;  // of each tensor, as a target or as what is read

 private:
  int tensor(int id) override {
    ++count[id];
    return id;
  }
};

class Slicer {
 public:
  explicit Slicer(Draft& draft) : draft_(draft), uses_(draft) {
    for (size_t i = 0; i < draft.items.size(); ++i) {
      if (auto slice = slice_of(draft, draft.items[i])) {
        slices_.emplace(i, std::move(*slice));
        writers_.emplace(draft.items[i].equation.tensor, i);
      }
    }
  }

  bool run() {
    bool changed = false;
    for (auto last = slices_.rbegin(); last != slices_.rend(); ++last) {
      if (gone_.contains(last->first)) continue;
      changed = write(chain_to(last->first)) || changed;
    }
    std::vector<DraftItem> kept;
    for (size_t i = 0; i < draft_.items.size(); ++i) {
      if (!dropped_.contains(i)) kept.push_back(std::move(draft_.items[i]));
    }
    draft_.items = std::move(kept);
    draft_.bounds = {};
    return changed;
  }

 private:
  const DraftEquation& equation(size_t item) const { return draft_.items[item].equation; }

  // The items that write it, the last first.
  std::vector<size_t> chain_to(size_t last) const {
    std::vector<size_t> out{last};
    while (const auto before = before_of(out.back())) out.push_back(*before);
    return out;
  }

  // The item that writes what this one copies, where nothing else reads that.
  std::optional<size_t> before_of(size_t item) const {
    const Slice& slice = slices_.at(item);
    if (slice.base->kind != TermKind::kRead || slice.base->has_else()) return std::nullopt;
    const auto writer = writers_.find(slice.base->tensor);
    const bool own = writer != writers_.end() && writer->second < item && uses_.count.at(slice.base->tensor) == 2 &&
                     draft_.tensors[static_cast<size_t>(slice.base->tensor)].kind == DraftKind::kLocal &&
                     slices_.at(writer->second).dimension == slice.dimension && !gone_.contains(writer->second);
    const auto same = [](const Index& a, const Index& b) {
      return a.bare() && b.bare() && a.bare()->id == b.bare()->id;
    };
    const std::vector<Index>&from = slice.base->indices, &to = equation(item).lhs;
    return own && std::equal(from.begin(), from.end(), to.begin(), to.end(), same) ? std::optional(writer->second)
                                                                                   : std::nullopt;
  }

  bool write(const std::vector<size_t>& chain) {
    const int target = equation(chain[0]).tensor;
    const size_t dimension = slices_.at(chain[0]).dimension;
    std::map<int64_t, size_t> pieces;  // the last that is written at each place
    for (const size_t item : chain) pieces.emplace(slices_.at(item).at, item);
    DraftTensor& tensor = draft_.tensors[static_cast<size_t>(target)];
    const int64_t extent = tensor.shape[dimension].value();
    const bool whole =
        std::ssize(pieces) == extent && pieces.begin()->first == 0 && pieces.rbegin()->first == extent - 1;
    if (!whole || extent < 2) return false;
    if (tensor.kind == DraftKind::kLocal) tensor.kind = DraftKind::kTensor;
    for (const size_t item : chain) {
      gone_.insert(item);
      const Slice& slice = slices_.at(item);
      if (pieces.at(slice.at) != item) {
        dropped_.insert(item);
        continue;
      }
      DraftEquation& piece = draft_.items[item].equation;
      join_dims(piece.tensor, target);
      piece.tensor = target;
      piece.lhs[dimension] = Index(slice.at);
      piece.rhs = slice.value;
    }
    return true;
  }

  void join_dims(int a, int b) {
    const auto& x = draft_.tensors[static_cast<size_t>(a)].shape;
    const auto& y = draft_.tensors[static_cast<size_t>(b)].shape;
    const auto dim = [&](const Size& size) -> std::optional<DimId> {
      const Size canonical = size.canonical(draft_.dims());
      const auto& terms = canonical.terms();
      const bool one = terms.size() == 1 && terms.begin()->second == 1 && terms.begin()->first.size() == 1;
      return one ? std::optional(terms.begin()->first[0]) : std::nullopt;
    };
    for (size_t d = 0; d < x.size(); ++d) {
      const auto m = dim(x[d]), n = dim(y[d]);
      if (m && n) draft_.dims().unify(*m, *n);
    }
  }

  Draft& draft_;
  Uses uses_;
  std::map<size_t, Slice> slices_;  // by item
  std::map<int, size_t> writers_;   // of their tensors
  std::set<size_t> gone_, dropped_;
};

}  // namespace

bool write_slices_as_pieces(Draft& draft) { return Slicer(draft).run(); }

}  // namespace solstice::importer
