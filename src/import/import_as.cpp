#include "import/import_as.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "import/closed/decisions.h"
#include "import/closed/rounding.h"
#include "import/defs/outline.h"
#include "import/defs/statics.h"
#include "import/draft/term_mapper.h"
#include "import/graph/damage.h"
#include "import/graph/well_formed.h"
#include "import/interface/input_dims.h"
#include "import/interface/interface.h"
#include "import/interface/opaque_call.h"
#include "import/loops/reroll.h"
#include "import/loops/slices.h"
#include "import/loops/telescope.h"
#include "import/report/notes.h"
#include "import/report/refusals.h"
#include "import/rules.h"
#include "import/text/emit.h"
#include "lang/words.h"

namespace solstice::importer {

namespace {

using namespace importer;

// "35_GroupNorm_.py" -> "groupnorm"
std::string program_name(const Graph& graph) {
  std::string name;
  if (!graph.files.empty()) {
    const std::string& file = graph.files[0];
    const size_t begin = file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1;
    name = file.substr(begin, file.rfind('.') - begin);
  }
  name.erase(0, std::min(name.find_first_not_of("0123456789_"), name.size()));
  for (char& c : name) {
    const auto u = static_cast<unsigned char>(c);
    c = std::isalnum(u) ? static_cast<char>(std::tolower(u)) : '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) return "problem";
  return lang::is_reserved(name) ? name + "_problem" : name;
}

class Importer {
 public:
  Importer(const Graph& graph, Folding folding) : graph_(graph), folding_(folding) {}

  // After run(): whether anything may have been folded, and where each tensor is, in the order in which they were made.
  bool folded() const { return folded_; }
  std::vector<FoldedPlace> places() const {
    std::vector<FoldedPlace> out;
    for (const DraftTensor& tensor : draft_.tensors) {
      out.push_back({tensor.rolled < 0 ? tensor.name : "", name(tensor.steps_in), tensor.step});
    }
    return out;
  }

  // Of a graph that was refused too.
  const std::vector<UnsupportedOp>& unsupported() const { return out_.unsupported; }

  Result<ImportedProblem> run() {
    try {
      return import();
    } catch (const Damage& damage) {
      return damaged_node(damage.why);
    } catch (const std::out_of_range&) {  // `at` of a list that holds too little
      return damaged_node("too few operands");
    }
  }

 private:
  Error damaged_node(const std::string& why) const {
    if (draft_.node < 0) return fail(Code::bad_record, "the graph is damaged: it has " + why);
    const GraphNode& node = graph_.nodes[static_cast<size_t>(draft_.node)];
    return at(node, fail(Code::bad_record, fmt::format("the graph is damaged: `{}` has {}", node.op, why)));
  }

  Result<ImportedProblem> import() {
    SOLSTICE_CHECK(well_formed(graph_));
    SOLSTICE_TRY(interface_, declare_interface(graph_, draft_, values_));
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      draft_.node = static_cast<int>(i);
      SOLSTICE_CHECK(import_node(graph_.nodes[i]));
    }
    refuse_results();
    if (refused_) return *refused_;
    SOLSTICE_CHECK(settle_outputs());
    remove_dead(draft_);
    if (write_slices_as_pieces(draft_)) remove_dead(draft_);
    settle_rounding(draft_);
    round_decided(draft_, node_results());
    note_origins();
    free_input_dims(draft_);
    fold();
    out_.form = folding_ == Folding::kAll ? ImportForm::kFolded : ImportForm::kFlat;
    out_.text = emit(draft_, graph_, program_name(graph_));
    name_results();
    return std::move(out_);
  }

  std::vector<bool> node_results() const {
    std::vector<bool> out(draft_.tensors.size(), false);
    for (const auto& [id, value] : values_) {
      if (value.term && value.term->kind == TermKind::kRead) out[static_cast<size_t>(value.term->tensor)] = true;
    }
    return out;
  }

  ImportSource source_of(const GraphNode& node) const { return importer::source_of(graph_, node); }

  Error at(const GraphNode& node, Error error) const {
    const ImportSource source = source_of(node);
    if (error.file.empty()) {
      error.file = source.file;
      error.line = source.line;
    }
    return error;
  }

  // Tensors without elements have no equations either; `Call` lets only a concatenation read them.
  Status import_node(const GraphNode& node) {
    bool all_empty = !node.outs.empty();
    for (const auto& out : node.outs) {
      const bool empty = out && is_empty(*out);
      if (empty) values_[out->id] = empty_value(*out);
      all_empty = all_empty && empty;
    }
    return all_empty ? success() : apply_rule(node);
  }

  Value empty_value(const GraphTensor& tensor) {
    Value out{{}, integer(0), storage_dtype(*tensor.dtype).value_or(DType::kF32)};
    for (const int64_t extent : tensor.shape) out.axes.push_back(draft_.loops().fresh_axis(extent));
    return out;
  }

  Status apply_rule(const GraphNode& node) {
    if (reads_absent(node)) {
      out_.unsupported.push_back({node.op, "it reads what no program can hold", source_of(node), node.id});
      leave_out(node, draft_, values_, absent_);
      return success();
    }
    const size_t tensors = draft_.tensors.size();
    const size_t items = draft_.items.size();
    const Rule* rule = find_rule(node.op);
    Call call(node, graph_, draft_, values_);
    Status status = varies(node) ? Status(call.unsupported(kVaries))
                    : rule       ? rule->apply(call)
                                 : Status(call.unsupported("no equations for this operator yet"));
    if (status.ok()) {
      for (size_t i = tensors; i < draft_.tensors.size(); ++i) {
        if (draft_.tensors[i].kind == DraftKind::kRandom) draws_.emplace_back(static_cast<int>(i), draft_.node);
      }
      for (const std::string& note : call.notes()) out_.notes.push_back({note, source_of(node)});
      return success();
    }
    if (status.error().code != Code::unsupported_operator) return at(node, std::move(status.error()));
    draft_.tensors.resize(tensors);
    draft_.items.resize(items);
    draft_.bounds = {};
    const std::string why = status.error().message.substr(std::min(node.op.size() + 2, status.error().message.size()));
    out_.unsupported.push_back({node.op, why, source_of(node), node.id});
    Status opaque = add_opaque(node, graph_, draft_, values_);
    if (opaque.ok()) return success();
    if (opaque.error().code != Code::unsupported_operator) return at(node, std::move(opaque.error()));
    if (!refused_) refused_ = at(node, std::move(opaque.error()));
    leave_out(node, draft_, values_, absent_);
    return success();
  }

  static bool varies(const GraphNode& node) {
    return std::any_of(node.outs.begin(), node.outs.end(), [](const auto& out) { return out && !out->varies.empty(); });
  }

  bool reads_absent(const GraphNode& node) const {
    bool found = false;
    for (const auto& [name, value] : node.args.members())
      for_each_value(value, [&](const std::string& id) { found = found || absent_.contains(id); });
    return found;
  }

  // That a program cannot hold the module is an error; which calls are to blame is known after all of them.
  void refuse_results() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const std::string name = fmt::format("result {}", i + 1);
      const std::string id = graph_.outputs[i].value.value_or("");
      const auto value = values_.find(id);
      const bool is_known = value != values_.end();
      if (is_known && value->second.is_empty()) refuse_result(id, no_elements(name));
      if (is_known && value->second.imaginary) refuse_result(id, complex_numbers(name));
    }
  }

  void refuse_result(const std::string& id, Error error) {
    for (const GraphNode& node : graph_.nodes) {
      const bool yields =
          std::any_of(node.outs.begin(), node.outs.end(), [&](const auto& out) { return out && out->id == id; });
      if (yields) out_.unsupported.push_back({node.op, error.message, source_of(node), node.id});
    }
    if (!refused_) refused_ = std::move(error);
  }

  Status settle_outputs() {
    int results = 0;
    for (const GraphOutput& output : graph_.outputs) results += output.kind == GraphOutputKind::kUser ? 1 : 0;
    int next = 0;
    for (const GraphOutput& output : graph_.outputs) {
      if (output.kind == GraphOutputKind::kUser) ++next;
      const auto value = output.value ? values_.find(*output.value) : values_.end();
      if (value == values_.end()) {
        settled_.push_back(-1);
      } else if (output.kind == GraphOutputKind::kUser) {
        const std::string wish = results == 1 ? "y" : fmt::format("y{}", next);
        settled_.push_back(settle_result(draft_, value->second, wish, DraftKind::kOutput));
        draft_.results.push_back(settled_.back());
      } else {
        settled_.push_back(settle_mutation(output, value->second));
      }
    }
    const bool useful = std::any_of(settled_.begin(), settled_.end(), [](int tensor) { return tensor >= 0; });
    if (useful) return success();
    return computes_nothing();
  }

  int settle_mutation(const GraphOutput& output, const Value& value) {
    for (const InterfaceTensor& entry : interface_) {
      const bool is_target = output.kind == GraphOutputKind::kBufferMutation ? entry.input.fqn == output.target
                                                                             : entry.input.graph_id == output.target;
      if (!is_target || entry.tensor < 0) continue;
      const std::string wish = draft_.tensors[static_cast<size_t>(entry.tensor)].wish + "_new";
      // The language has no new value of an input: it is shown as an output, and reported.
      const bool input = output.kind == GraphOutputKind::kInputMutation;
      const int tensor = settle_result(draft_, value, wish, input ? DraftKind::kOutput : DraftKind::kTensor);
      if (!input) draft_.tensors[static_cast<size_t>(tensor)].into = entry.tensor;
      if (input) draft_.results.push_back(tensor);
      return tensor;
    }
    return -1;
  }

  std::string name(int tensor) const { return tensor < 0 ? "" : draft_.tensors[static_cast<size_t>(tensor)].name; }

  void name_results() {
    for (InterfaceTensor& entry : interface_) {
      entry.input.tensor = name(entry.tensor);
      out_.inputs.push_back(entry.input);
    }
    for (size_t i = 0; i < settled_.size(); ++i) {
      const GraphOutput& output = graph_.outputs[i];
      if (output.kind == GraphOutputKind::kUser) {
        out_.outputs.push_back({name(settled_[i]), output.constant});
        continue;
      }
      if (settled_[i] < 0) continue;
      const int buffer = draft_.tensors[static_cast<size_t>(settled_[i])].into;
      out_.mutations.push_back({name(settled_[i]), name(buffer), output.target});
      if (output.kind == GraphOutputKind::kInputMutation) note_written_input(output);
    }
    add_notes(graph_, values_, out_.notes);
    for (const auto& [tensor, node] : draws_) {
      const GraphNode& from = graph_.nodes[static_cast<size_t>(node)];
      std::vector<int64_t> shape;
      for (const Size& extent : draft_.tensors[static_cast<size_t>(tensor)].shape) shape.push_back(extent.value());
      out_.draws.push_back({name(tensor), from.op, std::move(shape), source_of(from), from.id});
    }
    std::set<int> loops;  // all steps of a loop have one tensor, and the first step's origin
    for (const auto& [step, node] : origins_) {
      const int rolled = draft_.tensors[static_cast<size_t>(step)].rolled;
      if (rolled >= 0 && !loops.insert(rolled).second) continue;
      const int tensor = rolled >= 0 ? rolled : step;
      const GraphNode& from = graph_.nodes[static_cast<size_t>(node)];
      out_.origins.push_back({name(tensor), from.id, from.op, source_of(from)});
    }
  }

  void note_written_input(const GraphOutput& output) {
    ImportSource place;
    std::string written = output.value.value_or("");
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend() && place.file.empty(); ++node) {
      const bool yields =
          std::any_of(node->outs.begin(), node->outs.end(), [&](const auto& out) { return out && out->id == written; });
      if (!yields) continue;
      place = source_of(*node);
      written = node->args.at("src").at("t").as_string();  // the exporter's own copy into the input has no place
    }
    const std::string what = "the module writes its input `" + output.target + "`: return the new value instead";
    out_.unsupported.push_back({"user_input_mutation", what, place, ""});
  }

  void note_origins() {
    for (const DraftItem& item : draft_.items) {
      if (item.node >= 0 && item.is_equation()) origins_.emplace_back(item.equation.tensor, item.node);
    }
  }

  void fold() {
    if (folding_ == Folding::kNone) return;
    settle_digits(draft_);
    folded_ = folding_ == Folding::kAll || reroll_recurrences(draft_);
    if (folding_ != Folding::kAll) return;
    reroll(draft_);
    telescope(draft_);
    outline(draft_, graph_);
    settle_statics(draft_);
  }

  const Graph& graph_;
  const Folding folding_;
  bool folded_ = false;
  Draft draft_;
  Values values_;
  std::vector<InterfaceTensor> interface_;
  std::vector<int> settled_;                  // tensor of each graph output, -1: none
  std::vector<std::pair<int, int>> origins_;  // tensor, node
  std::vector<std::pair<int, int>> draws_;    // likewise
  std::set<std::string> absent_;              // values that no program can hold, by graph id
  std::optional<Error> refused_;              // the first reason why no program can hold the graph
  ImportedProblem out_;
};

}  // namespace

Result<Imported> import_as(const Graph& graph, Folding folding) {
  Importer importer(graph, folding);
  SOLSTICE_TRY(ImportedProblem problem, importer.run());
  return Imported{std::move(problem), importer.places(), importer.folded()};
}

std::vector<UnsupportedOp> unsupported_calls(const Graph& graph) {
  Importer importer(graph, Folding::kNone);
  const Result<ImportedProblem> problem = importer.run();
  return problem.ok() ? problem->unsupported : importer.unsupported();
}

std::vector<OperatorInfo> list_operators() {
  std::vector<OperatorInfo> out;
  for (const RuleGroup* group : all_rule_groups()) {
    for (const Rule& rule : group->rules) out.push_back({group->name, rule.op});
  }
  return out;
}

}  // namespace solstice::importer
