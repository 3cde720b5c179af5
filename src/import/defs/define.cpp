#include "import/defs/define.h"

#include <algorithm>
#include <map>

#include "import/defs/def_sizes.h"
#include "import/draft/digits.h"
#include "import/draft/term_mapper.h"
#include "import/graph/module_path.h"

namespace solstice::importer {
namespace {

using Role = Block::Role;

// Copies the items of the first block into the body. Visits in the order of BlockReader.
class BodyWriter : public TermMapper {
 public:
  BodyWriter(const Draft& draft, const std::vector<Block>& blocks, const std::vector<Role>& roles, DefSizes& sizes,
             Draft& body)
      : TermMapper(draft), blocks_(blocks), block_(blocks[0]), roles_(roles), sizes_(sizes), body_(body) {}

  void write(const Graph& graph) {
    for (size_t i = block_.first; i < block_.last; ++i) {
      const DraftItem& item = source().items[i];
      DraftItem copy;
      copy.node = item.node;
      copy.is_placed = is_placed(graph, i - block_.first);
      loops_.clear();
      if (item.call < 0) {
        copy.equation = equation(item.equation);
      } else {
        copy.call = static_cast<int>(body_.calls.size());
        body_.calls.push_back(call(source().calls[static_cast<size_t>(item.call)]));
      }
      body_.items.push_back(std::move(copy));
    }
  }

  const std::map<int, int>& tensors() const { return tensors_; }  // of the first block -> of the body

 private:
  // All blocks have this item from one line of the user's code.
  bool is_placed(const Graph& graph, size_t offset) const {
    const auto line = [&](const Block& block) {
      const int node = source().items[block.first + offset].node;
      const auto& src = node < 0 ? std::nullopt : graph.nodes[static_cast<size_t>(node)].src;
      return src ? std::pair(src->file, src->line) : std::pair<decltype(src->file), decltype(src->line)>(-1, 0);
    };
    return std::all_of(blocks_.begin(), blocks_.end(), [&](const Block& block) { return line(block) == line(block_); });
  }

  DraftCall call(const DraftCall& given) {
    DraftCall out;
    out.def = given.def;
    out.at = *relative_path(given.at, block_.at);
    for (const int t : given.arguments) out.arguments.push_back(tensor(t));
    for (const int t : given.results) out.results.push_back(tensor(t));
    for (const Size& s : given.statics) out.statics.push_back(size(s));
    return out;
  }

  int tensor(int id) override {
    const auto known = tensors_.find(id);
    if (known != tensors_.end()) return known->second;
    const size_t number = tensors_.size();
    const DraftTensor& given = source().tensors[static_cast<size_t>(id)];
    DraftTensor copy;
    copy.kind = kind(number);
    copy.wish = wish(number);
    copy.dtype = given.dtype;
    copy.is_result = given.is_result && roles_[number] == Role::kInner;
    if (roles_[number] == Role::kOwned) {
      copy.path = *relative_path(given.path, block_.at);
      copy.closed_form = given.closed_form;
    }
    const int out = body_.add(std::move(copy));
    tensors_[id] = out;
    std::vector<Size> shape;
    for (const Size& extent : final_shape(given)) shape.push_back(size(extent));
    const int into = block_.roles[number] == Role::kInner && given.into >= 0 ? tensor(given.into) : -1;
    DraftTensor& made = body_.tensors[static_cast<size_t>(out)];
    made.shape = std::move(shape);
    made.into = into;
    return out;
  }

  const DraftTensor& original(const Block& block, size_t number) const {
    return source().tensors[static_cast<size_t>(block.tensors[number])];
  }

  DraftKind kind(size_t number) const {
    switch (roles_[number]) {
      case Role::kFormal:
        return DraftKind::kInput;
      case Role::kResult:
        return DraftKind::kOutput;
      case Role::kOwned:
        return original(block_, number).kind;
      case Role::kInner:
        break;
    }
    const bool local = std::all_of(blocks_.begin(), blocks_.end(),
                                   [&](const Block& b) { return original(b, number).kind == DraftKind::kLocal; });
    return local ? DraftKind::kLocal : DraftKind::kTensor;
  }

  // The blocks' own name where they agree; names that come from the module's path lose what differs.
  std::string wish(size_t number) const {
    const auto wish_in = [&](const Block& block) {
      const std::string& whole = original(block, number).wish;
      return relative_path(whole, block.at).value_or(whole);
    };
    const std::string first = wish_in(block_);
    const bool agreed =
        std::all_of(blocks_.begin(), blocks_.end(), [&](const Block& b) { return wish_in(b) == first; });
    if (agreed || roles_[number] == Role::kInner || roles_[number] == Role::kOwned) return first;
    return roles_[number] == Role::kResult ? "y" : "x";
  }

  Size size(const Size& given) override {
    const Size canonical = given.canonical(source().dims());
    return canonical.is_constant() ? canonical : sizes_.slots[next_slot_++];
  }

  Loop loop(const Loop& given) override {
    const auto known = loops_.find(given.id);
    if (known != loops_.end()) return known->second;
    const Size extent = size(source().dims().size(given.dim));
    const Loop copy{given.id, dim_of(extent), extent.value(), given.hint};
    loops_.emplace(given.id, copy);
    return copy;
  }

  // A loop runs over one dim: the extent itself, or a dim that is written as its formula.
  DimId dim_of(const Size& extent) {
    if (extent.is_constant()) return body_.dims().literal(extent.value());
    const auto& [product, coefficient] = *extent.terms().begin();
    if (extent.terms().size() == 1 && coefficient == 1 && product.size() == 1) return product[0];
    const DimId dim = body_.dims().fresh(extent.value());
    body_.dims().derive(dim, {extent, 1, 0});
    body_.dims().set_inlined(dim);
    return dim;
  }

  const std::vector<Block>& blocks_;
  const Block& block_;
  const std::vector<Role>& roles_;
  DefSizes& sizes_;
  Draft& body_;
  std::map<int, int> tensors_;
  std::map<int, Loop> loops_;
  size_t next_slot_ = 0;
};

// Results of calls need no declaration, unless they leave the program.
void note_result(DraftTensor& tensor) {
  tensor.is_result = tensor.kind != DraftKind::kOutput && tensor.into < 0;
  if (tensor.is_result) tensor.kind = DraftKind::kTensor;
}

// A tensor that one block hands on is a result of all.
std::vector<Role> common_roles(const std::vector<Block>& blocks) {
  std::vector<Role> roles = blocks[0].roles;
  for (const Block& block : blocks) {
    for (size_t i = 0; i < roles.size(); ++i) {
      if (block.roles[i] == Role::kResult) roles[i] = Role::kResult;
    }
  }
  return roles;
}

}  // namespace

std::vector<int> define(Draft& draft, const Graph& graph, const std::vector<Block>& blocks, const std::string& name) {
  DraftDef def;
  def.name = name;
  def.at = blocks[0].at;
  def.body = std::make_unique<Draft>();
  DefSizes sizes = fit_sizes(draft, blocks, def.body->dims());
  for (const auto& [a, b] : sizes.joined) draft.dims().unify(a, b);
  const std::vector<Role> roles = common_roles(blocks);
  BodyWriter writer(draft, blocks, roles, sizes, *def.body);
  writer.write(graph);
  for (const DimId dim : sizes.statics) def.statics.push_back({dim, std::nullopt});
  const int id = static_cast<int>(draft.defs.size());
  for (size_t i = 0; i < roles.size(); ++i) {
    const int inner = writer.tensors().at(blocks[0].tensors[i]);
    if (roles[i] == Role::kFormal) def.formals.push_back(inner);
    if (roles[i] == Role::kResult) def.results.push_back(inner);
  }
  std::vector<int> calls;
  for (size_t b = 0; b < blocks.size(); ++b) {
    DraftCall call;
    call.def = id;
    call.at = blocks[b].at;
    for (const auto& passed : sizes.passed) call.statics.push_back(passed[b]);
    for (size_t i = 0; i < roles.size(); ++i) {
      const int outer = blocks[b].tensors[i];
      if (roles[i] == Role::kFormal) call.arguments.push_back(outer);
      if (roles[i] == Role::kResult) call.results.push_back(outer);
      if (roles[i] == Role::kResult) note_result(draft.tensors[static_cast<size_t>(outer)]);
      if (roles[i] == Role::kFormal || roles[i] == Role::kResult) continue;
      DraftTensor& moved = draft.tensors[static_cast<size_t>(outer)];
      moved.def = id;
      moved.def_tensor = writer.tensors().at(blocks[0].tensors[i]);
      moved.at = call.at;
    }
    calls.push_back(static_cast<int>(draft.calls.size()));
    draft.calls.push_back(std::move(call));
  }
  draft.defs.push_back(std::move(def));
  return calls;
}

}  // namespace solstice::importer
