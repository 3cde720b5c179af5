#include "ir/rewrite/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/bind.h"
#include "ir/count.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/text.h"
#include "lang/parse.h"
#include "lang/print.h"

namespace solstice::ir {
namespace {

// Of an H200: tensor cores do a multiply-add of split-precision fp16 in a fifth of a slot, the special-function unit takes
// eight, a byte of DRAM seven. Half of the bytes: neighbours are usually fused.
constexpr double kContractionSlots = 0.2;
constexpr double kSpecialSlots = 8;
constexpr double kByteSlots = 3.5;

Status rewritable(const BoundText& subject) {
  const bool scheduled = !subject.program.kernels.empty();
  const bool calls = std::any_of(subject.tree.items.begin(), subject.tree.items.end(),
                                 [](const lang::Item& i) { return std::holds_alternative<lang::Call>(i.node); });
  if (!scheduled && !calls) return success();
  return fail(Code::not_yet, fmt::format("`{}` {}; only problems made of equations are rewritten", subject.program.name,
                                         scheduled ? "has kernels" : "calls definitions"));
}

Result<BoundText> in_text(const BoundText& subject, const Program& after) {
  SOLSTICE_TRY(const lang::Program tree, rewritten_tree(subject.tree, subject.program, without_dead(after)));
  return bound_text(lang::print(tree), "rewritten.ucut");
}

// A rewrite at one equation, with what it saves.
struct Step {
  Site site;
  BoundText result;
};

std::optional<Step> step(const BoundText& subject, const Rewrite& rewrite, int equation) {
  const std::optional<Rewritten> rewritten = rewrite.at(subject.program, equation);
  if (!rewritten) return std::nullopt;
  const Cost cost = program_cost(subject.program);
  Result<BoundText> result = in_text(subject, rewritten->program);
  if (!result.ok()) return std::nullopt;
  Step out;
  const Equation& e = subject.program.equation(equation);
  const Cost after = program_cost(result->program);
  out.site = {&rewrite,
              equation,
              to_text(subject.program, e),
              comment_of(subject.tree, e),
              rewritten->description,
              {cost.operations - after.operations, cost.bytes - after.bytes, cost.slots - after.slots}};
  out.result = std::move(*result);
  return out;
}

bool acceptable(const Site& site, const RewriteOptions& options) {
  if (site.rewrite->structural) return options.only == site.rewrite || options.whatever_it_costs;
  return (site.saved.slots > 0 && site.saved.operations >= 0) || options.whatever_it_costs;
}

// One pass of a rewrite over the equations, from the top; an equation it changed is tried again.
bool sweep(RewriteResult& state, const Rewrite& rewrite, const RewriteOptions& options, const Deadline& deadline) {
  bool changed = false;
  for (int e = 0; e < static_cast<int>(state.result.program.equations.size());) {
    if (deadline.passed() || static_cast<int>(state.steps.size()) == options.most_steps) {
      state.finished = false;
      return changed;
    }
    std::optional<Step> next = step(state.result, rewrite, e);
    if (!next || !acceptable(next->site, options)) {
      ++e;
      continue;
    }
    state.steps.push_back(std::move(next->site));
    state.result = std::move(next->result);
    changed = true;
  }
  return changed;
}

}  // namespace

const Rewrite* find_rewrite(std::string_view name) {
  for (const Rewrite* rewrite : all_rewrites()) {
    if (rewrite->name == name) return rewrite;
  }
  return nullptr;
}

Result<BoundText> bound_text(const std::string& text, const std::string& file) {
  Diagnostics diagnostics;
  BoundText out;
  out.tree = lang::parse(text, diagnostics);
  if (!diagnostics.has_errors()) {
    std::optional<Program> program = bind(out.tree, diagnostics);
    if (program) out.program = std::move(*program);
  }
  if (diagnostics.has_errors()) return fail(Code::program_invalid, render_text(diagnostics, text, file));
  return out;
}

Cost program_cost(const Program& program) {
  const Count counted = count(program);
  const std::vector<DType> dtypes = dtypes_of(program);
  const Work work = counted.total();
  Cost out;
  out.operations = 2 * work.contraction + work.simt + work.sfu + work.integer;
  for (const EquationCount& each : counted.equations) {
    out.bytes += each.elements * static_cast<double>(size_of(dtypes[static_cast<size_t>(program.equation(each.equation).target)]));
    for (const ReadCount& read : each.reads) {
      out.bytes += read.elements * static_cast<double>(size_of(dtypes[static_cast<size_t>(read.tensor)]));
    }
  }
  out.slots = kContractionSlots * work.contraction + work.simt + kSpecialSlots * work.sfu + work.integer + kByteSlots * out.bytes;
  return out;
}

Result<std::vector<Site>> find_sites(const BoundText& subject, const Rewrite* rewrite) {
  SOLSTICE_CHECK(rewritable(subject));
  std::vector<Site> out;
  for (const Rewrite* each : all_rewrites()) {
    if (rewrite && each != rewrite) continue;
    for (int e = 0; e < static_cast<int>(subject.program.equations.size()); ++e) {
      if (std::optional<Step> found = step(subject, *each, e)) out.push_back(std::move(found->site));
    }
  }
  return out;
}

Result<BoundText> apply(const BoundText& subject, const Rewrite& rewrite, int equation) {
  SOLSTICE_CHECK(rewritable(subject));
  const std::optional<Rewritten> rewritten = rewrite.at(subject.program, equation);
  if (!rewritten) {
    return fail(Code::bad_argument,
                fmt::format("`{}` does not apply at `{}`", rewrite.name, to_text(subject.program, subject.program.equation(equation))));
  }
  return in_text(subject, rewritten->program);
}

Result<RewriteResult> rewrite_all(BoundText subject, const RewriteOptions& options) {
  SOLSTICE_CHECK(rewritable(subject));
  const Deadline deadline(options.budget);
  RewriteResult out;
  out.result = std::move(subject);
  for (bool changed = true; changed && out.finished;) {
    changed = false;
    for (const Rewrite* rewrite : all_rewrites()) {
      const bool wanted = !options.only || rewrite == options.only;
      if (wanted && out.finished) changed = sweep(out, *rewrite, options, deadline) || changed;
    }
  }
  return out;
}

}  // namespace solstice::ir
