#include "record/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace solstice {

std::vector<const char*> enum_names(GraphDType) {
  return {"f64", "f32", "f16", "bf16", "e4m3", "e5m2", "i64", "i32", "i16", "i8", "u8", "b1", "c64", "c128"};
}
std::vector<const char*> enum_names(ClosedFormKind) { return {"triangle", "diagonal", "arange"}; }
std::vector<const char*> enum_names(GraphInputKind) { return {"parameter", "buffer", "constant_tensor", "user_input"}; }
std::vector<const char*> enum_names(GraphOutputKind) {
  return {"user_output", "buffer_mutation", "user_input_mutation"};
}

std::optional<DType> storage_dtype(GraphDType dtype) {
  switch (dtype) {
    case GraphDType::kF64:
      return DType::kF64;
    case GraphDType::kF32:
      return DType::kF32;
    case GraphDType::kF16:
      return DType::kF16;
    case GraphDType::kBF16:
      return DType::kBF16;
    case GraphDType::kE4M3:
      return DType::kE4M3;
    case GraphDType::kE5M2:
      return DType::kE5M2;
    case GraphDType::kI64:
      return DType::kI64;
    case GraphDType::kI32:
      return DType::kI32;
    case GraphDType::kI16:
      return DType::kI16;
    case GraphDType::kI8:
      return DType::kI8;
    case GraphDType::kU8:
      return DType::kU8;
    case GraphDType::kB1:
      return DType::kBool;
    case GraphDType::kC64:
    case GraphDType::kC128:
      return std::nullopt;
  }
  return std::nullopt;
}

const GraphInput* Graph::find_input(std::string_view id) const {
  const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const GraphInput& i) { return i.id == id; });
  return found == inputs.end() ? nullptr : &*found;
}

namespace {

Error bad(std::string message) { return fail(Code::bad_record, "graph: " + std::move(message)); }

// Checks ids in the order of definition.
class Checker {
 public:
  explicit Checker(const Graph& graph) : graph_(graph) {}

  Status run() {
    for (const GraphInput& input : graph_.inputs) {
      SOLSTICE_CHECK(define(input.id));
      SOLSTICE_CHECK(check_tensor(input.id, input));
      if (input.closed_form) SOLSTICE_CHECK(check_closed_form(input));
    }
    for (const GraphState& state : graph_.state) SOLSTICE_CHECK(check_tensor(state.fqn, state));
    for (const GraphNode& node : graph_.nodes) SOLSTICE_CHECK(check_node(node));
    for (const GraphOutput& output : graph_.outputs) SOLSTICE_CHECK(check_output(output));
    return success();
  }

 private:
  Status define(const std::string& id) {
    if (id.empty()) return bad("a value has no id");
    if (!defined_.insert(id).second) return bad(fmt::format("value `{}` is defined twice", id));
    return success();
  }

  Status check_tensor(const std::string& name, const GraphTensor& tensor) const {
    if (!tensor.is_tensor()) return success();
    if (tensor.shape.size() != tensor.stride.size()) {
      return bad(fmt::format("`{}` has {} extents but {} strides", name, tensor.shape.size(), tensor.stride.size()));
    }
    const bool negative = std::any_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t n) { return n < 0; });
    if (negative) return bad(fmt::format("`{}` has a negative extent", name));
    return success();
  }

  Status check_closed_form(const GraphInput& input) const {
    const ClosedForm& form = *input.closed_form;
    const auto is_written = [&](const GraphOutput& o) {
      return o.kind == GraphOutputKind::kBufferMutation && o.target == input.fqn;
    };
    if (input.kind != GraphInputKind::kBuffer || !input.is_tensor())
      return bad(fmt::format("`{}` is no buffer, but has a closed form", input.id));
    if (std::any_of(graph_.outputs.begin(), graph_.outputs.end(), is_written)) {
      return bad(fmt::format("`{}` is written, but has a closed form", input.id));
    }
    const bool range = form.kind == ClosedFormKind::kArange;
    const auto rank = static_cast<int64_t>(input.shape.size());
    const bool known =
        std::all_of(form.axes.begin(), form.axes.end(), [&](int64_t axis) { return axis >= 0 && axis < rank; });
    if (form.axes.size() != (range ? 1u : 2u) || !known || form.axes.front() >= rank ||
        (!range && form.axes[0] == form.axes[1])) {
      return bad(fmt::format("the closed form of `{}` names other axes than it has", input.id));
    }
    if (!is_number(form.value) || (!range && !is_number(form.otherwise)) || (range && !form.value.is_number())) {
      return bad(fmt::format("the closed form of `{}` has no numbers", input.id));
    }
    return success();
  }

  static bool is_number(const Json& value) {
    const Json* name = value.find("float");
    return value.is_number() ||
           (name && name->is_string() && (name->as_string() == "inf" || name->as_string() == "-inf"));
  }

  Status check_node(const GraphNode& node) {
    std::string unknown;
    for (const auto& [name, value] : node.args.members()) {
      for_each_tensor(value, [&](const std::string& id) {
        if (!defined_.count(id)) unknown = id;
      });
    }
    if (!unknown.empty()) return bad(fmt::format("node `{}` reads `{}` before it is defined", node.id, unknown));
    if (node.src && (node.src->file < 0 || node.src->file >= static_cast<int>(graph_.files.size()))) {
      return bad(fmt::format("node `{}` names source file {} of {}", node.id, node.src->file, graph_.files.size()));
    }
    for (const auto& out : node.outs) {
      if (!out) continue;
      SOLSTICE_CHECK(define(out->id));
      SOLSTICE_CHECK(check_tensor(out->id, *out));
    }
    return success();
  }

  Status check_output(const GraphOutput& output) const {
    if (output.value && !defined_.count(*output.value)) {
      return bad(fmt::format("output `{}` is no value of the graph", *output.value));
    }
    if (output.kind == GraphOutputKind::kUser) return success();
    const auto is_target = [&](const GraphInput& i) { return i.fqn == output.target || i.id == output.target; };
    if (std::any_of(graph_.inputs.begin(), graph_.inputs.end(), is_target)) return success();
    return bad(fmt::format("a mutation writes `{}`, which is no input of the graph", output.target));
  }

  const Graph& graph_;
  std::set<std::string> defined_;
};

}  // namespace

Result<Graph> read_graph(const Json& json) {
  if (json.at("version").as_int(-1) != Graph::kVersion) {
    return bad(fmt::format("version {} is not known; this program reads version {}", json.at("version").dump(),
                           Graph::kVersion));
  }
  const Json& symbols = json.at("symbols");
  if (symbols.size() > 0 && !symbols.is_object()) return bad("`symbols` is not an object of names");
  if (symbols.size() > 0) {
    return fail(Code::not_yet, fmt::format("the graph has symbolic extents ({}); only static shapes can be imported: "
                                           "trace without dynamic shapes",
                                           symbols.members().front().first));
  }
  SOLSTICE_TRY(Graph graph, from_json<Graph>(json).context("reading a graph"));
  SOLSTICE_CHECK(Checker(graph).run());
  return graph;
}

}  // namespace solstice
