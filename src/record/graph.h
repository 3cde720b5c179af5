// The graph: a traced PyTorch module as data (schema solstice.graph, version 1). The trusted Python worker writes it,
// the importer turns it into equations.
//
// Meaning. Nodes are functional ATen operators with composites kept, in execution order; every argument is named by
// the operator's schema, defaults filled in. Values have unique ids: result i of a node with several results is
// `node.i`. Argument values: number, bool, string, null and lists as in JSON; a tensor {"t": id}; a symbolic integer
// {"n": id}; {"dtype": ..}, {"device": ..}, {"layout": ..}, {"memory_format": ..}, {"float": "inf|-inf|nan"},
// {"complex": [re, im]}, {"graph": name}. Shapes are in elements, outermost dimension first, strides in elements.
// Only static shapes are accepted; symbolic ones answer not_yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "record/fields.h"

namespace solstice {

// Every dtype PyTorch may record; storage_dtype() is ours, none for the complex ones.
enum class GraphDType { kF64, kF32, kF16, kBF16, kE4M3, kE5M2, kI64, kI32, kI16, kI8, kU8, kB1, kC64, kC128 };
std::vector<const char*> enum_names(GraphDType);
std::optional<DType> storage_dtype(GraphDType dtype);

struct GraphTensor {
  std::optional<GraphDType> dtype;  // none: the value is no tensor
  std::vector<int64_t> shape;
  std::vector<int64_t> stride;  // elements
  int64_t offset = 0;           // elements
  std::string device;

  bool is_tensor() const { return dtype.has_value(); }

  template <typename T>
  static auto fields_of() {
    return std::make_tuple(
        optional_field("dtype", static_cast<std::optional<GraphDType> T::*>(&T::dtype), "element type"),
        optional_field("shape", static_cast<std::vector<int64_t> T::*>(&T::shape), "extents, outermost first"),
        optional_field("stride", static_cast<std::vector<int64_t> T::*>(&T::stride), "strides in elements"),
        optional_field("offset", static_cast<int64_t T::*>(&T::offset), "first element in its storage"),
        optional_field("device", static_cast<std::string T::*>(&T::device), "PyTorch's device type"));
  }
};

struct GraphSemantics {
  bool training = true;
  bool grad = true;
  GraphDType default_dtype = GraphDType::kF32;
  std::string matmul_precision;
  bool cudnn_tf32 = true;
  bool deterministic = false;
  bool fp8_saturates = false;
  static auto fields() {
    return std::make_tuple(
        field("training", &GraphSemantics::training, "the top module's flag"),
        optional_field("grad", &GraphSemantics::grad, "gradients were enabled"),
        field("default_dtype", &GraphSemantics::default_dtype, "torch.get_default_dtype()"),
        optional_field("matmul_precision", &GraphSemantics::matmul_precision, "highest, high or medium"),
        optional_field("cudnn_tf32", &GraphSemantics::cudnn_tf32, "convolutions may use TF32"),
        optional_field("deterministic", &GraphSemantics::deterministic, "deterministic algorithms demanded"),
        optional_field("fp8_saturates", &GraphSemantics::fp8_saturates,
                       "e4m3 beyond its largest value is 448, not NaN"));
  }
};

struct GraphModule {
  std::string path;
  std::string type;
  std::optional<bool> training;
  static auto fields() {
    return std::make_tuple(field("path", &GraphModule::path, "module path, \"\" for the root"),
                           field("type", &GraphModule::type, "Python class"),
                           optional_field("training", &GraphModule::training, "its own training flag"));
  }
};

// A parameter or buffer of the module, in state_dict order, used by the graph or not.
struct GraphState : GraphTensor {
  std::string fqn;
  std::string kind;  // parameter, buffer
  bool persistent = true;
  static auto fields() {
    return std::tuple_cat(std::make_tuple(field("fqn", &GraphState::fqn, "module path"),
                                          field("kind", &GraphState::kind, "parameter or buffer"),
                                          optional_field("persistent", &GraphState::persistent, "in the state_dict")),
                          fields_of<GraphState>());
  }
};

// Contents of a buffer that are a formula (python/solstice/dropin/closed_form.py). Along axes that are not listed
// the elements repeat.
//   triangle  `value` where axes[1] <= axes[0] + diagonal, else `otherwise`
//   diagonal  `value` where axes[1] == axes[0] + diagonal, else `otherwise`
//   arange    value + step * axes[0]
enum class ClosedFormKind { kTriangle, kDiagonal, kArange };
std::vector<const char*> enum_names(ClosedFormKind);

struct ClosedForm {
  ClosedFormKind kind = ClosedFormKind::kTriangle;
  std::vector<int64_t> axes;
  int64_t diagonal = 0;
  Json value;      // a number, or {"float": "inf" or "-inf"}
  Json otherwise;  // likewise
  int64_t step = 0;
  static auto fields() {
    return std::make_tuple(
        field("kind", &ClosedForm::kind, "triangle, diagonal, arange"),
        field("axes", &ClosedForm::axes, "what it depends on: two axes, of a range one"),
        optional_field("diagonal", &ClosedForm::diagonal, "of a triangle or diagonal"),
        field("value", &ClosedForm::value, "on the diagonal, in the triangle, or at the range's begin"),
        optional_field("otherwise", &ClosedForm::otherwise, "elsewhere"),
        optional_field("step", &ClosedForm::step, "of a range"));
  }
};

enum class GraphInputKind { kParameter, kBuffer, kConstant, kUser };
std::vector<const char*> enum_names(GraphInputKind);

struct GraphInput : GraphTensor {
  std::string id;
  GraphInputKind kind = GraphInputKind::kUser;
  std::string fqn;
  std::optional<bool> persistent;
  bool requires_grad = false;
  std::optional<int64_t> storage;  // equal numbers share memory
  std::vector<std::string> tied;   // other fqns of the same object
  bool used = true;
  Json value;                             // of an input that is no tensor
  Json data;                              // {"base64"}, {"blob", "bytes"} or {"missing"}: contents of a constant
  std::optional<ClosedForm> closed_form;  // of a buffer that forward reads and nothing writes
  static auto fields() {
    return std::tuple_cat(
        std::make_tuple(field("id", &GraphInput::id, "value id"), field("kind", &GraphInput::kind, "what it is"),
                        optional_field("fqn", &GraphInput::fqn, "module path of a parameter, buffer or constant"),
                        optional_field("persistent", &GraphInput::persistent, "buffer in the state_dict"),
                        optional_field("requires_grad", &GraphInput::requires_grad, "trainable"),
                        optional_field("storage", &GraphInput::storage, "equal numbers share memory"),
                        optional_field("tied", &GraphInput::tied, "other names of the same parameter"),
                        optional_field("used", &GraphInput::used, "some node reads it"),
                        optional_field("value", &GraphInput::value, "value of an input that is no tensor"),
                        optional_field("data", &GraphInput::data, "contents of a constant"),
                        optional_field("closed_form", &GraphInput::closed_form, "formula of a buffer's contents")),
        fields_of<GraphInput>());
  }
};

struct GraphSource {
  int file = 0;  // index into files
  int line = 0;
  std::string function;
  std::string text;
  Json callers;
  static auto fields() {
    return std::make_tuple(field("file", &GraphSource::file, "index into files"),
                           field("line", &GraphSource::line, "line, from 1"),
                           optional_field("function", &GraphSource::function, "Python function"),
                           optional_field("text", &GraphSource::text, "the source line"),
                           optional_field("callers", &GraphSource::callers, "outer frames"));
  }
};

struct GraphOut : GraphTensor {
  std::string id;
  bool used = true;
  std::string scalar;  // Python type of a result that is no tensor
  std::string varies;  // its shape depends on values: the way to a known one. `shape` has the most that is known
  static auto fields() {
    return std::tuple_cat(
        std::make_tuple(field("id", &GraphOut::id, "value id"),
                        optional_field("used", &GraphOut::used, "something reads it"),
                        optional_field("scalar", &GraphOut::scalar, "type of a non-tensor"),
                        optional_field("varies", &GraphOut::varies, "its shape depends on values: the way out")),
        fields_of<GraphOut>());
  }
};

struct GraphNode {
  std::string id;
  std::string op;  // with overload: aten.linear.default
  Json args;
  std::vector<std::optional<GraphOut>> outs;
  std::string module;
  std::optional<GraphSource> src;
  bool rng = false;
  std::vector<std::string> view_of;
  std::vector<std::string> mutates;
  static auto fields() {
    return std::make_tuple(field("id", &GraphNode::id, "unique id"),
                           field("op", &GraphNode::op, "operator with overload"),
                           field("args", &GraphNode::args, "arguments by schema name"),
                           field("outs", &GraphNode::outs, "results; null where PyTorch returns none"),
                           optional_field("module", &GraphNode::module, "path of the module that called it"),
                           optional_field("src", &GraphNode::src, "place in the user's code"),
                           optional_field("rng", &GraphNode::rng, "draws random numbers"),
                           optional_field("view_of", &GraphNode::view_of, "arguments the result aliases"),
                           optional_field("mutates", &GraphNode::mutates, "arguments it writes"));
  }
};

enum class GraphOutputKind { kUser, kBufferMutation, kInputMutation };
std::vector<const char*> enum_names(GraphOutputKind);

struct GraphOutput {
  GraphOutputKind kind = GraphOutputKind::kUser;
  std::optional<std::string> value;
  Json constant;       // value of an output that is no graph value
  std::string target;  // fqn or input that takes the value
  static auto fields() {
    return std::make_tuple(field("kind", &GraphOutput::kind, "result or mutation"),
                           optional_field("value", &GraphOutput::value, "value id"),
                           optional_field("const", &GraphOutput::constant, "constant result"),
                           optional_field("target", &GraphOutput::target, "what a mutation writes"));
  }
};

struct Graph {
  static constexpr const char* kSchema = "solstice.graph";
  static constexpr int64_t kVersion = 1;
  int64_t version = kVersion;
  Json producer;
  GraphSemantics semantics;
  Json symbols;
  std::vector<std::string> files;
  std::vector<GraphModule> modules;
  std::vector<GraphState> state;
  std::vector<GraphInput> inputs;
  std::vector<GraphNode> nodes;
  Json subgraphs;
  std::vector<GraphOutput> outputs;
  Json in_tree;
  Json out_tree;
  Json structure;
  std::vector<std::string> rng;

  static auto fields() {
    return std::make_tuple(
        field("version", &Graph::version, "1"), field("producer", &Graph::producer, "who traced it, and how"),
        field("semantics", &Graph::semantics, "global flags at the trace"),
        field("symbols", &Graph::symbols, "symbolic extents; empty for static graphs"),
        field("files", &Graph::files, "source files"), field("modules", &Graph::modules, "modules with nodes"),
        field("state", &Graph::state, "all parameters and buffers, in state_dict order"),
        field("inputs", &Graph::inputs, "graph inputs"), field("nodes", &Graph::nodes, "operators in execution order"),
        optional_field("subgraphs", &Graph::subgraphs, "bodies of control flow"),
        field("outputs", &Graph::outputs, "mutations, then results"),
        optional_field("in_tree", &Graph::in_tree, "pytree of the arguments"),
        optional_field("out_tree", &Graph::out_tree, "pytree of the results"),
        optional_field("structure", &Graph::structure, "class and plain attributes of each module, by path"),
        optional_field("rng", &Graph::rng, "nodes that draw random numbers"));
  }

  const GraphInput* find_input(std::string_view id) const;  // null: no such input
};

// Reads and checks a graph: known version, static shapes, unique ids defined before use, sources and mutation targets
// that exist, one stride for each extent. Errors bad_record, not_yet.
Result<Graph> read_graph(const Json& json);

// Calls `visit(id)` for every reference within an argument value, to tensors and to numbers read from them.
template <typename F>
void for_each_value(const Json& argument, F&& visit) {
  for (const Json& item : argument.items()) for_each_value(item, visit);
  for (const char* kind : {"t", "n"}) {
    if (const Json* id = argument.find(kind)) visit(id->as_string());
  }
  if (const Json* dict = argument.find("dict")) {
    for (const auto& [key, item] : dict->members()) for_each_value(item, visit);
  }
}

// Calls `visit(id)` for every tensor reference within an argument value.
template <typename F>
void for_each_tensor(const Json& argument, F&& visit) {
  for (const Json& item : argument.items()) for_each_tensor(item, visit);
  if (const Json* id = argument.find("t")) visit(id->as_string());
  if (const Json* dict = argument.find("dict")) {
    for (const auto& [key, item] : dict->members()) for_each_tensor(item, visit);
  }
}

}  // namespace solstice
