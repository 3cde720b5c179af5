#include "flow/bench/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/file.h"
#include "base/process/interrupt.h"
#include "base/sha256.h"
#include "families/family.h"
#include "flow/bench/fill.h"
#include "numerics/policy.h"

namespace solstice::flow {
namespace {

std::string folder_of(const VariantName& v) {
  return v.rewrites == "off" ? v.numerics + "_without_rewrites" : v.numerics;
}

// If no rewrite applies, the search without rewrites equals the one with them. Of the stages of a module that is cut it
// is not known.
bool no_rewrite_applied(const BenchVariant& made, const VariantName& name) {
  return !made.parts && name.rewrites == "off" && made.rewrites == "on" && made.numerics == name.numerics &&
         made.rewritten.empty();
}

bool has_math(const BenchKernel& kernel) {
  const families::Family* family = families::find_family(kernel.family);
  if (!family) return true;
  const std::vector<families::KnobSpec>& knobs = family->knobs();
  return std::any_of(knobs.begin(), knobs.end(), [](const families::KnobSpec& knob) { return knob.name == "math"; });
}

// If no kernel multiplies, a looser policy allows nothing more.
bool no_math_to_choose(const BenchVariant& made, const VariantName& name) {
  const auto strict = numerics::policy_from_name(made.numerics), loose = numerics::policy_from_name(name.numerics);
  return made.rewrites == name.rewrites && strict && loose && *strict < *loose && !made.kernels.empty() &&
         std::none_of(made.kernels.begin(), made.kernels.end(), has_math);
}

class RowRun {
 public:
  RowRun(const BenchOptions& options, const BenchProblem& problem, BenchWorker& worker, Progress& progress)
      : options_(options), problem_(problem), worker_(worker), progress_(progress) {
    row_.id = problem.id;
    row_.name = problem.name;
  }

  Result<BenchRow> run() {
    const Seconds start = monotonic_now();
    const Result<std::string> source = hash_of(problem_);
    if (source.ok()) row_.source = *source;
    worker_.begin(options_for(options_, problem_, options_.variants[0]));
    const Status done = run_variants(source);
    if (done.ok() && options_.opponents && source.ok() && !row_.variants[0].predicted && !interrupted()) compete();
    worker_.end();
    SOLSTICE_CHECK(done);
    row_.took = monotonic_now() - start;
    row_.finished = utc_now();
    return std::move(row_);
  }

 private:
  Status run_variants(const Result<std::string>& source) {
    for (const VariantName& name : options_.variants) {
      BenchVariant& v = row_.variants.emplace_back();
      v.numerics = name.numerics;
      v.rewrites = name.rewrites;
      if (interrupted()) break;
      if (const BenchVariant* same = searched_alike(name)) {
        v = *same;
        v.numerics = name.numerics;
        v.rewrites = name.rewrites;
        v.took = Seconds(0);
        continue;
      }
      SOLSTICE_CHECK(run_variant(v, name, source));
      if (v.ran()) continue;
      copy_to_others(v);  // a module without a program has none under another policy either
      break;
    }
    return success();
  }

  // A search that was made already and finds the same.
  const BenchVariant* searched_alike(const VariantName& name) const {
    for (size_t i = 0; i + 1 < row_.variants.size(); ++i) {
      const BenchVariant& v = row_.variants[i];
      if (v.ran() && (no_rewrite_applied(v, name) || no_math_to_choose(v, name))) return &v;
    }
    return nullptr;
  }

  Status run_variant(BenchVariant& v, const VariantName& name, const Result<std::string>& source) {
    const Seconds start = monotonic_now();
    Result<OptimizeOutcome> outcome = source.ok() ? worker_.optimize(options_for(options_, problem_, name), progress_)
                                                  : Result<OptimizeOutcome>(source.error());
    v.took = monotonic_now() - start;
    if (!outcome.ok()) {
      if (ends_the_bench(outcome.error())) return std::move(outcome).error();
      fill_error(v, outcome.error());
      return success();
    }
    fill_variant(v, *outcome);
    if (row_.made_with.empty()) row_.made_with = made_with(outcome->report);
    return success();
  }

  void copy_to_others(const BenchVariant& first) {
    const BenchVariant made = first;
    for (size_t i = row_.variants.size(); i < options_.variants.size(); ++i) {
      BenchVariant& v = row_.variants.emplace_back(made);
      v.numerics = options_.variants[i].numerics;
      v.rewrites = options_.variants[i].rewrites;
      v.took = Seconds(0);
    }
  }

  void compete() {
    const bool ours =
        std::any_of(row_.variants.begin(), row_.variants.end(), [](const BenchVariant& v) { return v.ran(); });
    if (ours || options_.opponents_of_all) return run_opponents();
    row_.opponents_note = row_.flaws.note = "not timed: no variant of Solstice ran";
  }

  void run_opponents() {
    OpponentsRequest request;
    request.file = problem_.file;
    request.deadline = options_.deadline;
    for (const BenchVariant& v : row_.variants) {
      const std::string path = v.folder + "/model_new.py";
      const bool known = std::any_of(request.dropins.begin(), request.dropins.end(),
                                     [&](const OracleContender& d) { return d.path == path; });
      if (v.outcome == RunOutcome::kFaster && !v.failed && !known) request.dropins.push_back({v.folder, path});
    }
    const Result<OpponentsFound> found = worker_.compete(request, progress_);
    if (!found.ok()) {
      row_.opponents_note = "the opponents were not measured: " + found.error().message;
      row_.flaws.note = found.error().message;
      return;
    }
    for (const OracleRival& rival : found->rivals) {
      if (!of_a_dropin(rival)) row_.opponents.push_back(side_of(rival));
    }
    row_.flaws = flaws_of(*found);
  }

  // Drop-ins go by their folders' names; variants may share one.
  bool of_a_dropin(const OracleRival& rival) {
    bool found = false;
    for (BenchVariant& v : row_.variants) {
      if (v.folder.empty() || v.folder != rival.name) continue;
      v.beside = side_of(rival);
      v.beside.name = VariantName{v.numerics, v.rewrites}.text();
      found = true;
    }
    return found;
  }

  const BenchOptions& options_;
  const BenchProblem& problem_;
  BenchWorker& worker_;
  Progress& progress_;
  BenchRow row_;
};

}  // namespace

bool ends_the_bench(const Error& error) {
  static constexpr std::array kFatal = {Code::no_gpu,    Code::no_driver,   Code::no_python, Code::no_compiler,
                                        Code::disk_full, Code::store_error, Code::not_yet};
  return std::find(kFatal.begin(), kFatal.end(), error.code) != kFatal.end();
}

OptimizeOptions options_for(const BenchOptions& options, const BenchProblem& problem, const VariantName& variant) {
  OptimizeOptions each = options.each;
  each.module.file = problem.file;
  each.module.name = problem.id + " " + problem.name;
  each.terms.numerics = variant.numerics;
  each.terms.rewrites = variant.rewrites;
  each.baselines = false;  // they are timed once, beside all variants
  each.keep = true;
  std::string folder = problem.id;
  std::replace(folder.begin(), folder.end(), '/', '_');
  each.out = options.out / folder;
  if (options.variants.size() > 1) each.out /= folder_of(variant);
  return each;
}

Result<std::string> hash_of(const BenchProblem& problem) {
  SOLSTICE_TRY(const std::string text, read_file(problem.file));
  return sha256_hex(text);
}

Result<BenchRow> run_problem(const BenchOptions& options, const BenchProblem& problem, BenchWorker& worker,
                             Progress& progress) {
  return RowRun(options, problem, worker, progress).run();
}

}  // namespace solstice::flow
