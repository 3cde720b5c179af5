#include "import/report/wraps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "import/graph/source.h"
#include "ir/interpret/rounding.h"

namespace solstice::importer {
namespace {

// Operators whose results leave the range of their operands, or are stored in a narrower format.
const std::set<std::string>& growing_operators() {
  static const std::set<std::string> names = {
      "_to_copy", "to",   "add",    "sub",     "rsub",       "mul",       "multiply",    "neg",
      "abs",      "pow",  "square", "addcmul", "mm",         "bmm",       "dot",         "mv",
      "matmul",   "prod", "linear", "cumprod", "__lshift__", "index_add", "scatter_add", "bitwise_left_shift"};
  return names;
}

bool holds(const ir::IntegerRange& range, double value) { return range.low <= value && value <= range.high; }

std::optional<DType> result_dtype(const GraphNode& node) {
  if (node.outs.empty() || !node.outs[0] || !node.outs[0]->is_tensor()) return std::nullopt;
  return storage_dtype(*node.outs[0]->dtype);
}

const std::string& operand_of(const GraphNode& node) { return node.args.at("self").at("t").as_string(); }

const GraphNode* maker_of(const Graph& graph, const GraphNode& user) {
  const std::string& id = operand_of(user);
  const auto makes = [&](const GraphNode& node) {
    return !node.outs.empty() && node.outs[0] && node.outs[0]->id == id;
  };
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(), makes);
  return found == graph.nodes.end() ? nullptr : &*found;
}

std::optional<DType> dtype_of(const Graph& graph, const std::string& id) {
  const GraphInput* input = graph.find_input(id);
  if (input) return input->is_tensor() ? storage_dtype(*input->dtype) : std::nullopt;
  for (const GraphNode& node : graph.nodes) {
    for (const auto& out : node.outs) {
      if (out && out->id == id && out->is_tensor()) return storage_dtype(*out->dtype);
    }
  }
  return std::nullopt;
}

// Bounds that an operator puts on its result: those among its arguments that are numbers.
std::vector<double> bounds(const GraphNode& node, bool lower) {
  const auto names = lower ? std::array{"min", "min_val"} : std::array{"max", "max_val"};
  std::vector<double> out;
  for (const char* name : names) {
    if (node.args.at(name).is_number()) out.push_back(node.args.at(name).as_double());
  }
  return out;
}

// The value that is cast was bounded before, by its dtype or by clamps, maybe rounded since.
bool fits(const Graph& graph, const GraphNode& cast, const ir::IntegerRange& range) {
  static const std::set<std::string> clamps = {"clamp", "clip", "clamp_min", "clamp_max", "hardtanh"};
  static const std::set<std::string> roundings = {"round", "floor", "ceil", "trunc", "fix"};
  const auto dtype_fits = [&](std::optional<DType> dtype) {
    if (!dtype || is_float(*dtype) || *dtype == DType::kI64) return false;
    const ir::IntegerRange own = ir::integer_range(*dtype);
    return holds(range, own.low) && holds(range, own.high);
  };
  for (const GraphInput& input : graph.inputs) {
    if (input.id == operand_of(cast) && input.is_tensor() && dtype_fits(storage_dtype(*input.dtype))) return true;
  }
  bool low = false, high = false;
  for (const GraphNode* node = maker_of(graph, cast); node && !(low && high); node = maker_of(graph, *node)) {
    if (dtype_fits(result_dtype(*node))) return true;
    const std::string name = operator_name(node->op);
    if (!clamps.count(name) && !roundings.count(name)) return false;
    for (const bool lower : {true, false}) {
      for (const double bound : clamps.count(name) ? bounds(*node, lower) : std::vector<double>()) {
        if (!holds(range, bound)) return false;
        (lower ? low : high) = true;
      }
    }
  }
  return low && high;
}

// The program says how the result wraps: 8- and 16-bit integers, element by element, and casts to them; of reals those
// to u8 alone.
bool wraps_in_equations(const Graph& graph, const GraphNode& node, DType dtype) {
  static const std::set<std::string> elementwise = {"add", "sub", "rsub", "mul", "multiply", "neg", "abs", "addcmul"};
  if (dtype == DType::kU8 || dtype == DType::kI8 || dtype == DType::kI16) {
    const std::string name = operator_name(node.op);
    if (name != "_to_copy" && name != "to") return elementwise.count(name) > 0;
    const auto source = dtype_of(graph, operand_of(node));
    return dtype == DType::kU8 || (source && !is_float(*source));
  }
  return false;
}

// The dtype that the result may leave; none where it cannot, or where PyTorch has i64.
std::optional<DType> may_wrap(const Graph& graph, const GraphNode& node) {
  const auto dtype = result_dtype(node);
  if (!dtype || !is_integer(*dtype) || *dtype == DType::kI64) return std::nullopt;
  const std::string name = operator_name(node.op);
  if (!growing_operators().count(name) || wraps_in_equations(graph, node, *dtype)) return std::nullopt;
  return (name == "_to_copy" || name == "to") && fits(graph, node, ir::integer_range(*dtype)) ? std::nullopt : dtype;
}

std::string wrap_note(DType dtype, int operators) {
  const std::string which = operators == 1 ? "" : fmt::format(" (first of {} operators)", operators);
  return fmt::format(
      "PyTorch wraps {} around; here what leaves {} has no meaning: the interpreter stops, a kernel may give any "
      "value{}",
      name_of(dtype), fmt::format("{:.0f}..{:.0f}", ir::integer_range(dtype).low, ir::integer_range(dtype).high),
      which);
}

}  // namespace

void note_wraps(const Graph& graph, const Values& values, std::vector<ImportNote>& notes) {
  std::map<DType, std::pair<const GraphNode*, int>> places;  // the first, and how many
  for (const GraphNode& node : graph.nodes) {
    const auto dtype = may_wrap(graph, node);
    const auto value = dtype ? values.find(node.outs[0]->id) : values.end();
    if (value == values.end() || !value->second.is_stored()) continue;
    ++places.try_emplace(*dtype, &node, 0).first->second.second;
  }
  for (const auto& [dtype, place] : places)
    notes.push_back({wrap_note(dtype, place.second), source_of(graph, *place.first)});
}

}  // namespace solstice::importer
