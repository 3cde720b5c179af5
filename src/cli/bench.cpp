#include "cli/bench.h"

#include <fmt/format.h>

#include "base/process/interrupt.h"
#include "cli/devices.h"
#include "cli/progress.h"
#include "cli/values.h"
#include "cli/view/table.h"
#include "flow/bench/bench_files.h"
#include "numerics/policy.h"

namespace solstice::cli {
namespace {

Result<std::vector<flow::VariantName>> variants_named(const std::string& policies, const std::string& rewrites) {
  const std::vector<std::string> choices =
      rewrites == "both" ? std::vector<std::string>{"on", "off"} : std::vector<std::string>{rewrites};
  std::vector<flow::VariantName> out;
  for (const std::string& policy : split(policies, ',')) {
    if (!numerics::policy_from_name(policy)) {
      return fail(Code::bad_argument, fmt::format("--numerics `{}`", policy),
                  "legal are reference, high and medium, or several separated by commas");
    }
    for (const std::string& choice : choices) out.push_back({policy, choice});
  }
  if (out.empty()) return fail(Code::bad_argument, "--numerics names no policy");
  return out;
}

Result<std::optional<flow::SharedBudget>> shared_budget(const Invocation& in, size_t variants) {
  if (!in.has("--total")) {
    if (!in.has("--schedule")) return std::optional<flow::SharedBudget>();
    return fail(Code::bad_argument, "--schedule shares one budget: add --total, for example --total 480trials");
  }
  if (variants > 1)
    return fail(Code::bad_argument,
                "--total takes a single column: give one policy of --numerics, and --rewrites on or off");
  flow::SharedBudget out;
  out.total_text = in.get("--total");
  out.schedule_text = in.has("--schedule") ? in.get("--schedule") : "log-gain";
  SOLSTICE_TRY(const GivenBudget total, parse_given_budget(out.total_text));
  if (total.trials) out.total.trials = static_cast<int>(*total.trials);
  out.total.seconds = total.seconds;
  SOLSTICE_TRY(out.schedule, search::parse_schedule(out.schedule_text));
  return std::optional(std::move(out));
}

Result<flow::BenchOptions> options_from(const Invocation& in, std::vector<flow::BenchProblem> problems) {
  flow::BenchOptions options;
  options.problems = std::move(problems);
  SOLSTICE_TRY(options.variants, variants_named(in.get("--numerics"), in.get("--rewrites")));
  SOLSTICE_TRY(options.shared, shared_budget(in, options.variants.size()));
  SOLSTICE_TRY(const BudgetText budget, parse_budget(in.get("--budget")));
  options.each.search.budget = budget.time;
  options.each.search.trials = budget.trials;
  options.each.place.device = in.get("--device");
  options.each.place.machine = in.get("--machine");
  SOLSTICE_TRY(options.each.place.gpus, chosen_devices(in));
  options.each.place.allow_busy = in.flag("--allow-busy");
  options.each.terms.frozen = in.get("--weights") == "frozen";
  options.each.command = in.argv;
  options.each.search.memory = in.get("--memory") == "on";
  options.each.search.findings = in.get("--findings") == "on";
  options.each.several = true;
  const std::string& opponents = in.get("--opponents");
  options.opponents = opponents != "none" && options.each.place.device != "model";
  options.opponents_of_all = opponents == "all";
  SOLSTICE_TRY(const int seconds, parse_int("--opponent-seconds", in.get("--opponent-seconds"), 1, 3600));
  options.deadline = Seconds(seconds);
  options.out = in.get("--out");
  options.resume = in.flag("--resume");
  return options;
}

void print_row(const BenchRow& row) {
  for (const BenchVariant& v : row.variants) {
    const bool lost = v.failed && v.outcome == RunOutcome::kNone;
    const bool kept = v.outcome == RunOutcome::kNotFaster && !lost;
    const std::string outcome = lost ? "failed" : kept ? "original kept" : enum_name(v.outcome);
    const bool first = &v == &row.variants.front();
    fmt::print("{:<6} {:<44} {:<10} {:<14} {:>8}  {}\n", first ? row.id : "", first ? clip(row.name, 44) : "",
               v.numerics, outcome,
               kept            ? "1.00x"
               : v.speedup > 0 ? show_factor(v.speedup)
                               : "",
               clip(v.reason, 80));
  }
  std::fflush(stdout);
}

void print_end(const Bench& bench, const flow::BenchOptions& options) {
  fmt::print("\n{} of {} problems\n", bench.rows.size(), options.problems.size());
  for (const flow::VariantName& variant : flow::variants_of(bench)) {
    const flow::Figures f = flow::figures_of(bench, {variant, 0, true, ""});
    if (f.supported.count == 0) continue;
    fmt::print("{}: {} over the {} supported ones, fast_1 {:.0f} %, fast_2 {:.0f} %\n", variant.text(),
               show_factor(f.supported.mean), f.supported.count, 100 * f.fast_1, 100 * f.fast_2);
    fmt::print(
        "  {} on generated kernels alone and at least {}x: {}, lowest {}; {} slower, where the original is kept; "
        "median trial {}\n",
        f.complete.count, flow::kKept, show_factor(f.complete.mean), show_factor(f.complete.least), f.slower.count,
        show(f.trial));
  }
  fmt::print("{}\n", (options.out / "bench.md").string());
}

}  // namespace

Result<int> render_bench_again(const std::filesystem::path& folder) {
  SOLSTICE_TRY(const Bench bench, flow::load_bench(folder));
  SOLSTICE_CHECK(flow::write_rendered(bench, folder));
  fmt::print("{}\n", (folder / "bench.md").string());
  return 0;
}

Result<int> run_bench_of(const Invocation& in, std::vector<flow::BenchProblem> problems) {
  SOLSTICE_TRY(const flow::BenchOptions options, options_from(in, std::move(problems)));
  const bool json = in.json();
  SilentProgress silent;
  const std::unique_ptr<Progress> shown = in.flag("--verbose") ? progress_for(stderr) : nullptr;
  Progress& progress = shown ? *shown : static_cast<Progress&>(silent);
  const std::unique_ptr<flow::BenchWorker> worker = flow::engine_worker();
  SOLSTICE_TRY(const Bench bench, flow::run_bench(options, *worker, progress, [json](const BenchRow& row) {
                 if (!json) print_row(row);
               }));
  if (json) {
    fmt::print("{}\n", to_json(bench).dump(2));
  } else {
    print_end(bench, options);
  }
  if (interrupted()) return fail(Code::interrupted, "stopped; `--resume` continues from here");
  return 0;
}

std::vector<Parameter> bench_parameters(std::vector<Parameter> first, const std::string& out) {
  const std::vector<Parameter> more = {
      {"--budget",
       "BUDGET",
       "time and trials per problem; with --total, the most that one problem gets",
       "15s,40trials",
       {},
       false,
       false},
      {"--total",
       "BUDGET",
       "one budget shared by all problems, whose searches take turns: 480trials, 600s of trials, or both",
       "",
       {},
       false,
       false},
      {"--schedule",
       "SCHEDULE",
       "scheduler of the turns under --total: log-gain (most expected gain per cost; the default), with its "
       "parameters, or fixed (the same budget for each)",
       "",
       {},
       false,
       false},
      device_option(),
      machine_option(),
      devices_option(),
      {"--allow-busy", "", "measure even if other processes keep the GPU busy", "", {}, false, false},
      {"--numerics",
       "LIST",
       "accuracy policies, separated by commas: reference, high, medium",
       "reference",
       {},
       false,
       false},
      {"--rewrites",
       "WHICH",
       "also try algebraically rewritten equations; both: one column with and one without",
       "on",
       {"on", "off", "both"},
       false,
       false},
      {"--weights", "MODE", "frozen: parameters may be packed once", "live", {"live", "frozen"}, false, false},
      {"--memory", "WHICH", "order moves by their gains in other problems", "on", {"on", "off"}, false, false},
      {"--findings", "WHICH", "try first what findings of a candidate advise", "on", {"on", "off"}, false, false},
      {"--opponents",
       "WHICH",
       "problems whose baselines are timed; supported: only those that Solstice can run",
       "all",
       {"all", "supported", "none"},
       false,
       false},
      {"--opponent-seconds", "SECONDS", "time limit for preparing each baseline", "120", {}, false, false},
      {"--out", "DIR", "output folder", out, {}, false, false},
      {"--resume", "", "keep the finished problems of OUT/bench.json and run the rest", "", {}, false, false},
      {"--render", "DIR", "only rewrite bench.md and bench.svg from DIR/bench.json", "", {}, false, false},
      {"--verbose", "", "show the progress of each problem on stderr", "", {}, false, false},
      json_flag()};
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

}  // namespace solstice::cli
