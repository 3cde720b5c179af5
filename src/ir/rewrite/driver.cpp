#include "ir/rewrite/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ir/analysis/live.h"
#include "ir/bind.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/text.h"
#include "ir/rewrite/trial.h"
#include "lang/parse.h"
#include "lang/print.h"

namespace solstice::ir {
namespace {

Result<BoundText> in_text(const BoundText& subject, const Program& after) {
  SOLSTICE_TRY(const lang::Program tree, rewritten_tree(subject.tree, subject.program, after));
  return bound_text(lang::print(tree), "rewritten.ucut");
}

// A rewrite at one equation, with what it saves.
struct Step {
  Site site;
  Program program;
};

// A program between rewrites: `text` is what it was made of.
class State {
 public:
  State(const BoundText& text, Program program)
      : text_(text),
        program_(std::move(program)),
        dims_(text.tree, text.program),
        subject_(program_, &dims_),
        needs_(Liveness(program_).needs()) {}
  State(const State&) = delete;

  const Program& program() const { return program_; }

  // `made`: counts the equations of what was made for a look.
  std::optional<Step> step(const Rewrite& rewrite, int equation, long& made) const {
    const std::optional<Rewritten> rewritten = rewrite.at(subject_, equation);
    if (!rewritten) return std::nullopt;
    made += static_cast<long>(rewritten->program.equations.size());
    Result<Trial> trial = tried(subject_, needs_, rewritten->program);
    if (!trial.ok() || (!trial->proved && !in_text(text_, trial->program).ok())) return std::nullopt;
    const Equation& e = program_.equation(equation);
    const std::vector<int>& pieces = subject_.definitions().writers(e.target);
    const auto piece = static_cast<int>(std::find(pieces.begin(), pieces.end(), equation) - pieces.begin());
    return Step{{&rewrite, equation, to_text(program_, e), comment_of(text_.tree, e), rewritten->description,
                 trial->saved, program_.target_of(e).name, piece},
                std::move(trial->program)};
  }

 private:
  const BoundText& text_;
  Program program_;
  WrittenDims dims_;
  Subject subject_;
  Needs needs_;
};

bool acceptable(const Site& site, const RewriteOptions& options) {
  if (site.rewrite->structural) return options.only == site.rewrite || options.whatever_it_costs;
  return (site.saved.slots > 0 && site.saved.operations >= 0) || options.whatever_it_costs;
}

// Applies rewrites to one program.
class Sweeper {
 public:
  Sweeper(const BoundText& text, const RewriteOptions& options)
      : text_(text), options_(options), state_(std::make_unique<State>(text, text.program)) {}

  bool finished() const { return finished_; }
  const Program& program() const { return state_->program(); }
  std::vector<Site> take_steps() { return std::move(steps_); }

  // One pass of a rewrite over the equations, from the top; an equation it changed is tried again.
  bool sweep(const Rewrite& rewrite) {
    bool changed = false;
    for (int e = 0; e < static_cast<int>(program().equations.size());) {
      const bool spent = made_ >= options_.most_equations || static_cast<int>(steps_.size()) == options_.most_steps;
      if (spent || solstice::is_asked(options_.stop)) {
        finished_ = false;
        return changed;
      }
      std::optional<Step> next = state_->step(rewrite, e, made_);
      if (!next || !acceptable(next->site, options_)) {
        ++e;
        continue;
      }
      steps_.push_back(std::move(next->site));
      state_ = std::make_unique<State>(text_, std::move(next->program));
      changed = true;
    }
    return changed;
  }

 private:
  const BoundText& text_;
  const RewriteOptions& options_;
  long made_ = 0;
  std::unique_ptr<State> state_;
  std::vector<Site> steps_;
  bool finished_ = true;
};

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
  if (diagnostics.has_errors()) return refusal(diagnostics, text, file);
  return out;
}

Result<BoundText> rewritable(BoundText subject) {
  if (!subject.program.kernels.empty()) {
    return fail(Code::not_yet,
                fmt::format("`{}` has kernels; only problems made of equations are rewritten", subject.program.name));
  }
  const bool calls = std::any_of(subject.tree.items.begin(), subject.tree.items.end(),
                                 [](const lang::Item& i) { return std::holds_alternative<lang::Call>(i.node); });
  if (!calls) return subject;
  SOLSTICE_TRY(const lang::Program tree, without_calls(subject.tree, subject.program));
  return bound_text(lang::print(tree), "expanded.ucut");
}

Result<std::vector<Site>> find_sites(const BoundText& subject, const Rewrite* rewrite) {
  SOLSTICE_TRY(const BoundText text, rewritable(subject));
  const State state(text, text.program);
  std::vector<Site> out;
  long made = 0;
  for (const Rewrite* each : all_rewrites()) {
    if (rewrite && each != rewrite) continue;
    for (int e = 0; e < static_cast<int>(text.program.equations.size()); ++e) {
      if (std::optional<Step> found = state.step(*each, e, made)) out.push_back(std::move(found->site));
    }
  }
  return out;
}

Result<BoundText> apply(const BoundText& subject, const Rewrite& rewrite, int equation) {
  SOLSTICE_TRY(const BoundText text, rewritable(subject));
  const WrittenDims dims(text.tree, text.program);
  const Subject looked_up(text.program, &dims);
  const std::optional<Rewritten> rewritten = rewrite.at(looked_up, equation);
  if (!rewritten) {
    return fail(Code::bad_argument, fmt::format("`{}` does not apply at `{}`", rewrite.name,
                                                to_text(text.program, text.program.equation(equation))));
  }
  return in_text(text, without_dead(rewritten->program));
}

Result<RewriteResult> rewrite_all(BoundText subject, const RewriteOptions& options) {
  SOLSTICE_TRY(const BoundText text, rewritable(std::move(subject)));
  Sweeper sweeper(text, options);
  for (bool changed = true; changed && sweeper.finished();) {
    changed = false;
    for (const Rewrite* rewrite : all_rewrites()) {
      const bool wanted =
          (!options.only || rewrite == options.only) && (!options.keep_nonfinite || rewrite->keeps_nonfinite);
      if (wanted && sweeper.finished()) changed = sweeper.sweep(*rewrite) || changed;
    }
  }
  RewriteResult out;
  out.finished = sweeper.finished();
  out.steps = sweeper.take_steps();
  SOLSTICE_TRY(out.result, out.steps.empty() ? Result<BoundText>(text) : in_text(text, sweeper.program()));
  return out;
}

}  // namespace solstice::ir
