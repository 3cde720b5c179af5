#include "flow/run/problem/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/rewrite/driver.h"
#include "lang/print.h"
#include "lang/rename.h"

namespace solstice::flow {
namespace {

using Pairs = std::map<std::string, std::string>;  // a name of the program by that of the module's equations

std::vector<std::string> names_of_kind(const ir::Program& program, ir::TensorKind kind) {
  std::vector<std::string> out;
  for (const ir::Tensor& t : program.tensors) {
    if (t.kind == kind) out.push_back(t.name);
  }
  return out;
}

void pair_by_place(const std::vector<std::string>& module, const std::vector<std::string>& program, Pairs& out) {
  for (size_t i = 0; i < std::min(module.size(), program.size()); ++i) out.emplace(module[i], program[i]);
}

std::vector<std::string> arguments_of(const importer::ImportedProblem& imported) {
  std::vector<std::pair<int, std::string>> placed;
  for (const importer::ImportedInput& input : imported.inputs) {
    if (input.kind == GraphInputKind::kUser && !input.tensor.empty()) placed.emplace_back(input.position, input.tensor);
  }
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [position, name] : placed) out.push_back(std::move(name));
  return out;
}

std::vector<std::string> results_of(const importer::ImportedProblem& imported) {
  std::vector<std::string> out;
  for (const importer::ImportedOutput& output : imported.outputs) {
    if (!output.tensor.empty() && std::find(out.begin(), out.end(), output.tensor) == out.end())
      out.push_back(output.tensor);
  }
  return out;
}

bool is_state(const importer::ImportedInput& input) {
  return (input.kind == GraphInputKind::kParameter || input.kind == GraphInputKind::kBuffer) && !input.tensor.empty();
}

// A tensor of the program that stands for a parameter or buffer of the module; null: none.
const ir::Tensor* state_of(const ir::Program& program, const importer::ImportedInput& input) {
  const ir::Tensor* by_name = nullptr;
  for (const ir::Tensor& t : program.tensors) {
    if (t.kind != ir::TensorKind::kParam && t.kind != ir::TensorKind::kBuffer) continue;
    if (t.path == input.fqn) return &t;
    if (t.path.empty() && (t.name == input.fqn || t.name == input.tensor)) by_name = &t;
  }
  return by_name;
}

Pairs interface_pairs(const importer::ImportedProblem& module, const ir::Program& program) {
  Pairs out;
  pair_by_place(arguments_of(module), names_of_kind(program, ir::TensorKind::kInput), out);
  pair_by_place(results_of(module), names_of_kind(program, ir::TensorKind::kOutput), out);
  for (const importer::ImportedInput& input : module.inputs) {
    const ir::Tensor* const t = is_state(input) ? state_of(program, input) : nullptr;
    if (t) out.emplace(input.tensor, t->name);
  }
  for (const importer::BufferMutation& mutation : module.mutations) {
    const auto buffer = out.find(mutation.buffer);
    for (const ir::Tensor& t : program.tensors) {
      if (buffer != out.end() && t.into >= 0 && program.tensor(t.into).name == buffer->second)
        out.emplace(mutation.tensor, t.name);
    }
  }
  return out;
}

bool is_dim(const ir::Program& program, const std::string& name) {
  return std::any_of(program.dims.begin(), program.dims.end(), [&](const ir::Dim& d) { return d.name == name; });
}

// Dims of paired tensors, where each is a name on both sides: tests at smaller dims shrink both alike.
void pair_dims(const ir::Program& module, const ir::Program& program, Pairs& out) {
  std::set<std::string> taken;
  const Pairs tensors = out;
  for (const auto& [from, to] : tensors) {
    const int a = module.find_tensor(from), b = program.find_tensor(to);
    if (a < 0 || b < 0 || module.tensor(a).shape != program.tensor(b).shape) continue;
    for (size_t d = 0; d < module.tensor(a).dims.size(); ++d) {
      const std::string &mine = module.tensor(a).dims[d], &theirs = program.tensor(b).dims[d];
      if (!is_dim(module, mine) || !is_dim(program, theirs) || out.contains(mine) || taken.contains(theirs)) continue;
      out.emplace(mine, theirs);
      taken.insert(theirs);
    }
  }
}

// Different names stay different: one that is taken, and not paired itself, gives way.
lang::Program renamed_by(const Pairs& pairs, lang::Program tree) {
  std::set<std::string> used, wanted;
  tree = lang::renamed(std::move(tree), [&](const std::string& name) { return *used.insert(name).first; });
  for (const auto& [from, to] : pairs) wanted.insert(to);
  Pairs all = pairs;
  for (const std::string& name : used) {
    if (pairs.contains(name) || !wanted.contains(name)) continue;
    std::string other = name + "_";
    while (used.contains(other) || wanted.contains(other)) other += "_";
    wanted.insert(other);
    all.emplace(name, other);
  }
  return lang::renamed(std::move(tree), [&](const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? name : found->second;
  });
}

// A program may leave out where its parameters lie.
void take_paths(const ir::Program& program, lang::Program& tree) {
  for (lang::Item& item : tree.items) {
    auto* const decl = std::get_if<lang::Decl>(&item.node);
    const int id = decl ? program.find_tensor(decl->name) : -1;
    if (id >= 0 && program.tensor(id).path.empty()) decl->path.reset();
  }
}

void rename(const Pairs& pairs, std::string& name) {
  if (const auto found = pairs.find(name); found != pairs.end()) name = found->second;
}

void rename_interface(const Pairs& pairs, importer::ImportedProblem& module) {
  for (importer::ImportedInput& input : module.inputs) rename(pairs, input.tensor);
  for (importer::ImportedOutput& output : module.outputs) rename(pairs, output.tensor);
  for (importer::BufferMutation& mutation : module.mutations) {
    rename(pairs, mutation.tensor);
    rename(pairs, mutation.buffer);
  }
}

// What of the module's interface the program lacks, or the other way; "": nothing.
std::string unpaired(const importer::ImportedProblem& module, const ir::Program& program, const Pairs& pairs) {
  const auto count = [&](ir::TensorKind kind) { return names_of_kind(program, kind).size(); };
  const size_t arguments = arguments_of(module).size(), results = results_of(module).size();
  if (arguments != count(ir::TensorKind::kInput))
    return fmt::format("it takes {} tensors, and the program has {} inputs", arguments, count(ir::TensorKind::kInput));
  if (results != count(ir::TensorKind::kOutput))
    return fmt::format("it returns {} tensors, and the program has {} outputs", results,
                       count(ir::TensorKind::kOutput));
  for (const importer::ImportedInput& input : module.inputs) {
    if (is_state(input) && !pairs.contains(input.tensor))
      return fmt::format("no `param` or `buffer` of the program has the path \"{}\"", input.fqn);
  }
  std::set<std::string> known;
  for (const auto& [from, to] : pairs) known.insert(to);
  for (const ir::Tensor& t : program.tensors) {
    if ((t.is_interface() || t.into >= 0) && !known.contains(t.name))
      return fmt::format("it has no counterpart of the program's `{}`", t.name);
  }
  return "";
}

}  // namespace

Status take_names(Problem& module, const ir::Program& program) {
  SOLSTICE_TRY(ir::BoundText same, ir::bound_text(lang::print(in_the_names_of(program, module)), "the module"));
  rename_interface(interface_pairs(module.imported, program), module.imported);
  module.tree = std::move(same.tree);
  module.program = std::move(same.program);
  return success();
}

lang::Program in_the_names_of(const ir::Program& program, const Problem& module) {
  Pairs pairs = interface_pairs(module.imported, program);
  pair_dims(module.program, program, pairs);
  lang::Program out = renamed_by(pairs, module.tree);
  take_paths(program, out);
  return out;
}

Status check_interface(const Problem& module, const ir::Program& program, const std::string& file) {
  const std::string lacking = unpaired(module.imported, program, interface_pairs(module.imported, program));
  if (lacking.empty()) return success();
  return fail(Code::bad_argument, fmt::format("{} has another interface than the module: {}", file, lacking),
              "`solstice import FILE.py` prints the module's");
}

void take_equations(Problem& module, Written& written) {
  rename_interface(interface_pairs(module.imported, written.problem.program), module.imported);
  for (importer::ImportedInput& input : module.imported.inputs) {
    if (input.kind == GraphInputKind::kConstant) input.tensor.clear();  // of equations that are not searched
  }
  module.imported.origins.clear();
  module.imported.text = std::move(written.problem.imported.text);
  module.tree = std::move(written.problem.tree);
  module.program = std::move(written.problem.program);
}

std::string same_text(ir::Verdict verdict) {
  switch (verdict) {
    case ir::Verdict::kProved:
      return "its equations are the module's: proved";
    case ir::Verdict::kTested:
      return "its equations are the module's: tested with random values, not proved";
    case ir::Verdict::kRefuted:
      return "its equations are not the module's";
    case ir::Verdict::kUnknown:
      break;
  }
  return "it is not known whether its equations are the module's";
}

}  // namespace solstice::flow
