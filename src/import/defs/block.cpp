#include "import/defs/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "import/draft/digits.h"
#include "import/draft/term_mapper.h"
#include "import/graph/module_path.h"

namespace solstice::importer {
namespace {

// Tells every tensor that an equation names.
class TensorLister : public TermMapper {
 public:
  using TermMapper::TermMapper;
  std::vector<int> reads;

 private:
  int tensor(int id) override {
    reads.push_back(id);
    return id;
  }
  Size size(const Size& given) override { return given; }
  Loop loop(const Loop& given) override { return given; }
};

}  // namespace

void Uses::Range::add(size_t item) {
  first = std::min(first, item);
  last = std::max(last, item);
}

Uses::Uses(const Draft& draft) : any(draft.tensors.size()), writes(draft.tensors.size()), shared(draft.tensors.size()) {
  for (const DraftTensor& tensor : draft.tensors) {
    if (tensor.same >= 0) shared[static_cast<size_t>(tensor.same)] = true;
  }
  const auto written = [&](int tensor, size_t item) {
    const auto t = static_cast<size_t>(tensor);
    any[t].add(item);
    writes[t].add(item);
    if (draft.tensors[t].into >= 0) any[static_cast<size_t>(draft.tensors[t].into)].add(item);
  };
  for (size_t i = 0; i < draft.items.size(); ++i) {
    const DraftItem& item = draft.items[i];
    if (item.opaque >= 0) {
      const DraftOpaque& opaque = draft.opaques[static_cast<size_t>(item.opaque)];
      for (const int t : opaque.results) written(t, i);
      for (const auto& argument : opaque.arguments) {
        if (argument.tensor >= 0) any[static_cast<size_t>(argument.tensor)].add(i);
      }
    } else if (item.call >= 0) {
      const DraftCall& call = draft.calls[static_cast<size_t>(item.call)];
      for (const int t : call.results) written(t, i);
      for (const int t : call.arguments) any[static_cast<size_t>(t)].add(i);
    } else {
      TensorLister lister(draft);
      (void)lister.equation(item.equation);
      for (const int t : lister.reads) any[static_cast<size_t>(t)].add(i);
      written(item.equation.tensor, i);
    }
  }
}

namespace {

class BlockReader : public TermMapper {
 public:
  BlockReader(const Draft& draft, const Uses& uses, Block& block) : TermMapper(draft), uses_(uses), block_(block) {}

  // False where the items cannot be a block.
  bool read() {
    for (size_t i = block_.first; i < block_.last && fits_; ++i) {
      const DraftItem& item = source().items[i];
      if (item.opaque >= 0) return false;
      loops_.clear();  // names of indices end with their equation
      if (item.call < 0) {
        (void)equation(item.equation);
      } else {
        read(source().calls[static_cast<size_t>(item.call)]);
      }
    }
    return fits_;
  }

 private:
  void read(const DraftCall& call) {
    const auto path = relative_path(call.at, block_.at);
    if (!path) fits_ = false;
    mark(fmt::format("call {} at {}", call.def, path.value_or("")));
    for (const int t : call.arguments) tensor(t);
    for (const int t : call.results) tensor(t);
    for (const Size& s : call.statics) size(s);
  }

  void mark(std::string_view text) override { block_.key += text; }

  int tensor(int id) override {
    const auto [found, is_new] = numbers_.emplace(id, static_cast<int>(block_.tensors.size()));
    mark(fmt::format("t{}", found->second));
    if (is_new) meet(id);
    return id;
  }

  void meet(int id) {
    const DraftTensor& t = source().tensors[static_cast<size_t>(id)];
    const Block::Role role = role_of(id);
    block_.tensors.push_back(id);
    block_.roles.push_back(role);
    block_.shape_slots.emplace_back();
    const size_t number = block_.tensors.size() - 1;
    const bool is_written = role == Block::Role::kInner || role == Block::Role::kResult;
    mark(fmt::format("{}:{}", is_written ? "w" : "r", static_cast<int>(t.dtype)));
    if (role == Block::Role::kOwned) {
      mark(fmt::format("{}{}", static_cast<int>(t.kind), *relative_path(t.path, block_.at)));
      if (t.closed_form) mark(to_json(*t.closed_form).dump());
      ++block_.owned;
    }
    for (const Size& extent : final_shape(t)) {
      const size_t before = block_.slots.size();
      size(extent);
      block_.shape_slots[number].push_back(block_.slots.size() > before ? static_cast<int>(before) : -1);
    }
    if (role != Block::Role::kInner) return;
    if (t.kind != DraftKind::kLocal && !t.is_result) ++block_.owned;
    if (t.into >= 0) {
      mark("into");
      tensor(t.into);
    }
  }

  bool is_owned(int id) const {
    const DraftTensor& t = source().tensors[static_cast<size_t>(id)];
    if (t.kind != DraftKind::kParam && t.kind != DraftKind::kBuffer) return false;
    if (!t.strides.empty() || t.same >= 0 || uses_.shared[static_cast<size_t>(id)] || !relative_path(t.path, block_.at))
      return false;
    return uses_.any[static_cast<size_t>(id)].within(block_.first, block_.last);
  }

  Block::Role role_of(int id) {
    const auto t = static_cast<size_t>(id);
    const DraftTensor& tensor = source().tensors[t];
    const Uses::Range& writes = uses_.writes[t];
    if (writes.empty() || writes.first >= block_.last || writes.last < block_.first) {
      return is_owned(id) ? Block::Role::kOwned : Block::Role::kFormal;
    }
    fits_ = fits_ && writes.within(block_.first, block_.last);
    const bool leaves = uses_.any[t].last >= block_.last || tensor.kind == DraftKind::kOutput ||
                        (tensor.into >= 0 && !is_owned(tensor.into));
    return leaves ? Block::Role::kResult : Block::Role::kInner;
  }

  Size size(const Size& given) override {
    const Size canonical = given.canonical(source().dims());
    if (canonical.is_constant()) {
      mark(fmt::format("{}", canonical.value()));
    } else {
      mark("#");
      block_.slots.push_back(canonical);
    }
    return canonical;
  }

  Loop loop(const Loop& given) override {
    const auto [found, is_new] = loops_.emplace(given.id, static_cast<int>(loops_.size()));
    mark(fmt::format("l{}", found->second));
    if (is_new) size(source().dims().size(given.dim));
    return given;
  }

  const Uses& uses_;
  Block& block_;
  std::map<int, int> numbers_, loops_;
  bool fits_ = true;
};

// Structure of an item without the names of its tensors and extents.
class StructureReader : public TermMapper {
 public:
  using TermMapper::TermMapper;
  std::string text;

 private:
  void mark(std::string_view part) override { text += part; }
  int tensor(int id) override {
    text += fmt::format("t{}", static_cast<int>(source().tensors[static_cast<size_t>(id)].dtype));
    return id;
  }
  Size size(const Size& given) override {
    const Size canonical = given.canonical(source().dims());
    text += canonical.is_constant() ? std::to_string(canonical.value()) : "#";
    return canonical;
  }
  Loop loop(const Loop& given) override { return given; }
};

}  // namespace

void describe(const Draft& draft, const Uses& uses, Block& block) {
  block.key.clear();
  block.tensors.clear();
  block.roles.clear();
  block.shape_slots.clear();
  block.slots.clear();
  block.owned = 0;
  if (!BlockReader(draft, uses, block).read()) block.key.clear();
}

std::string structure_of(const Draft& draft, const DraftItem& item) {
  if (item.opaque >= 0) return "opaque";
  if (item.call >= 0) return fmt::format("call {}", draft.calls[static_cast<size_t>(item.call)].def);
  StructureReader reader(draft);
  (void)reader.equation(item.equation);
  return reader.text;
}

}  // namespace solstice::importer
