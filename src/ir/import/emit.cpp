#include "ir/import/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/import/names.h"
#include "ir/import/print.h"

namespace solstice::ir::importer {

namespace {

const char* keyword(const DraftTensor& tensor) {
  switch (tensor.kind) {
    case DraftKind::kParam:
      return "param";
    case DraftKind::kBuffer:
      return "buffer";
    case DraftKind::kInput:
      return "input";
    case DraftKind::kOutput:
      return "output";
    case DraftKind::kTensor:
    case DraftKind::kLocal:
      return "tensor";
  }
  return "";
}

class Emitter {
 public:
  Emitter(Draft& draft, const Graph& graph) : draft_(draft), graph_(graph) {
    name_tensors(draft_);
    dims_ = name_dims(draft_);
  }

  std::string text(const std::string& program_name) {
    std::string out = fmt::format("program {}\n", program_name);
    for (const std::string& line : dims_.lines) out += line + "\n";
    for (size_t i = 0; i < draft_.tensors.size(); ++i) {
      if (needs_declaration(static_cast<int>(i))) out += declaration(draft_.tensors[i]) + "\n";
    }
    for (const int id : draft_.results) out += declaration(draft_.tensors[static_cast<size_t>(id)]) + "\n";
    out += "\n";
    for (const DraftItem& item : draft_.items) out += this->item(item) + comment(item) + "\n";
    return out;
  }

 private:
  bool needs_declaration(int id) const {
    const DraftTensor& tensor = draft_.tensors[static_cast<size_t>(id)];
    if (tensor.kind == DraftKind::kLocal || tensor.kind == DraftKind::kOutput) return false;
    // An opaque item declares its results itself.
    return std::none_of(draft_.opaques.begin(), draft_.opaques.end(), [&](const DraftOpaque& opaque) {
      return std::find(opaque.results.begin(), opaque.results.end(), id) != opaque.results.end();
    });
  }

  std::string type(const DraftTensor& tensor) const {
    return std::string(name_of(tensor.dtype)) + shape_text(tensor, dims_.names, draft_.dims());
  }

  std::string declaration(const DraftTensor& tensor) const {
    std::string out = fmt::format("{:<6} {} : {}", keyword(tensor), tensor.name, type(tensor));
    if (!tensor.path.empty()) out += fmt::format(" \"{}\"", tensor.path);
    if (!tensor.strides.empty()) out += fmt::format(" strides({})", fmt::join(tensor.strides, ", "));
    if (tensor.same >= 0) out += " same " + draft_.tensors[static_cast<size_t>(tensor.same)].name;
    if (tensor.into >= 0) out += " into " + draft_.tensors[static_cast<size_t>(tensor.into)].name;
    return out;
  }

  std::string item(const DraftItem& item) const {
    if (item.opaque < 0) return equation_text(draft_, item.equation, dims_.names);
    const DraftOpaque& opaque = draft_.opaques[static_cast<size_t>(item.opaque)];
    std::vector<std::string> results, arguments;
    for (const int id : opaque.results) {
      const DraftTensor& tensor = draft_.tensors[static_cast<size_t>(id)];
      results.push_back(fmt::format("{} : {}", tensor.name, type(tensor)));
    }
    for (const DraftOpaque::Argument& argument : opaque.arguments) {
      const std::string value = argument.tensor >= 0 ? draft_.tensors[static_cast<size_t>(argument.tensor)].name : argument.text;
      arguments.push_back(argument.name.empty() ? value : argument.name + "=" + value);
    }
    return fmt::format("opaque {} = \"{}\"({})", fmt::join(results, ", "), opaque.op, fmt::join(arguments, ", "));
  }

  std::string comment(const DraftItem& item) const {
    if (item.node < 0) return "";
    const GraphNode& node = graph_.nodes[static_cast<size_t>(item.node)];
    std::string op = node.op.substr(node.op.find('.') + 1);
    op = op.substr(0, op.find('.'));
    std::string out = fmt::format("  # {}{}", node.module.empty() ? "" : node.module + ": ", op);
    if (node.src) out += fmt::format(", {}:{}", graph_.files[static_cast<size_t>(node.src->file)], node.src->line);
    return out;
  }

  Draft& draft_;
  const Graph& graph_;
  DimNames dims_;
};

}  // namespace

std::string emit(Draft& draft, const Graph& graph, const std::string& program_name) { return Emitter(draft, graph).text(program_name); }

}  // namespace solstice::ir::importer
