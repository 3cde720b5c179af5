#include "import/interface/opaque_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "import/report/refusals.h"

namespace solstice::importer {
namespace {

std::optional<DType> held_dtype(const GraphOut& out) {
  return out.is_tensor() && out.varies.empty() ? storage_dtype(*out.dtype) : std::nullopt;
}

// A number, a list of them or a string.
std::string argument_text(const Json& value) {
  if (value.is_string()) return "\"" + value.as_string() + "\"";
  std::string text = value.dump();
  if (value.is_number() || value.is_bool()) return text;
  std::replace(text.begin(), text.end(), '"', '\'');
  return "\"" + text + "\"";
}

Status add_tensor_argument(DraftOpaque& opaque, const std::string& name, const std::string& id, Draft& draft,
                           const Values& values) {
  const auto found = values.find(id);
  if (found == values.end()) return fail(Code::bad_record, fmt::format("`{}` is no tensor", id));
  if (found->second.is_empty()) return no_elements(id);
  if (found->second.imaginary) return complex_numbers(id);
  const Value stored = draft.stored(found->second, name);
  DraftTensor& tensor = draft.tensors[static_cast<size_t>(stored.term->tensor)];
  if (tensor.kind == DraftKind::kLocal) tensor.kind = DraftKind::kTensor;  // PyTorch wants it in memory
  opaque.arguments.push_back({name, stored.term->tensor, ""});
  return success();
}

Status add_argument(DraftOpaque& opaque, const std::string& name, const Json& value, Draft& draft,
                    const Values& values) {
  if (value.is_null()) return success();
  if (const Json* id = value.find("t")) return add_tensor_argument(opaque, name, id->as_string(), draft, values);
  bool has_tensors = false;
  for_each_tensor(value, [&](const std::string&) { has_tensors = true; });
  if (!has_tensors) {
    opaque.arguments.push_back({name, -1, argument_text(value)});
    return success();
  }
  for (size_t i = 0; i < value.size(); ++i) {
    SOLSTICE_CHECK(add_argument(opaque, fmt::format("{}_{}", name, i), value.at(i), draft, values));
  }
  return success();
}

}  // namespace

bool is_empty(const GraphTensor& tensor) {
  return tensor.is_tensor() && std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
}

Status add_opaque(const GraphNode& node, const Graph& graph, Draft& draft, Values& values) {
  DraftOpaque opaque;
  opaque.op = node.op;
  for (const auto& [name, value] : node.args.members())
    SOLSTICE_CHECK(add_argument(opaque, name, value, draft, values));
  for (const auto& out : node.outs) {
    if (!out || (is_empty(*out) && !out->used)) continue;
    const std::optional<DType> dtype = held_dtype(*out);
    if (!out->varies.empty()) return no_known_shape(node.op, out->varies);
    if (!dtype) return no_real_tensor(node.op, out->is_tensor());
    if (is_empty(*out)) return no_elements(out->id);
    DraftTensor tensor;
    tensor.kind = DraftKind::kTensor;
    tensor.wish = Call(node, graph, draft, values).wish();
    tensor.dtype = *dtype;
    values[out->id] = draft.interface_tensor(std::move(tensor), out->shape);
    opaque.results.push_back(static_cast<int>(draft.tensors.size()) - 1);
  }
  DraftItem item;
  item.node = draft.node;
  item.opaque = static_cast<int>(draft.opaques.size());
  draft.opaques.push_back(std::move(opaque));
  draft.items.push_back(std::move(item));
  return success();
}

void leave_out(const GraphNode& node, Draft& draft, Values& values, std::set<std::string>& absent) {
  for (const auto& out : node.outs) {
    if (!out || is_empty(*out)) continue;
    const std::optional<DType> dtype = held_dtype(*out);
    if (!dtype) {
      absent.insert(out->id);
      continue;
    }
    DraftTensor tensor;
    tensor.kind = DraftKind::kTensor;
    tensor.dtype = *dtype;
    values[out->id] = draft.interface_tensor(std::move(tensor), out->shape);
  }
}

}  // namespace solstice::importer
