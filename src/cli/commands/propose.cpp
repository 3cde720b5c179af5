// solstice propose: candidates to be measured on another machine.
#include <fmt/format.h>

#include "base/process/interrupt.h"
#include "cli/agent_options.h"
#include "cli/command.h"
#include "cli/exit_codes.h"
#include "cli/named_module.h"
#include "cli/progress.h"
#include "cli/stop_options.h"
#include "cli/values.h"
#include "flow/batch/batch.h"
#include "flow/run/problem/written.h"

namespace solstice::cli {
namespace {

// A file is a new run, anything else names one.
bool names_file(const std::string& subject) {
  return flow::is_program(subject) || subject.find(".py") != subject.npos || subject.find(':') != subject.npos;
}

Status read_subject(const Invocation& in, flow::OptimizeOptions& out) {
  const std::string& subject = in.get("RUN");
  out.left_out = in.left_out;
  if (subject.empty())
    return fail(
        Code::bad_argument,
        "RUN is empty; it takes a run of the store, `last`, or a file for a new one (`solstice show` lists runs)");
  SOLSTICE_TRY(out.module.mode, mode_of(in));
  if (!names_file(subject) && in.has("--of"))
    return fail(Code::bad_argument, "--of names the module that a program computes, and no program was given",
                "name it: `solstice propose PROGRAM.ucut --of FILE.py`; a run that goes on has its own");
  if (!names_file(subject)) {
    out.resume = subject;
    out.left_out.insert("FILE");
  } else {
    SOLSTICE_TRY(out.module, named_problem(subject, in));
  }
  out.terms.numerics = in.get("--numerics");
  out.terms.frozen = in.get("--weights") == "frozen";
  out.terms.rewrites = in.get("--rewrites");
  out.search.memory = in.get("--memory") == "on";
  out.search.findings = in.get("--findings") == "on";
  out.place.machine = in.get("--machine");
  return success();
}

Result<flow::ProposeOptions> propose_options(const Invocation& in) {
  flow::ProposeOptions out;
  SOLSTICE_CHECK(read_subject(in, out.run));
  SOLSTICE_TRY(out.run.agent, agent_choice(in));
  SOLSTICE_TRY(out.run.search.trials, parse_int("--trials", in.get("--trials"), 1, 1000000));
  SOLSTICE_CHECK(read_stop_rule(in, out.run));
  SOLSTICE_TRY(const int seed, parse_int("--seed", in.get("--seed"), 0, 1000000000));
  out.run.search.seed = static_cast<uint64_t>(seed);
  out.run.search.policy = in.get("--policy");
  out.run.store = in.get("--store");
  out.run.place.device = "model";
  out.run.place.detached = true;
  out.run.command = in.argv;
  SOLSTICE_TRY(out.count, parse_int("--batch", in.get("--batch"), 1, 1000));
  out.out = std::filesystem::path(in.get("--out"));
  if (!out.out.empty() && !out.out.has_filename()) out.out = out.out.parent_path();  // "batch1/"
  out.again = in.flag("--again");
  out.give_up = in.flag("--give-up");
  if (out.again && out.give_up)
    return fail(Code::bad_argument, "--again waits for what is in flight, --give-up does not: give one");
  return out;
}

std::string proposed_text(const flow::ProposeOutcome& done) {
  std::string out = fmt::format("run {}: {} candidate{}", done.run, done.candidates, done.candidates == 1 ? "" : "s");
  if (!done.folder.empty())
    out += fmt::format(" in {}\n  solstice evaluate {}", done.folder.string(), done.folder.string());
  if (!done.why.empty()) out += fmt::format("\n{}", done.why);
  if (done.skipped > 0) out += fmt::format("\n{} skipped: no gain expected", done.skipped);
  return out;
}

Result<int> run_propose(const Invocation& in) {
  SOLSTICE_TRY(const flow::ProposeOptions options, propose_options(in));
  const std::unique_ptr<Progress> progress = progress_of(in);
  SOLSTICE_TRY(const flow::ProposeOutcome done, flow::propose_batch(options, *progress));
  if (in.json()) {
    fmt::print("{}\n", Json::object()
                           .set("run", done.run)
                           .set("folder", done.folder.string())
                           .set("candidates", done.candidates)
                           .set("in_flight", done.in_flight)
                           .set("why", done.why)
                           .set("over", done.over)
                           .set("skipped", done.skipped)
                           .dump(2));
  } else {
    fmt::print("{}\n", proposed_text(done));
  }
  return code_of_search(interrupted(), done.agent_failed);
}

std::vector<Parameter> propose_parameters() {
  std::vector<Parameter> out = {
      {"RUN",
       "",
       "a run of the store, `last`, or for a new run FILE.py (optionally :NAME), or PROGRAM.ucut with --of",
       "",
       {},
       true,
       false},
      {"--of",
       "FILE",
       "of PROGRAM.ucut: the module that it computes, as FILE.py or FILE.py:NAME",
       "",
       {},
       false,
       false},
      eval_flag(),
      train_flag(),
      {"--batch", "N", "candidates to propose", "4", {}, false, false},
      {"--out", "DIR", "output folder [default: batch-ID]", "", {}, false, false},
      {"--trials", "N", "trials of the whole run; a continued run keeps its number", "40", {}, false, false},
      {"--again", "", "write the candidates that are still out again, and no new ones", "", {}, false, false},
      {"--give-up",
       "",
       "do not wait for candidates that are still out; a late result is still accepted",
       "",
       {},
       false,
       false},
      {"--machine", "NAME", "new run: machine to optimise for", "h200", {}, false, false},
      {"--numerics", "POLICY", "of a new run", "reference", {"reference", "high", "medium"}, false, false},
      {"--weights", "MODE", "of a new run", "live", {"live", "frozen"}, false, false},
      {"--rewrites",
       "WHICH",
       "new run: also try algebraically rewritten equations; strict: only those that keep NaN and infinities",
       "on",
       {"on", "strict", "off"},
       false,
       false},
      {"--memory", "WHICH", "new run: order moves by their gains in other problems", "on", {"on", "off"}, false, false},
      {"--findings",
       "WHICH",
       "new run: try first what findings of a candidate advise",
       "on",
       {"on", "off"},
       false,
       false},
      {"--policy",
       "POLICY",
       "search policy (`solstice list policies`) [default: the run's, else greedy]",
       "",
       {},
       false,
       false},
      {"--seed", "SEED", "seed of the policy", "1", {}, false, false},
      {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
  };
  const std::vector<Parameter> stops = stop_parameters(), agent = agent_parameters();
  out.insert(out.end(), stops.begin(), stops.end());
  out.insert(out.end(), agent.begin(), agent.end());
  out.push_back(quiet_flag());
  out.push_back(json_flag());
  return out;
}

}  // namespace

extern const Command solstice_commands_propose;
const Command solstice_commands_propose = {
    .name = "propose",
    .summary = "Write a batch of candidates to be measured on another machine",
    .help =
        "Writes a folder for `solstice evaluate` on a machine with a GPU; `solstice absorb` adds the results to "
        "the run, and `solstice propose RUN` writes the next batch. The run store records every proposed "
        "candidate first, so a folder that returns late, twice or never loses nothing and counts nothing twice. "
        "The module has to be a single file; it is copied into the folder.",
    .example = "solstice propose examples/mlp.py --batch 8 --out batch1",
    .parameters = propose_parameters(),
    .run = run_propose,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
