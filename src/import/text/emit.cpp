#include "import/text/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "import/draft/assumed.h"
#include "import/graph/module_path.h"
#include "import/text/dim_lines.h"
#include "import/text/names.h"
#include "import/text/print.h"

namespace solstice::importer {

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
    case DraftKind::kRandom:
      return "random";
  }
  return "";
}

// The program, or one def of it.
class Emitter {
 public:
  // `defs`: those of the program; the bodies of the earlier ones have their names.
  Emitter(Draft& draft, const Graph& graph, const std::vector<DraftDef>& defs, const DraftDef* def = nullptr)
      : draft_(draft), graph_(graph), defs_(defs), def_(def) {
    name_tensors(draft_);
    std::vector<DimId> statics;
    for (const DraftDef::Static& one : def_ ? def_->statics : std::vector<DraftDef::Static>{})
      statics.push_back(one.dim);
    dims_ = name_dims(draft_, statics);
  }

  std::string program(const std::string& program_name, const std::string& defs) {
    std::vector<std::string> declared = declarations();
    for (const int id : draft_.results) declared.push_back(declaration(tensor(id)));
    const std::string body = lines("", declared) + lines("", assumes()) + "\n" + lines("", items());
    const std::string dims = lines("", dim_lines(dims_, draft_.dims(), !defs.empty()));
    return fmt::format("program {}\n{}{}{}", program_name, dims, defs.empty() ? "" : "\n" + defs, body);
  }

  std::string definition() {
    std::vector<std::string> statics, formals, results;
    for (const DraftDef::Static& one : def_->statics) {
      statics.push_back(dim(one.dim) + (one.value ? fmt::format(" = {}", *one.value) : ""));
    }
    for (const int id : def_->formals) formals.push_back(formal(id));
    for (const int id : def_->results)
      results.push_back(fmt::format("{} : {}", tensor(id).name, signature_type(tensor(id))));
    const std::string given = statics.empty() ? "" : fmt::format("[{}]", fmt::join(statics, ", "));
    const std::string head =
        fmt::format("def {}{}({}) -> {} {{\n", def_->name, given, fmt::join(formals, ", "), fmt::join(results, ", "));
    const std::string body = lines("  ", declarations()) + lines("  ", assumes()) + lines("  ", items());
    return head + lines("  ", dim_lines(dims_, draft_.dims(), true)) + body + "}\n";
  }

  std::string dim(DimId id) const { return dims_.names.dims.at(draft_.dims().find(id)); }

 private:
  static std::string lines(const char* indent, const std::vector<std::string>& list) {
    std::string out;
    for (const std::string& line : list) out += indent + line + "\n";
    return out;
  }

  std::vector<std::string> declarations() const {
    std::vector<std::string> out,
        updates;  // in a def a buffer may come after what replaces it, but has to stand before
    for (size_t i = 0; i < draft_.tensors.size(); ++i) {
      if (!needs_declaration(static_cast<int>(i))) continue;
      const DraftTensor& tensor = draft_.tensors[i];
      (def_ && tensor.into >= 0 ? updates : out).push_back(declaration(tensor));
    }
    out.insert(out.end(), updates.begin(), updates.end());
    return out;
  }

  std::vector<std::string> assumes() const {
    std::vector<std::string> out;
    for (size_t i = 0; i < draft_.tensors.size(); ++i) {
      const auto id = static_cast<int>(i);
      if (!draft_.tensors[i].closed_form || !needs_declaration(id)) continue;
      out.push_back("assume " + equation_text(draft_, closed_form_equation(draft_, id), dims_.names));
    }
    return out;
  }

  std::vector<std::string> items() const {
    std::vector<std::string> out;
    for (const DraftItem& item : draft_.items) out.push_back(this->item(item) + comment(item));
    return out;
  }

  const DraftTensor& tensor(int id) const { return draft_.tensors[static_cast<size_t>(id)]; }

  // A formal binds the dims that it names, and no other line stands before it.
  std::string formal(int id) const {
    const DraftTensor& formal = tensor(id);
    return fmt::format("{} : {}", formal.name, formal.shape.empty() ? type(formal) : signature_type(formal));
  }

  bool needs_declaration(int id) const {
    const DraftTensor& tensor = this->tensor(id);
    if (tensor.kind == DraftKind::kLocal || tensor.kind == DraftKind::kOutput || tensor.def >= 0 || tensor.is_result)
      return false;
    if (def_ && tensor.kind == DraftKind::kInput) return false;  // a formal
    // An opaque item declares its results itself.
    return std::none_of(draft_.opaques.begin(), draft_.opaques.end(), [&](const DraftOpaque& opaque) {
      return std::find(opaque.results.begin(), opaque.results.end(), id) != opaque.results.end();
    });
  }

  std::string type(const DraftTensor& tensor) const {
    return std::string(name_of(tensor.dtype)) + shape_text(tensor, dims_.names, draft_.dims());
  }

  // In the dims that the signature binds: those that the body derives are written out.
  std::string signature_type(const DraftTensor& tensor) const {
    Names names = dims_.names;
    names.products.clear();  // a product that is a dim of the body is written out
    for (const auto& [id, name] : dims_.names.dims) {
      if (!draft_.dims().is_given(id)) names.dims[id] = written_out(id);
    }
    std::vector<std::string> extents;
    for (const Size& size : tensor.shape) {
      std::string text = size_text(size, names, draft_.dims());
      const Size canonical = size.canonical(draft_.dims());
      const auto& terms = canonical.terms();
      const bool alone = terms.size() == 1 && terms.begin()->second == 1 && terms.begin()->first.size() == 1;
      if (alone && text[0] == '(') text = text.substr(1, text.size() - 2);
      extents.push_back(std::move(text));
    }
    return fmt::format("{}[{}]", name_of(tensor.dtype), fmt::join(extents, ", "));
  }

  std::string written_out(DimId id) const {
    const auto& formula = draft_.dims().formula(id);
    if (draft_.dims().is_given(id) || !formula) return dims_.names.dims.at(id);
    Names names = dims_.names;
    names.products.clear();
    const Size size = formula->size.canonical(draft_.dims());
    for (const auto& [product, coefficient] : size.terms()) {
      for (const DimId part : product) names.dims[part] = written_out(part);
    }
    return "(" + formula_text(*formula, names, draft_.dims()) + ")";
  }

  std::string declaration(const DraftTensor& tensor) const {
    std::string out = fmt::format("{:<6} {} : {}", keyword(tensor), tensor.name, type(tensor));
    if (!tensor.path.empty()) out += fmt::format(" \"{}\"", tensor.path);
    if (!tensor.strides.empty()) out += fmt::format(" strides({})", fmt::join(tensor.strides, ", "));
    if (tensor.same >= 0) out += " same " + draft_.tensors[static_cast<size_t>(tensor.same)].name;
    if (!tensor.distribution.empty()) out += " from " + tensor.distribution;
    if (tensor.into >= 0) out += " into " + draft_.tensors[static_cast<size_t>(tensor.into)].name;
    return out;
  }

  std::string item(const DraftItem& item) const {
    if (item.call >= 0) return call(draft_.calls[static_cast<size_t>(item.call)]);
    if (item.opaque < 0) return equation_text(draft_, item.equation, dims_.names);
    const DraftOpaque& opaque = draft_.opaques[static_cast<size_t>(item.opaque)];
    std::vector<std::string> results, arguments;
    for (const int id : opaque.results) {
      const DraftTensor& tensor = draft_.tensors[static_cast<size_t>(id)];
      results.push_back(fmt::format("{} : {}", tensor.name, type(tensor)));
    }
    for (const DraftOpaque::Argument& argument : opaque.arguments) {
      const std::string value =
          argument.tensor >= 0 ? draft_.tensors[static_cast<size_t>(argument.tensor)].name : argument.text;
      arguments.push_back(argument.name.empty() ? value : argument.name + "=" + value);
    }
    return fmt::format("opaque {} = \"{}\"({})", fmt::join(results, ", "), opaque.op, fmt::join(arguments, ", "));
  }

  std::string call(const DraftCall& call) const {
    const DraftDef& def = defs_[static_cast<size_t>(call.def)];
    std::vector<std::string> statics, arguments, results;
    for (size_t i = 0; i < def.statics.size(); ++i) {
      if (def.statics[i].value) continue;
      statics.push_back(
          fmt::format("{}={}", def.static_names[i], size_text(call.statics[i], dims_.names, draft_.dims())));
    }
    for (const int id : call.arguments) arguments.push_back(tensor(id).name);
    for (const int id : call.results) results.push_back(tensor(id).name);
    const std::string given = statics.empty() ? "" : fmt::format("[{}]", fmt::join(statics, ", "));
    return fmt::format("{} = {}{}({}) at \"{}\"", fmt::join(results, ", "), def.name, given, fmt::join(arguments, ", "),
                       call.at);
  }

  std::string comment(const DraftItem& item) const {
    if (item.node < 0 || item.call >= 0) return "";
    const GraphNode& node = graph_.nodes[static_cast<size_t>(item.node)];
    const std::string module = def_ ? relative_path(node.module, def_->at).value_or("") : node.module;
    std::string op = node.op.substr(node.op.find('.') + 1);
    op = op.substr(0, op.find('.'));
    std::string out = fmt::format("  # {}{}", module.empty() ? "" : module + ": ", op);
    if (node.src && item.is_placed)
      out += fmt::format(", {}:{}",
                         std::filesystem::path(graph_.files[static_cast<size_t>(node.src->file)]).filename().string(),
                         node.src->line);
    return out;
  }

  Draft& draft_;
  const Graph& graph_;
  const std::vector<DraftDef>& defs_;
  const DraftDef* def_;
  DimNames dims_;
};

}  // namespace

std::string emit(Draft& draft, const Graph& graph, const std::string& program_name) {
  std::string defs;
  for (DraftDef& def : draft.defs) {
    Emitter emitter(*def.body, graph, draft.defs, &def);
    for (const DraftDef::Static& one : def.statics) def.static_names.push_back(emitter.dim(one.dim));
    defs += emitter.definition() + "\n";
  }
  const std::string text = Emitter(draft, graph, draft.defs).program(program_name, defs);
  for (DraftTensor& tensor : draft.tensors) {  // what moved into a def is known by the path of the call
    if (tensor.def < 0) continue;
    const Draft& body = *draft.defs[static_cast<size_t>(tensor.def)].body;
    tensor.name = tensor.at + "." + body.tensors[static_cast<size_t>(tensor.def_tensor)].name;
  }
  for (DraftTensor& tensor : draft.tensors) {
    int whole = tensor.rolled;
    while (whole >= 0 && draft.tensors[static_cast<size_t>(whole)].rolled >= 0)
      whole = draft.tensors[static_cast<size_t>(whole)].rolled;
    if (whole >= 0) tensor.name = draft.tensors[static_cast<size_t>(whole)].name;
  }
  return text;
}

}  // namespace solstice::importer
