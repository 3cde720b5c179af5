#include "propose/facts/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "families/family.h"
#include "ir/bind.h"
#include "propose/facts/structure.h"
#include "record/verdict.h"

namespace solstice::propose {
namespace {

using Kernels = std::vector<Piece>;

// Names in knobs that stand for tensors say nothing elsewhere.
ir::KnobValue without_names(ir::KnobValue value) {
  if (value.tensor >= 0) value.text = "t";
  for (ir::KnobValue& item : value.items) item = without_names(std::move(item));
  for (auto& [name, member] : value.members) member = without_names(std::move(member));
  return value;
}

Seconds cost_of(const ir::Program& program, const ir::Kernel& kernel, const machine::Machine& machine) {
  const families::Family* const family = families::find_family(kernel.family);
  if (!family || !family->cost) return Seconds(0);
  const bool frozen = std::find(program.allow.begin(), program.allow.end(), "frozen") != program.allow.end();
  const Result<families::Cost> cost = family->cost({program, machine, program.numerics, frozen}, kernel);
  return cost.ok() ? cost->time : Seconds(0);
}

Seconds total(const Kernels& kernels) {
  Seconds out;
  for (const Piece& piece : kernels) out += piece.cost;
  return out;
}

double share_of(Seconds part, const Kernels& all) {
  const Seconds whole = total(all);
  return whole.value > 0 && part.value > 0 ? part / whole : 1;
}

double predicted_gain(Seconds before, Seconds after) {
  return before.value > 0 && after.value > 0 ? std::log2(before / after) : 0;
}

bool same_cut(const Kernels& a, const Kernels& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Piece& x, const Piece& y) { return x.structure == y.structure; });
}

// Kernels of one kind that changed from one setting to another.
std::optional<Fact> schedule_change(const Kernels& before, const Kernels& after) {
  Fact out;
  out.alike = 0;
  Seconds changed, then;
  for (size_t k = 0; k < before.size(); ++k) {
    if (before[k].setting == after[k].setting) continue;
    const bool first = out.alike++ == 0;
    if (first) out.structure = before[k].structure, out.from = before[k].setting, out.to = after[k].setting;
    if (before[k].structure.kind != out.structure.kind || before[k].setting != out.from || after[k].setting != out.to)
      return std::nullopt;
    changed += before[k].cost;
    then += after[k].cost;
  }
  const auto own_code = [](const std::string& setting) {
    return setting.compare(0, 5, "cuda(") == 0;
  };  // says nothing elsewhere
  if (out.alike == 0 || own_code(out.from) || own_code(out.to)) return std::nullopt;
  out.share = share_of(changed, before);
  out.predicted = predicted_gain(changed, then);
  return out;
}

// The kernels of `a` whose structure `b` lacks.
Kernels only_in(const Kernels& a, const Kernels& b) {
  Kernels out;
  for (const Piece& piece : a) {
    if (std::none_of(b.begin(), b.end(), [&](const Piece& other) { return other.structure == piece.structure; }))
      out.push_back(piece);
  }
  return out;
}

bool one_structure(const Kernels& kernels) {
  return !kernels.empty() && std::all_of(kernels.begin(), kernels.end(),
                                         [&](const Piece& p) { return p.structure == kernels.front().structure; });
}

std::string apart_of(const Kernels& kernels) {
  std::set<std::string> kinds;
  for (const Piece& piece : kernels) kinds.insert(piece.structure.kind);
  return apart({kinds.begin(), kinds.end()});
}

// One kernel taken apart in two, or two made one, and those that are alike with it.
std::optional<Fact> cut_change(const Kernels& before, const Kernels& after) {
  const Kernels gone = only_in(before, after), made = only_in(after, before);
  const bool fused = one_structure(made) && gone.size() == 2 * made.size();
  if (!fused && !(one_structure(gone) && made.size() == 2 * gone.size())) return std::nullopt;
  Fact out;
  const Kernels& whole = fused ? made : gone;
  out.structure = whole.front().structure;
  out.alike = static_cast<int>(whole.size());
  out.from = fused ? apart_of(gone) : kInOne;
  out.to = fused ? kInOne : apart_of(made);
  out.share = share_of(total(gone), before);
  out.predicted = predicted_gain(total(gone), total(made));
  return out;
}

}  // namespace

bool lacked_room(const search::Measurement& m) {
  const Result<Verdict> verdict = from_json<Verdict>(m.record.at("verdict"));
  return verdict.ok() && verdict->outcome == Outcome::kOutOfMemory;
}

Pieces pieces_on(const machine::Machine& machine) {
  return [&machine](const std::string& program) -> std::optional<Kernels> {
    Diagnostics diagnostics;
    const Result<ir::Program> bound = ir::load_program(program, "candidate", diagnostics);
    if (!bound.ok() || bound->kernels.empty()) return std::nullopt;
    Kernels out;
    for (const ir::Kernel& kernel : bound->kernels) {
      out.push_back({structure_of(*bound, kernel.equations), setting_text(kernel.family, kernel.knobs),
                     cost_of(*bound, kernel, machine)});
    }
    return out;
  };
}

std::string setting_text(const std::string& family, ir::Knobs knobs) {
  for (auto& [name, value] : knobs.items) value = without_names(std::move(value));
  return fmt::format("{}({})", family, ir::to_text(knobs));
}

std::string apart(std::vector<std::string> kinds) {
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return fmt::format("apart({})", fmt::join(kinds, " | "));
}

std::vector<Fact> facts_of(const search::Tree& tree, const Pieces& pieces) {
  std::map<int, std::optional<Kernels>> known;
  const auto kernels_of = [&](const search::Node& node) -> const std::optional<Kernels>& {
    const auto [at, fresh] = known.try_emplace(node.id);
    if (fresh) at->second = pieces(node.proposal.program);
    return at->second;
  };
  const auto measured = [](const search::Node& node) {
    return node.measurement && node.measurement->state == TrialState::kVerified;
  };
  const auto failed = [](const search::Node& node) { return node.failed() && !lacked_room(*node.measurement); };
  std::vector<Fact> out;
  for (const search::Node& node : tree.nodes()) {
    const search::Node& parent = tree.node(node.proposal.parent);
    if (parent.id == 0 || !measured(parent) || !(measured(node) || failed(node))) continue;
    const bool ours = !node.proposal.settings.empty() && !parent.proposal.settings.empty();
    if (ours && node.proposal.equations != parent.proposal.equations) continue;  // it computes otherwise too
    const std::optional<Kernels>&before = kernels_of(parent), &after = kernels_of(node);
    if (!before || !after) continue;
    std::optional<Fact> fact =
        same_cut(*before, *after) ? schedule_change(*before, *after) : cut_change(*before, *after);
    if (!fact) continue;
    fact->node = node.id;
    fact->state = node.measurement->state;
    if (measured(node)) {
      fact->gain = std::log2(parent.measurement->time / node.measurement->time);
      fact->noise = std::hypot(noise_of(*parent.measurement), noise_of(*node.measurement));
    }
    out.push_back(std::move(*fact));
  }
  return out;
}

}  // namespace solstice::propose
