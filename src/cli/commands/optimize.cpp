// solstice optimize: the main job.
#include "flow/run/optimize.h"

#include <fmt/format.h>

#include "cli/agent_options.h"
#include "cli/command.h"
#include "cli/devices.h"
#include "cli/exit_codes.h"
#include "cli/progress.h"
#include "cli/stop_options.h"
#include "cli/values.h"
#include "flow/run/report/report.h"

namespace solstice::cli {
namespace {

constexpr Seconds kUsualTime{60}, kUsualTimeWithAgent{60 * 60};

// A part that is not given is that of the run that goes on, where there is one, else the usual one. `out.left_out`
// names each part.
Status read_budget(const Invocation& in, flow::OptimizeOptions& out) {
  GivenBudget given;
  if (in.has("--budget")) {
    SOLSTICE_TRY(given, parse_given_budget(in.get("--budget")));
  }
  const BudgetText budget = completed(given, {.time = out.agent.wanted() ? kUsualTimeWithAgent : kUsualTime});
  out.search.budget = budget.time;
  out.search.trials = budget.trials;
  if (!given.seconds) out.left_out.insert("--budget");
  if (!given.trials) out.left_out.insert("--trials");
  return success();
}

Result<flow::OptimizeOptions> optimize_options(const Invocation& in) {
  flow::OptimizeOptions options;
  if (in.has("--oracle-fd")) {
    SOLSTICE_TRY(options.module.oracle_fd, parse_int("--oracle-fd", in.get("--oracle-fd"), 0, 1 << 20));
  } else if (!in.has("FILE") && !in.has("--resume")) {
    return fail(Code::bad_argument, "no FILE was given; see `solstice optimize --help`");
  }
  if (in.has("FILE")) {
    SOLSTICE_TRY(const FileAndClass subject, parse_file_and_class(in.get("FILE")));
    options.module.file = subject.file;
    options.module.class_name = subject.class_name;
  }
  SOLSTICE_TRY(options.agent, agent_choice(in));
  options.left_out = in.left_out;
  SOLSTICE_CHECK(read_budget(in, options));
  options.place.device = in.get("--device");
  options.place.machine = in.get("--machine");
  options.terms.numerics = in.get("--numerics");
  options.terms.frozen = in.get("--weights") == "frozen";
  options.terms.rewrites = in.get("--rewrites") == "on";
  options.search.memory = in.get("--memory") == "on";
  options.out = in.get("--out");
  options.store = in.get("--store");
  SOLSTICE_CHECK(read_stop_rule(in, options));
  options.search.policy = in.get("--policy");
  SOLSTICE_TRY(const int seed, parse_int("--seed", in.get("--seed"), 0, 1000000000));
  options.search.seed = static_cast<uint64_t>(seed);
  options.resume = in.get("--resume");
  if (in.has("--resume") && options.resume.empty())
    return fail(
        Code::bad_argument,
        "--resume is empty; it takes the id of a run, the start of one, or `last` (`solstice show` lists them)");
  options.baselines = !in.flag("--no-baselines");
  SOLSTICE_TRY(options.place.gpus, chosen_devices(in));
  options.place.allow_busy = in.flag("--allow-busy");
  options.command = in.argv;
  return options;
}

Result<int> run_optimize(const Invocation& in) {
  SOLSTICE_TRY(const flow::OptimizeOptions options, optimize_options(in));
  // Progress is no result: with --json, stdout holds the report alone.
  const std::unique_ptr<Progress> progress = progress_for(in.json() ? stderr : stdout);
  SOLSTICE_TRY(const flow::OptimizeOutcome outcome, flow::optimize(options, *progress));
  const int code = code_of_search(outcome.interrupted, outcome.failed);
  if (in.json()) {
    Json body = Json::object().set("out", outcome.out.string()).set("report", to_json(outcome.report));
    fmt::print("{}\n", body.dump(2));
    return code;
  }
  fmt::print("{}\nreport: {}\n", flow::headline_text(outcome.report), (outcome.out / "report.md").string());
  if (outcome.report.outcome == RunOutcome::kFaster) {
    fmt::print("drop-in: {}\n", (outcome.out / "model_new.py").string());
  }
  return code;
}

std::vector<Parameter> optimize_parameters() {
  std::vector<Parameter> out = {
      {"FILE", "", "Python file, and optionally :Class; with --resume it may be left out", "", {}, false, false},
      {"--device",
       "NAME",
       "where candidates run; model predicts without a GPU",
       "auto",
       {"auto", "gpu", "model"},
       false,
       false},
      {"--machine", "NAME", "machine description; found from the device where it is not given", "", {}, false, false},
      {"--numerics",
       "POLICY",
       "reference: in the class of PyTorch's own result; high: TF32 class; medium: bf16 class",
       "reference",
       {"reference", "high", "medium"},
       false,
       false},
      {"--rewrites",
       "WHICH",
       "whether equations that algebraic rewrites make are tried too",
       "on",
       {"on", "off"},
       false,
       false},
      {"--weights",
       "MODE",
       "live: parameters may change between calls; frozen: they may be packed once",
       "live",
       {"live", "frozen"},
       false,
       false},
      {"--budget",
       "BUDGET",
       "time and trials [default: 60s,40trials; with --agent 60m,40trials]",
       "",
       {},
       false,
       false},
      {"--out", "DIR", "where the outcome goes [default: runs/NAME]", "", {}, false, false},
      {"--store", "DIR", "another run store than the user's", "", {}, false, false},
      {"--policy",
       "POLICY",
       "how the search chooses where to go on (`solstice list policies`) [default: greedy]",
       "",
       {},
       false,
       false},
      {"--seed", "SEED", "of the policy", "1", {}, false, false},
      {"--memory",
       "WHICH",
       "whether what moves gained in other problems orders the search",
       "on",
       {"on", "off"},
       false,
       false},
      {"--resume",
       "RUN",
       "a run of the store goes on, with its FILE, device, machine, numerics, rewrites, weights, memory, policy, seed, "
       "budget (its time "
       "anew), eps, window, roi and DIR where they are left out, its language model led as before; `last` is the "
       "newest that did not fail "
       "before its search",
       "",
       {},
       false,
       false},
      {"--no-baselines", "", "do not time torch.compile and TF32 beside eager", "", {}, false, false},
      devices_option(),
      {"--allow-busy", "", "go on although other processes keep the GPU busy", "", {}, false, false},
      {"--oracle-fd",
       "FD",
       "the calling Python process holds the module (solstice.optimize uses this)",
       "",
       {},
       false,
       false},
  };
  const std::vector<Parameter> stops = stop_parameters(), agent = agent_parameters();
  out.insert(out.end(), stops.begin(), stops.end());
  out.insert(out.end(), agent.begin(), agent.end());
  out.push_back(json_flag());
  return out;
}

}  // namespace

extern const Command solstice_commands_optimize;
const Command solstice_commands_optimize = {
    .name = "optimize",
    .summary = "Make a PyTorch module faster: verified, measured kernels behind the same forward",
    .help =
        "FILE.py has KernelBench's format (Model, get_inputs, get_init_inputs) or a module class with example inputs; "
        "`:Class` picks one of several. Writes report.md, report.json, program.ucut, plan.json with its cubins and, "
        "when "
        "something is faster, model_new.py below DIR. When nothing is faster it says why and exits 0. Ctrl-C ends "
        "the search: the best so far is verified and reported, and the exit code is 130; a second one ends at once. "
        "Other exit "
        "codes: 2 the input is wrong or too large, 3 this machine lacks something (GPU, driver, disk space) or is "
        "busy, 70 a bug; where a language model's provider fails, what there is is verified and reported all the same, "
        "and the exit code is that of its error. "
        "An earlier outcome in DIR stays whole unless a new one replaces it: a run that fails, or is stopped before a "
        "candidate is found, leaves it alone, and what a kill cuts short the next run finishes. Other files in DIR are "
        "never replaced or removed. Without --out the outcome goes to runs/NAME, or to runs/NAME-2 and so on where "
        "that holds the outcome of another file or class; a DIR that is named is used for any. Without a GPU times are "
        "predicted (--device model), and every report says so.",
    .example = "solstice optimize examples/linear_gelu.py --budget 60s,40trials",
    .parameters = optimize_parameters(),
    .run = run_optimize,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
