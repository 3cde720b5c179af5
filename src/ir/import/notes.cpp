#include "ir/import/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace solstice::ir::importer {

ImportSource source_of(const Graph& graph, const GraphNode& node) {
  ImportSource out{node.module, "", 0};
  if (node.src) {
    out.file = graph.files[static_cast<size_t>(node.src->file)];
    out.line = node.src->line;
  }
  return out;
}

namespace {

// What leaves the range of its operands, or is stored in less than they were.
const std::set<std::string>& growing_operators() {
  static const std::set<std::string> names = {"_to_copy", "to",      "add",        "sub",       "rsub",        "mul",
                                              "multiply", "neg",     "abs",        "pow",       "square",      "addcmul",
                                              "mm",       "bmm",     "dot",        "mv",        "matmul",      "prod",
                                              "linear",   "cumprod", "__lshift__", "index_add", "scatter_add", "bitwise_left_shift"};
  return names;
}

std::string range_text(DType dtype) {
  const int bits = 8 * static_cast<int>(size_of(dtype));
  if (dtype == DType::kU8) return "0..255";
  return fmt::format("{}..{}", -(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1);
}

// The dtype that the result may leave; none where it cannot, or where PyTorch has i64.
std::optional<DType> may_wrap(const GraphNode& node) {
  if (node.outs.empty() || !node.outs[0] || !node.outs[0]->is_tensor()) return std::nullopt;
  const auto dtype = storage_dtype(*node.outs[0]->dtype);
  if (!dtype || !is_integer(*dtype) || *dtype == DType::kI64 || *dtype == DType::kBool) return std::nullopt;
  return growing_operators().count(operator_name(node.op)) ? dtype : std::nullopt;
}

std::string wrap_note(DType dtype, int operators) {
  const std::string which = operators == 1 ? "" : fmt::format(" (first of {} operators)", operators);
  return fmt::format("PyTorch wraps {} around; here what leaves {} has no meaning: the interpreter stops, a kernel may give any value{}",
                     name_of(dtype), range_text(dtype), which);
}

// A tied parameter is read under either name.
bool is_read(const Graph& graph, const GraphInput& input) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(), [&](const GraphInput& other) {
    const bool same = &other == &input || (input.storage && other.storage == input.storage && other.kind != GraphInputKind::kUser);
    return same && other.used;
  });
}

void note_inputs(const Graph& graph, std::vector<ImportNote>& notes) {
  for (const GraphInput& input : graph.inputs) {
    if (!is_read(graph, input)) notes.push_back({fmt::format("`{}` is never read", input.fqn.empty() ? input.id : input.fqn), {}});
    if (input.data.find("missing")) {
      notes.push_back({fmt::format("the contents of `{}` are unknown: {}", input.fqn, input.data.at("missing").as_string()), {}});
    }
  }
}

void note_wraps(const Graph& graph, const Values& values, std::vector<ImportNote>& notes) {
  std::map<DType, std::pair<const GraphNode*, int>> places;  // the first, and how many
  for (const GraphNode& node : graph.nodes) {
    const auto dtype = may_wrap(node);
    const auto value = dtype ? values.find(node.outs[0]->id) : values.end();
    if (value == values.end() || !value->second.is_stored()) continue;
    ++places.try_emplace(*dtype, &node, 0).first->second.second;
  }
  for (const auto& [dtype, place] : places) notes.push_back({wrap_note(dtype, place.second), source_of(graph, *place.first)});
}

}  // namespace

void add_notes(const Graph& graph, const Values& values, std::vector<ImportNote>& notes) {
  note_inputs(graph, notes);
  for (const GraphNode& node : graph.nodes) {
    if (node.rng) notes.push_back({fmt::format("{} draws random numbers", node.op), source_of(graph, node)});
  }
  note_wraps(graph, values, notes);
  for (const char* list : {"dropped", "unchecked", "frozen"}) {
    const Json* const said = graph.producer.find(list);
    if (!said) continue;
    for (const Json& what : said->items()) notes.push_back({what.as_string(), {}});
  }
}

}  // namespace solstice::ir::importer
