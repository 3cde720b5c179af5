// solstice propose: candidates to be measured on another machine.
#include <fmt/format.h>

#include "base/process/interrupt.h"
#include "cli/agent_options.h"
#include "cli/command.h"
#include "cli/exit_codes.h"
#include "cli/progress.h"
#include "cli/stop_options.h"
#include "cli/values.h"
#include "flow/batch/batch.h"

namespace solstice::cli {
namespace {

// A file is a new run, anything else names one.
Status read_subject(const Invocation& in, flow::OptimizeOptions& out) {
  const std::string& subject = in.get("RUN");
  out.left_out = in.left_out;
  if (subject.empty())
    return fail(
        Code::bad_argument,
        "RUN is empty; it takes a run of the store, `last`, or FILE.py for a new one (`solstice show` lists runs)");
  if (subject.find(".py") == subject.npos) {
    out.resume = subject;
    out.left_out.insert("FILE");
  } else {
    SOLSTICE_TRY(const FileAndClass file, parse_file_and_class(subject));
    out.module.file = file.file;
    out.module.class_name = file.class_name;
  }
  out.terms.numerics = in.get("--numerics");
  out.terms.frozen = in.get("--weights") == "frozen";
  out.terms.rewrites = in.get("--rewrites") == "on";
  out.search.memory = in.get("--memory") == "on";
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
  const std::unique_ptr<Progress> progress = progress_for(in.json() ? stderr : stdout);
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
      {"RUN", "", "a run of the store, `last`, or FILE.py (and optionally :Class) for a new one", "", {}, true, false},
      {"--batch", "N", "candidates to propose", "4", {}, false, false},
      {"--out", "DIR", "where the batch goes [default: batch-ID]", "", {}, false, false},
      {"--trials", "N", "of the whole run; left out, a run that goes on has its own", "40", {}, false, false},
      {"--again", "", "nothing new: what is in flight, once more", "", {}, false, false},
      {"--give-up",
       "",
       "do not wait for what is in flight; a result that comes after all is still taken",
       "",
       {},
       false,
       false},
      {"--machine", "NAME", "of a new run: what it is to run on", "h200", {}, false, false},
      {"--numerics", "POLICY", "of a new run", "reference", {"reference", "high", "medium"}, false, false},
      {"--weights", "MODE", "of a new run", "live", {"live", "frozen"}, false, false},
      {"--rewrites",
       "WHICH",
       "of a new run: whether rewritten equations are tried too",
       "on",
       {"on", "off"},
       false,
       false},
      {"--memory",
       "WHICH",
       "of a new run: whether what moves gained in other problems orders the search",
       "on",
       {"on", "off"},
       false,
       false},
      {"--policy",
       "POLICY",
       "how the search chooses where to go on [default: the run's, else greedy]",
       "",
       {},
       false,
       false},
      {"--seed", "SEED", "of the policy", "1", {}, false, false},
      {"--store", "DIR", "another run store than the user's", "", {}, false, false},
  };
  const std::vector<Parameter> stops = stop_parameters(), agent = agent_parameters();
  out.insert(out.end(), stops.begin(), stops.end());
  out.insert(out.end(), agent.begin(), agent.end());
  out.push_back(json_flag());
  return out;
}

}  // namespace

extern const Command solstice_commands_propose;
const Command solstice_commands_propose = {
    .name = "propose",
    .summary = "Propose candidates that are measured on another machine",
    .help =
        "Writes a folder that `solstice evaluate` fills in on a machine with a GPU and `solstice absorb` takes back; "
        "then propose the "
        "next. What is proposed is in the store first: a folder that comes back late, twice or never loses nothing and "
        "counts nothing "
        "twice. The module is one file: it is copied into the folder.",
    .example = "solstice propose examples/mlp.py --batch 8 --out batch1",
    .parameters = propose_parameters(),
    .run = run_propose,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
