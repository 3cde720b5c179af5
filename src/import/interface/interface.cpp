#include "import/interface/interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "import/interface/constants.h"
#include "import/report/refusals.h"

namespace solstice::importer {

namespace {

std::string last_component(const std::string& path) { return path.substr(path.rfind('.') + 1); }

bool feeds_a_norm(const Graph& graph, const std::string& id) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const GraphNode& node) {
    bool reads = false;
    for (const auto& [name, value] : node.args.members()) {
      for_each_tensor(value, [&](const std::string& read) { reads = reads || read == id; });
    }
    return reads && node.op.find("norm") != std::string::npos;
  });
}

// w and b; g and be where they scale and shift a normalisation; rm, rv, nb for running statistics.
std::string short_name(const Graph& graph, const GraphInput& input) {
  const std::string last = last_component(input.fqn);
  if (input.kind == GraphInputKind::kUser) return input.id == "input" ? "x" : input.id;
  if (last == "running_mean") return "rm";
  if (last == "running_var") return "rv";
  if (last == "num_batches_tracked") return "nb";
  if (input.fqn == last) return last;  // an attribute of the root module
  const bool norm = (last == "weight" || last == "bias") && feeds_a_norm(graph, input.id);
  if (last == "weight") return norm ? "g" : "w";
  if (last == "bias") return norm ? "be" : "b";
  if (last.rfind("weight_", 0) == 0) return "w_" + last.substr(7);
  if (last.rfind("bias_", 0) == 0) return "b_" + last.substr(5);
  return last;
}

std::vector<int64_t> unusual_strides(const GraphTensor& tensor) {
  int64_t stride = 1;
  bool usual = true;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    usual = usual && (tensor.shape[i] == 1 || tensor.stride[i] == stride);
    stride *= tensor.shape[i];
  }
  return usual ? std::vector<int64_t>{} : tensor.stride;
}

// Names that a dim gets if no operator knows a better one, by the rank of an input.
void hint_by_rank(Draft& draft, const Value& value) {
  static const std::vector<std::vector<std::string>> names = {
      {}, {"N"}, {"B", "N"}, {"B", "T", "C"}, {"B", "C", "H", "W"}, {"B", "C", "D", "H", "W"}};
  if (value.axes.size() >= names.size()) return;
  for (size_t i = 0; i < value.axes.size(); ++i) {
    for (const Loop& loop : value.axes[i].digits) draft.dims().hint(loop.dim, names[value.axes.size()][i], 2);
  }
}

DraftKind kind_of(GraphInputKind kind) {
  if (kind == GraphInputKind::kParameter) return DraftKind::kParam;
  return kind == GraphInputKind::kUser ? DraftKind::kInput : DraftKind::kBuffer;
}

InterfaceTensor entry_of(const GraphInput& input) {
  InterfaceTensor out;
  out.input.graph_id = input.id;
  out.input.kind = input.kind;
  out.input.fqn = input.fqn;
  out.input.storage = input.storage.value_or(-1);
  return out;
}

// Complex numbers in memory are pairs of reals: `f32[.., 2]`.
Result<InterfaceTensor> declare_pairs(const Graph& graph, const GraphInput& input, Draft& draft, Values& values) {
  InterfaceTensor out = entry_of(input);
  DraftTensor tensor;
  tensor.kind = kind_of(input.kind);
  tensor.wish = short_name(graph, input);
  tensor.dtype = *input.dtype == GraphDType::kC64 ? DType::kF32 : DType::kF64;
  tensor.path = input.kind == GraphInputKind::kUser ? "" : input.fqn;
  tensor.strides = unusual_strides(input);
  for (int64_t& stride : tensor.strides) stride *= 2;
  if (!tensor.strides.empty()) tensor.strides.push_back(1);
  std::vector<int64_t> shape = input.shape;
  shape.push_back(2);
  const Value pairs = draft.interface_tensor(std::move(tensor), shape);
  out.tensor = static_cast<int>(draft.tensors.size()) - 1;
  Axes axes = pairs.axes;
  axes.erase_at(pairs.rank() - 1);
  Indices at = flat_all(axes, draft.loops());
  at.push_back(Index(0));
  Value value{axes, read_at(pairs, at, draft.loops()), pairs.dtype};
  at.back() = Index(1);
  value.imaginary = read_at(pairs, at, draft.loops());
  values[input.id] = std::move(value);
  return out;
}

Result<InterfaceTensor> declare(const Graph& graph, const GraphInput& input, Draft& draft, Values& values) {
  InterfaceTensor out = entry_of(input);
  if (!input.is_tensor()) return out;
  const auto dtype = storage_dtype(*input.dtype);
  if (!dtype) return declare_pairs(graph, input, draft, values);
  if (std::find(input.shape.begin(), input.shape.end(), 0) != input.shape.end()) {
    return no_elements(input.id);
  }
  if (input.kind == GraphInputKind::kConstant) {
    SOLSTICE_TRY(std::optional<Value> folded, folded_constant(input, draft));
    if (folded) {
      values[input.id] = *std::move(folded);
      return out;
    }
  }
  DraftTensor tensor;
  tensor.kind = kind_of(input.kind);
  tensor.wish = short_name(graph, input);
  tensor.dtype = *dtype;
  tensor.path = input.kind == GraphInputKind::kUser ? "" : input.fqn;
  tensor.strides = unusual_strides(input);
  tensor.closed_form = input.closed_form;
  Value value = draft.interface_tensor(std::move(tensor), input.shape);
  out.tensor = static_cast<int>(draft.tensors.size()) - 1;
  if (input.kind == GraphInputKind::kUser) hint_by_rank(draft, value);
  values[input.id] = std::move(value);
  return out;
}

// A second name for memory that an earlier tensor of the same shape has.
void share_storage(const Graph& graph, std::vector<InterfaceTensor>& all, Draft& draft, const Values& values) {
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const GraphInput& a = graph.inputs[i];
      const GraphInput& b = graph.inputs[k];
      if (all[i].tensor < 0 || all[k].tensor < 0 || !a.storage || a.storage != b.storage) continue;
      if (a.kind == GraphInputKind::kUser || a.shape != b.shape || a.stride != b.stride || a.offset != b.offset)
        continue;
      draft.tensors[static_cast<size_t>(all[i].tensor)].same = all[k].tensor;
      for (size_t axis = 0; axis < a.shape.size(); ++axis) {
        draft.loops().align({&values.at(b.id).axes[axis], &values.at(a.id).axes[axis]});
      }
      break;
    }
  }
}

}  // namespace

Result<std::vector<InterfaceTensor>> declare_interface(const Graph& graph, Draft& draft, Values& values) {
  std::vector<InterfaceTensor> out;
  int position = 0;
  for (const GraphInput& input : graph.inputs) {
    SOLSTICE_TRY(InterfaceTensor declared, declare(graph, input, draft, values));
    if (input.kind == GraphInputKind::kUser) declared.input.position = position++;
    out.push_back(std::move(declared));
  }
  share_storage(graph, out, draft, values);
  // Parameters that the trace left out still belong to the module.
  for (const GraphState& state : graph.state) {
    const bool listed = std::any_of(graph.inputs.begin(), graph.inputs.end(), [&](const GraphInput& input) {
      return input.fqn == state.fqn || std::find(input.tied.begin(), input.tied.end(), state.fqn) != input.tied.end();
    });
    if (listed) continue;
    GraphInput missing;
    static_cast<GraphTensor&>(missing) = state;
    missing.kind = state.kind == "parameter" ? GraphInputKind::kParameter : GraphInputKind::kBuffer;
    missing.fqn = state.fqn;
    SOLSTICE_TRY(InterfaceTensor declared, declare(graph, missing, draft, values));
    out.push_back(std::move(declared));
  }
  return out;
}

namespace {

bool is_opaque_result(const Draft& draft, int tensor) {
  return std::any_of(draft.opaques.begin(), draft.opaques.end(), [&](const DraftOpaque& opaque) {
    return std::find(opaque.results.begin(), opaque.results.end(), tensor) != opaque.results.end();
  });
}

// For each axis of the value, the dimensions of the local that are its digits; empty optional unless the value is
// the whole local with its digits regrouped.
std::optional<std::vector<std::vector<int>>> regrouping(const Draft& draft, const Value& value) {
  const Term& term = *value.term;
  if (term.kind != TermKind::kRead || term.has_else()) return std::nullopt;
  const DraftTensor& tensor = draft.tensors[static_cast<size_t>(term.tensor)];
  // A widened value is a tensor of its own: the result has the wider dtype.
  if (tensor.kind != DraftKind::kLocal || tensor.is_merged || tensor.dtype != value.dtype) return std::nullopt;
  std::map<int, int> dimension_of;
  for (size_t i = 0; i < term.indices.size(); ++i) {
    const Loop* bare = term.indices[i].bare();
    if (!bare || bare->extent != tensor.shape[i].value()) return std::nullopt;
    dimension_of[bare->id] = static_cast<int>(i);
  }
  std::vector<std::vector<int>> out;
  size_t digits = 0;
  for (const Axis& axis : value.axes) {
    out.emplace_back();
    for (const Loop& loop : axis.digits) {
      if (!dimension_of.count(loop.id)) return std::nullopt;
      out.back().push_back(dimension_of[loop.id]);
      ++digits;
    }
  }
  if (digits != term.indices.size() || dimension_of.size() != digits) return std::nullopt;
  return out;
}

}  // namespace

int settle_result(Draft& draft, const Value& value, const std::string& wish, DraftKind kind) {
  if (auto groups = regrouping(draft, value)) {
    DraftTensor& tensor = draft.tensors[static_cast<size_t>(value.term->tensor)];
    tensor.kind = kind;
    tensor.wish = wish;
    tensor.merged = std::move(*groups);
    tensor.is_merged = true;
    return value.term->tensor;
  }
  const int direct = draft.direct_tensor(value);
  if (direct >= 0 && !is_opaque_result(draft, direct)) {
    DraftTensor& tensor = draft.tensors[static_cast<size_t>(direct)];
    if (tensor.kind == DraftKind::kTensor && tensor.into < 0 && tensor.dtype == value.dtype) {
      tensor.kind = kind;
      tensor.wish = wish;
      return direct;
    }
  }
  draft.node = -1;
  std::vector<Axis> axes;
  for (const Axis& axis : value.axes) axes.push_back(draft.loops().align(axis));
  const TermRef rhs = read_at(value, flat_all(axes, draft.loops()), draft.loops());
  const Value copy = draft.define_declared(wish, axes, rhs, value.dtype);
  draft.tensors[static_cast<size_t>(copy.term->tensor)].kind = kind;
  return copy.term->tensor;
}

namespace {

void collect_tensors(const TermRef& term, std::set<int>& out);

void collect_tensors(const Index& index, std::set<int>& out) {
  for (const IndexTerm& term : index.terms) {
    if (term.atom->read) collect_tensors(term.atom->read, out);
    collect_tensors(term.atom->inner, out);
  }
}

void collect_tensors(const TermRef& term, std::set<int>& out) {
  if (term->kind == TermKind::kRead) out.insert(term->tensor);
  for (const Index& index : term->indices) collect_tensors(index, out);
  for (const TermRef& arg : term->args) collect_tensors(arg, out);
}

}  // namespace

std::vector<int> remove_dead(Draft& draft) {
  std::set<int> live;
  for (size_t i = 0; i < draft.tensors.size(); ++i) {
    const DraftTensor& tensor = draft.tensors[i];
    if (tensor.kind == DraftKind::kOutput || tensor.into >= 0) live.insert(static_cast<int>(i));
  }
  std::set<const DraftItem*> kept;
  for (bool changed = true; changed;) {  // recurrences read later tensors, so one backward pass may not do
    const size_t before = live.size() + kept.size();
    for (auto item = draft.items.rbegin(); item != draft.items.rend(); ++item) {
      if (item->opaque >= 0) {
        const DraftOpaque& opaque = draft.opaques[static_cast<size_t>(item->opaque)];
        const bool needed =
            std::any_of(opaque.results.begin(), opaque.results.end(), [&](int t) { return live.count(t); });
        if (!needed) continue;
        for (const auto& argument : opaque.arguments) {
          if (argument.tensor >= 0) live.insert(argument.tensor);
        }
      } else {
        if (!live.count(item->equation.tensor)) continue;
        collect_tensors(item->equation.rhs, live);
      }
      kept.insert(&*item);
    }
    changed = live.size() + kept.size() != before;
  }
  std::vector<int> lost;
  std::vector<DraftItem> items;
  for (DraftItem& item : draft.items) {
    if (kept.count(&item)) {
      items.push_back(std::move(item));
      continue;
    }
    lost.push_back(item.node);
    if (item.opaque < 0) draft.tensors[static_cast<size_t>(item.equation.tensor)].kind = DraftKind::kLocal;
  }
  draft.items = std::move(items);
  return lost;
}

}  // namespace solstice::importer
