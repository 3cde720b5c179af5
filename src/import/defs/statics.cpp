#include "import/defs/statics.h"

#include <algorithm>
#include <map>
#include <utility>

#include "import/draft/term_mapper.h"

namespace solstice::importer {
namespace {

// The dim that a size is, if it follows from no other.
std::optional<DimId> free_dim(const Draft& draft, const Size& size) {
  const Size canonical = size.canonical(draft.dims());
  if (canonical.terms().size() != 1) return std::nullopt;
  const auto& [product, coefficient] = *canonical.terms().begin();
  if (product.size() != 1 || coefficient != 1 || draft.dims().formula(product[0])) return std::nullopt;
  return product[0];
}

// The dims that are spoken of outside the defs and what calls pass, those behind a dim's formula included.
class DimUses : public TermMapper {
 public:
  explicit DimUses(const Draft& draft) : TermMapper(draft) {
    for (const DraftTensor& tensor : draft.tensors) {
      if (tensor.kind == DraftKind::kLocal || tensor.def >= 0 || tensor.is_result) continue;
      for (const Size& extent : tensor.shape) size(extent);
    }
    for (const DraftItem& item : draft.items) {
      if (item.is_equation()) (void)equation(item.equation);
      if (item.call < 0) continue;
      for (const Size& passed : draft.calls[static_cast<size_t>(item.call)].statics) {
        if (!free_dim(draft, passed)) size(passed);
      }
    }
  }
  bool has(DimId id) const { return found_.count(id) > 0; }

 private:
  int tensor(int id) override { return id; }
  Size size(const Size& given) override {
    const Size canonical = given.canonical(source().dims());
    for (const auto& [product, coefficient] : canonical.terms()) {
      for (const DimId id : product) add(id);
    }
    return canonical;
  }
  Loop loop(const Loop& given) override {
    size(source().dims().size(given.dim));
    return given;
  }
  void add(DimId id) {
    if (found_.insert(id).second && source().dims().formula(id)) size(source().dims().formula(id)->size);
  }

  std::set<DimId> found_;
};

void pass_numbers(Draft& draft) {
  const DimUses uses(draft);
  for (DraftCall& call : draft.calls) {
    for (Size& passed : call.statics) {
      const auto dim = free_dim(draft, passed);
      if (dim && !uses.has(*dim)) passed = Size(draft.dims().value(*dim));
    }
  }
}

// Calls that still stand in an item.
std::vector<DraftCall*> calls_of(Draft& draft, int def) {
  std::vector<DraftCall*> out;
  for (const DraftItem& item : draft.items) {
    if (item.call < 0) continue;
    DraftCall& call = draft.calls[static_cast<size_t>(item.call)];
    if (call.def == def) out.push_back(&call);
  }
  return out;
}

}  // namespace

void join_passed(Draft& draft, int def) {
  std::map<std::pair<size_t, int64_t>, DimId> first;
  for (const DraftCall& call : draft.calls) {
    for (size_t s = 0; s < call.statics.size() && call.def == def; ++s) {
      const auto dim = free_dim(draft, call.statics[s]);
      if (!dim) continue;
      const auto [known, is_new] = first.emplace(std::pair(s, draft.dims().value(*dim)), *dim);
      if (!is_new) draft.dims().unify(known->second, *dim);
    }
  }
}

void settle_statics(Draft& draft) {
  pass_numbers(draft);
  for (size_t d = 0; d < draft.defs.size(); ++d) {
    std::vector<DraftCall*> calls = calls_of(draft, static_cast<int>(d));
    for (const DraftDef& def : draft.defs) {
      const std::vector<DraftCall*> nested = calls_of(*def.body, static_cast<int>(d));
      calls.insert(calls.end(), nested.begin(), nested.end());
    }
    std::vector<DraftDef::Static>& statics = draft.defs[d].statics;
    for (size_t s = 0; s < statics.size() && !calls.empty(); ++s) {
      const Size& first = calls[0]->statics[s];
      const bool alike = std::all_of(calls.begin(), calls.end(), [&](const DraftCall* call) {
        return call->statics[s].is_constant() && call->statics[s].value() == first.value();
      });
      if (alike) statics[s].value = first.value();
    }
  }
}

}  // namespace solstice::importer
