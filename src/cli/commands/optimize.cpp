// solstice optimize: the main job.
#include "flow/run/optimize.h"

#include <fmt/format.h>

#include "cli/agent_options.h"
#include "cli/command.h"
#include "cli/devices.h"
#include "cli/exit_codes.h"
#include "cli/named_module.h"
#include "cli/progress.h"
#include "cli/stop_options.h"
#include "cli/values.h"
#include "diagnose/external.h"
#include "flow/run/problem/written.h"
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
  out.search.timed = given.seconds.has_value();
  out.search.trials = budget.trials;
  if (!given.seconds) out.left_out.insert("--budget");
  if (!given.trials) out.left_out.insert("--trials");
  return success();
}

constexpr Seconds kCounterTime{30};  // of a trial: a search has many

Result<flow::OptimizeOptions> optimize_options(const Invocation& in) {
  flow::OptimizeOptions options;
  if (in.has("--of") && !in.has("FILE"))
    return fail(Code::bad_argument, "--of names the module that a program computes, and no program was given",
                "name it: `solstice optimize PROGRAM.ucut --of FILE.py`; a run that goes on has its own");
  if (in.has("FILE")) {
    SOLSTICE_TRY(options.module, named_problem(in.get("FILE"), in));
  }
  SOLSTICE_TRY(options.module.mode, mode_of(in));
  options.module.name = in.get("--name");
  if (in.has("--oracle-fd")) {
    SOLSTICE_TRY(options.module.oracle_fd, parse_int("--oracle-fd", in.get("--oracle-fd"), 0, 1 << 20));
  } else if (!in.has("FILE") && !in.has("--resume")) {
    return fail(Code::bad_argument, "no FILE was given",
                "`solstice optimize FILE.py`, `solstice optimize PROBLEM.ucut`, or --resume RUN");
  }
  SOLSTICE_TRY(options.agent, agent_choice(in));
  options.left_out = in.left_out;
  SOLSTICE_CHECK(read_budget(in, options));
  options.place.device = in.get("--device");
  options.place.machine = in.get("--machine");
  options.terms.numerics = in.get("--numerics");
  options.terms.frozen = in.get("--weights") == "frozen";
  options.terms.rewrites = in.get("--rewrites");
  options.search.memory = in.get("--memory") == "on";
  options.search.findings = in.get("--findings") == "on";
  options.diagnosis.counters = in.get("--counters") == "auto";
  if (in.has("--tool")) {
    SOLSTICE_TRY(std::unique_ptr<diagnose::Tool> tool, diagnose::tool_named(in.get("--tool")));
    options.diagnosis.tools.push_back(std::move(tool));
  }
  options.diagnosis.counter_time = kCounterTime;
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
  const std::unique_ptr<Progress> progress = progress_of(in);
  SOLSTICE_TRY(const flow::OptimizeOutcome outcome, flow::optimize(options, *progress));
  const int done = code_of_search(outcome.interrupted, outcome.failed);
  const bool lacking = in.flag("--require-faster") && outcome.report.outcome != RunOutcome::kFaster;
  const int code = done == 0 && lacking ? kNotFasterCode : done;
  if (in.json()) {
    Json body = Json::object().set("out", outcome.out.string()).set("report", to_json(outcome.report));
    const Json why = text_list(outcome.why);
    if (!outcome.why.empty()) body.set("why", why);
    fmt::print("{}\n", body.dump(2));
    return code;
  }
  fmt::print("{}\n", flow::headline_text(outcome.report));
  if (!outcome.mode_note.empty())
    fmt::print("{}{}\n", outcome.mode_note, outcome.training ? "; for inference give --eval" : "");
  if (in.flag("--why")) {
    for (const std::string& reason : outcome.why) fmt::print("  why: {}\n", reason);
  } else if (!outcome.why.empty()) {
    fmt::print("  --why lists the reason of every kernel family\n");
  }
  if (outcome.report.original == flow::kWrittenOriginal)
    fmt::print("the original: {} ({})\n", outcome.report.original, (outcome.out / "problem.py").string());
  fmt::print("report: {}\n", (outcome.out / "report.md").string());
  if (flow::is_program(outcome.report.file) && !outcome.report.program.empty())
    fmt::print("program: {}\n", (outcome.out / "program.ucut").string());
  if (outcome.report.outcome == RunOutcome::kFaster) {
    fmt::print("drop-in: {}\n", (outcome.out / "model_new.py").string());
  }
  if (outcome.interrupted && outcome.report.parts.empty())  // a run of parts cannot continue
    fmt::print("continue with: solstice optimize --resume {}{}\n", outcome.report.run,
               in.has("--store") ? " --store " + in.get("--store") : "");
  if (code == kNotFasterCode)
    fmt::print("exit code {}: --require-faster asks for `faster`, and the outcome is `{}`\n", code,
               enum_name(outcome.report.outcome));
  return code;
}

std::vector<Parameter> optimize_parameters() {
  std::vector<Parameter> out = {
      {"FILE",
       "",
       std::string(kModuleHelp) + ". Or PROBLEM.ucut, a program of equations. May be left out with --resume",
       "",
       {},
       false,
       false},
      {"--of",
       "FILE",
       "of PROBLEM.ucut: the module that it computes, as FILE.py or FILE.py:NAME; it gives inputs, the float64 oracle "
       "and the original",
       "",
       {},
       false,
       false},
      eval_flag(),
      train_flag(),
      device_option(),
      machine_option(),
      {"--numerics",
       "POLICY",
       "reference: in the class of PyTorch's own result; high: TF32 class; medium: bf16 class",
       "reference",
       {"reference", "high", "medium"},
       false,
       false},
      {"--rewrites",
       "WHICH",
       "also try algebraically rewritten equations; strict: only by rewrites that keep NaN and infinities",
       "on",
       {"on", "strict", "off"},
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
       "time, number of trials, or both (60s, 5m, 40trials) [default: 60s,40trials; with --agent 60m,40trials]",
       "",
       {},
       false,
       false},
      {"--name", "NAME", "name of the run in reports [default: that of FILE]", "", {}, false, false},
      {"--out", "DIR", "output folder [default: runs/NAME]", "", {}, false, false},
      {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
      {"--policy", "POLICY", "search policy (`solstice list policies`) [default: greedy]", "", {}, false, false},
      {"--seed", "SEED", "seed of the policy", "1", {}, false, false},
      {"--memory", "WHICH", "order moves by their gains in other problems", "on", {"on", "off"}, false, false},
      {"--findings", "WHICH", "try first what findings of a candidate advise", "on", {"on", "off"}, false, false},
      {"--counters",
       "WHICH",
       "auto: hardware counters, by ncu, of trials within 1.25 times of the best; takes seconds a trial",
       "off",
       {"auto", "off"},
       false,
       false},
      {"--tool", "TOOL", "an executable of yours that diagnoses trials too: command:PROGRAM", "", {}, false, false},
      {"--resume",
       "RUN",
       "run of the store to continue; `last` is the newest that did not fail before its search. Options that "
       "are not given are those of the run: FILE, device, machine, numerics, rewrites, weights, memory, findings, "
       "counters, policy, seed, budget (its time starts anew), eps, window, roi, DIR and those of its language model",
       "",
       {},
       false,
       false},
      why_flag(),
      {"--require-faster", "", "exit code 1 unless the outcome is `faster`", "", {}, false, false},
      {"--no-baselines", "", "time only PyTorch eager, not torch.compile and TF32", "", {}, false, false},
      devices_option(),
      {"--allow-busy", "", "measure even if other processes keep the GPU busy", "", {}, false, false},
      {"--oracle-fd",
       "FD",
       "file descriptor of the Python process that holds the module (used by solstice.optimize)",
       "",
       {},
       false,
       false},
  };
  const std::vector<Parameter> stops = stop_parameters(), agent = agent_parameters();
  out.insert(out.end(), stops.begin(), stops.end());
  out.insert(out.end(), agent.begin(), agent.end());
  out.push_back(quiet_flag());
  out.push_back(json_flag());
  return out;
}

}  // namespace

extern const Command solstice_commands_optimize;
const Command solstice_commands_optimize = {
    .name = "optimize",
    .summary = "Make a PyTorch module faster: verified, measured kernels behind the same forward",
    .help =
        "FILE.py has KernelBench's format (Model, get_inputs, get_init_inputs), or a module and example inputs: "
        "get_inputs() or example_inputs of the file, or example_inputs() of the class. They are a list of arguments, a "
        "dict of keyword arguments, or both: `return (x,), {'mask': mask}`. NAME selects one of several modules: "
        "`model = Net().eval()` is FILE.py:model. A file with relative imports is loaded as a part of its package. A "
        "class of an installed package has "
        "no example inputs: write a file that imports it and defines get_inputs(), and get_init_inputs() for its "
        "constructor, and name FILE.py:CLASS. Writes report.md, report.json, program.ucut, plan.json with its cubins "
        "and, if a candidate is faster, model_new.py below DIR.\n"
        "PROBLEM.ucut holds equations that were written by hand (`solstice grammar`). If its "
        "kernels have schedules, their equations are the problem, and the schedule is the first trial. On a GPU they "
        "are verified and timed against an original that is written from the equations: problem.py in DIR, PyTorch "
        "operators one after another (`solstice torch`), and reports say so. Without a GPU or PyTorch, and with "
        "--device model, no Python is started: times are predicted, the outcome is `predicted`, "
        "and in place of a drop-in the folder has program.ucut and, where a compiler is there, plan.json with its "
        "cubins. With --of the module of FILE gives inputs, the float64 oracle and the original, and all is as of a "
        "module: the program's equations have to be its own, or are refused with the difference. Tensors are paired "
        "by their order, parameters by their paths, so that names are free. --machine and --numerics are the program's "
        "own (`target`, `numerics`) where they are not given.\n"
        "The outcome is `faster`; `not faster`, with the reason; `predicted`: nothing was measured, as without a GPU; "
        "`interrupted`; or `unsupported`, with the operator. The exit code of all but `interrupted` is 0, and 1 if "
        "--require-faster asks for `faster`.\n"
        "Ctrl-C ends the search: the best candidate so far is verified and reported, and the exit code is 130; a "
        "second Ctrl-C ends at once. Other exit codes: 2 the input is wrong or too large; 3 this machine lacks "
        "something (GPU, driver, disk space) or is busy; 70 a bug. If the provider of a language model fails, "
        "the best candidate so far is still verified and reported, and the exit code is that of the failure.\n"
        "An earlier result in DIR is replaced only by a complete new one: a run that fails, or that is stopped "
        "before it has a candidate, leaves the old result alone, and a replacement that was cut short by a kill "
        "is finished by the next run. Other files in DIR are never replaced or removed. Without --out the result "
        "goes to runs/NAME, or to runs/NAME-2 and so on if that folder holds the result of another file or "
        "class; a DIR given with --out is always used. Without a GPU times are predicted (--device model), and "
        "every report says so.",
    .example = "solstice optimize examples/linear_gelu.py --budget 60s,40trials",
    .parameters = optimize_parameters(),
    .run = run_optimize,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
