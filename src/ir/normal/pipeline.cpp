#include "ir/normal/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ir/normal/nodes.h"
#include "ir/normal/passes.h"
#include "ir/normal/prefix.h"
#include "ir/normal/write.h"

namespace solstice::ir::normal {
namespace {

struct Step {
  NormalPass pass;
  bool Enabled::*enabled;
  void (*run)(Form&);
};

const std::vector<Step>& steps() {
  static const std::vector<Step> all = {
      {{"expand", "mean, var and logsumexp as sums; closed forms of buffers"}, &Enabled::expand, expand},
      {{"hoist", "definitions take the place of their reads; equal reductions become one"}, &Enabled::hoist, hoist},
      {{"split_radix", "indices under // and % become their digits"}, &Enabled::split_radix, split_radix},
      {{"solve", "affine equalities determine a bound index"}, &Enabled::solve, solve},
      {{"absorb", "guards become domains; implied conditions go"}, &Enabled::absorb, absorb},
      {{"pieces", "reads go to the piece that holds them"}, &Enabled::pieces, pieces},
      {{"algebra", "sums of products over hashed atoms"}, &Enabled::algebra, algebra},
      {{"name", "binders in an order that does not depend on the text"}, &Enabled::name, name},
  };
  return all;
}

std::vector<TermId> values_of(const Form& form) {
  std::vector<TermId> out;
  for (const Definition& d : form.definitions) out.push_back(d.value);
  for (const Root& r : form.roots) out.push_back(r.value);
  return out;
}

void measure(const Form& form, PassReport& report) {
  std::set<TermId> seen;
  std::vector<TermId> left = values_of(form);
  while (!left.empty()) {
    const TermId id = left.back();
    left.pop_back();
    if (!seen.insert(id).second) continue;
    const Term& t = form.pool.at(id);
    report.reductions += t.kind == Kind::kReduce ? 1 : 0;
    left.insert(left.end(), t.args.begin(), t.args.end());
  }
  report.terms = seen.size();
}

}  // namespace

void run_passes(Form& form, std::vector<PassReport>* reports) {
  using Clock = std::chrono::steady_clock;
  for (const Step& step : steps()) {
    PassReport report;
    report.name = step.pass.name;
    report.ran = form.enabled.*step.enabled && !form.pool.exceeded();
    const auto begin = Clock::now();
    const auto before = values_of(form);
    if (report.ran) step.run(form);
    // A piece's definition meets the indices of its reads only now.
    if (report.ran && step.run == pieces && values_of(form) != before) {
      for (const Step& again : steps()) {
        if ((again.run == split_radix || again.run == solve || again.run == absorb) && form.enabled.*again.enabled)
          again.run(form);
      }
    }
    report.microseconds = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    if (!reports) continue;
    if (!form.pool.exceeded()) measure(form, report);
    reports->push_back(std::move(report));
  }
}

}  // namespace solstice::ir::normal

namespace solstice::ir {

const std::vector<NormalPass>& normal_passes() {
  static const std::vector<NormalPass> all = [] {
    std::vector<NormalPass> out;
    for (const normal::Step& step : normal::steps()) out.push_back(step.pass);
    return out;
  }();
  return all;
}

Result<NormalForm> normal_form(const Program& program, const NormalOptions& options) {
  normal::Enabled enabled;
  for (const std::string& name : options.without) {
    const auto& all = normal::steps();
    const auto found = std::find_if(all.begin(), all.end(), [&](const normal::Step& s) { return s.pass.name == name; });
    if (found == all.end()) {
      std::vector<std::string_view> names;
      for (const NormalPass& pass : normal_passes()) names.push_back(pass.name);
      return fail(Code::bad_argument, fmt::format("there is no pass `{}`", name),
                  fmt::format("choose from {}", fmt::join(names, ", ")));
    }
    enabled.*found->enabled = false;
  }
  normal::Pool pool({options.most_terms, options.most_expansion, options.most_microseconds});
  const Program subject = enabled.algebra ? normal::with_prefix_sums(program) : program;
  normal::Form form(pool, subject, "", enabled);
  const Definitions definitions(subject);
  FiniteValues finite(subject, definitions, FiniteValues::Of::kReals);
  form.finite = &finite;
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    const Tensor& tensor = program.tensors[t];
    const auto id = static_cast<int>(t);
    if (tensor.kind == TensorKind::kOutput || tensor.into >= 0) form.wanted.insert(id);
  }
  form.keep_nodes = options.keep_nodes;
  normal::translate(form);
  NormalForm out;
  normal::run_passes(form, &out.passes);
  out.program = normal::written(form);  // makes terms, too
  out.exceeded = pool.exceeded() ? pool.exceeded() : "";
  if (!out.exceeded.empty())
    out.program = program;
  else if (options.keep_nodes && enabled.hoist)
    out.program = normal::separated(out.program);
  out.nodes = normal::recognised(out.program);
  return out;
}

}  // namespace solstice::ir
