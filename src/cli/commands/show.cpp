// solstice show: runs of the store.
#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "cli/command.h"
#include "cli/harmless.h"
#include "cli/named_store.h"
#include "cli/named_trial.h"
#include "cli/values.h"
#include "cli/view/run_page.h"
#include "cli/view/run_tree.h"
#include "cli/view/run_view.h"
#include "cli/view/table.h"
#include "cli/view/trial_list.h"
#include "cli/view/trial_page.h"
#include "flow/run/agent/agent_choice.h"
#include "flow/run/report/report_text.h"
#include "search/counts.h"
#include "store/store.h"

namespace solstice::cli {
namespace {

// Of a run that was stopped what it came to, where it came to anything.
std::string outcome(const RunRecord& run) {
  const bool kept = run.state == RunState::kInterrupted && run.outcome != RunOutcome::kNone;
  if (run.state != RunState::kFinished && !kept) return enum_name(run.state);
  return run.outcome == RunOutcome::kFaster && kept ? "faster, interrupted" : enum_name(run.outcome);
}

std::string first_line(const std::string& text) { return clip(text.substr(0, text.find('\n')), 60); }

constexpr int kListed = 50;
constexpr int kAllRuns = 1000000;

// Of the runs that the options choose. A damaged one is among the failed, and of no problem.
bool is_wanted(const store::ListedRun& listed, const Invocation& in) {
  if (in.has("--problem") && !(listed.run.ok() && listed.run->problem == in.get("--problem"))) return false;
  return !in.flag("--failed") || !listed.run.ok() || listed.run->state == RunState::kFailed;
}

std::string nothing_listed(const Invocation& in) {
  const std::string of = in.has("--problem") ? fmt::format(" of `{}`", harmless(in.get("--problem"))) : "";
  if (in.flag("--failed")) return fmt::format("no run{} failed", of);
  return of.empty() ? "no runs yet" : "no run" + of;
}

// Newest first.
Result<std::vector<store::ListedRun>> listed_runs(store::Store& store, const Invocation& in) {
  int limit = kListed;
  if (in.has("--limit")) {
    SOLSTICE_TRY(limit, parse_int("--limit", in.get("--limit"), 1, kAllRuns));
  }
  if (!in.flag("--failed") && !in.has("--problem")) return store.list(limit);
  SOLSTICE_TRY(std::vector<store::ListedRun> runs, store.list(kAllRuns));
  std::erase_if(runs, [&](const store::ListedRun& run) { return !is_wanted(run, in); });
  if (runs.size() > static_cast<size_t>(limit)) runs.erase(runs.begin() + limit, runs.end());
  return runs;
}

Status show_list(store::Store& store, const Invocation& in) {
  const bool json = in.json();
  SOLSTICE_TRY(const std::vector<store::ListedRun> runs, listed_runs(store, in));
  Json all = Json::array();
  std::vector<std::vector<std::string>> rows = {{"run", "problem", "outcome", "device", "speedup", "reason"}};
  std::string damage;
  for (const store::ListedRun& listed : runs) {
    if (!listed.run.ok()) {
      const std::string& why = listed.run.error().message;
      all.push(Json::object().set("id", listed.id).set("damaged", why));
      rows.push_back({listed.id, "-", "damaged", "-", "-", "see below"});
      damage += harmless_lines(why) + "\n";
      continue;
    }
    const RunRecord& run = *listed.run;
    all.push(to_json(run));
    const double speedup = run.summary.at("speedup").as_double();
    rows.push_back({run.id, clip(run.problem, 32), outcome(run), run.device, speedup > 0 ? show_factor(speedup) : "-",
                    first_line(run.reason)});
  }
  if (json) {
    fmt::print("{}\n", all.dump(2));
  } else if (runs.empty()) {
    fmt::print("{} in {}\n", nothing_listed(in), store.folder().string());
  } else {
    fmt::print("{}{}{}", table(rows), damage.empty() ? "" : "\n", damage);
  }
  return success();
}

// Where the time goes and what bounds it are on its first page.
std::string report_of(const RunRecord& run) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(run.folder) / "report.md", ignored) ? " (report.md)" : "";
}

Status print_run(const RunRecord& run) {
  SOLSTICE_TRY(const flow::AgentTerms terms, flow::terms_of(run));
  const std::string& agent = run.options.at("agent").as_string();
  const std::string reason = run.reason.empty() ? "" : ": " + harmless_lines(run.reason);
  fmt::print("run      {}\nproblem  {}\noutcome  {}{}\n", run.id, harmless(run.problem), outcome(run), reason);
  fmt::print("machine  {} ({})\nstarted  {}\nfinished {}\n", harmless(run.machine), harmless(run.device), run.started,
             run.finished);
  if (!run.folder.empty()) fmt::print("folder   {}{}\n", harmless(run.folder), report_of(run));
  if (!run.command.empty())
    fmt::print("command  {}\n", harmless_lines(flow::shell_text(run.working_folder, run.command)));
  if (!agent.empty()) fmt::print("agent    {}\n", harmless(agent + " " + terms.text()));
  for (const auto& [what, version] : run.versions) fmt::print("  {} {}\n", what, version);
  return success();
}

// Of a run from before searches were stored its records are all that is known.
TrialCounts counts_of(const store::LoadedRun& loaded) {
  const Result<RunView> view = view_of(loaded);
  return view.ok() ? search::counts_of(view->tree) : TrialCounts{.done = static_cast<int>(loaded.trials.size())};
}

Result<int> show_trial(const store::LoadedRun& loaded, const std::string& number, bool json) {
  SOLSTICE_TRY(const TrialRecord trial, trial_named(loaded, number));
  fmt::print("{}", json ? trial_page_json(loaded, trial).dump(2) + "\n" : trial_page(loaded, trial));
  return 0;
}

Result<int> show_failed(const store::LoadedRun& loaded, const Invocation& in) {
  const std::vector<TrialRecord> failed = failed_trials(loaded.trials);
  if (in.json()) {
    Json out = Json::array();
    for (const TrialRecord& trial : failed) out.push(to_json(trial));
    fmt::print("{}\n", out.dump(2));
  } else if (failed.empty()) {
    fmt::print("no trial of run {} failed\n", loaded.run.id);
  } else {
    fmt::print("{}", failed_text(failed, in.get("RUN")));
  }
  return 0;
}

// Of a module that was cut: each stage is a search, and a run of its own.
bool has_parts(const RunRecord& run) { return run.summary.at("parts").size() > 0; }

Result<int> show_stages(store::Store& store, const RunRecord& run) {
  SOLSTICE_TRY(const std::vector<store::ListedRun> all, store.list(kAllRuns));
  std::vector<std::vector<std::string>> rows = {{"run", "stage", "outcome", "reason"}};
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    if (!each->run.ok() || each->run->options.at("part_of").as_string() != run.id) continue;
    rows.push_back({each->id, harmless(each->run->problem), outcome(*each->run), first_line(each->run->reason)});
  }
  fmt::print("\nthe module was cut, and its trials are those of its stages' runs:\n{}", table(rows));
  return 0;
}

Status show_tree(const RunView& view, const Invocation& in) {
  if (in.json()) {
    fmt::print("{}\n", json_of(view, false).dump(2));
    return success();
  }
  TreeLook look = look_for(stdout);
  look.only_usable = in.flag("--only-usable");
  if (in.has("--depth")) {
    SOLSTICE_TRY(look.depth, parse_int("--depth", in.get("--depth"), 0, 1000000));
  }
  fmt::print("{}", tree_text(view, look));
  return success();
}

Result<int> show_search(const store::LoadedRun& loaded, const Invocation& in) {
  SOLSTICE_TRY(const RunView view, view_of(loaded));
  if (in.has("--html")) {
    SOLSTICE_CHECK(write_file(in.get("--html"), page_of(view)));
    if (!in.has("--tree")) {
      if (in.json()) fmt::print("{}\n", Json::object().set("page", in.get("--html")).dump(2));
      if (!in.json()) fmt::print("page: {}\n", in.get("--html"));
    }
  }
  if (in.has("--tree")) SOLSTICE_CHECK(show_tree(view, in));
  return 0;
}

// An option without the one that it belongs to is an error, not ignored.
Status check_options(const Invocation& in) {
  const bool search = in.has("--tree") || in.has("--html");
  if (search && !in.has("RUN"))
    return fail(Code::bad_argument, "--tree and --html show one run, and none is named", "`solstice show last --tree`");
  if (in.has("--trial") && !in.has("RUN"))
    return fail(Code::bad_argument, "--trial shows one trial of a run, and no run is named",
                fmt::format("`solstice show last --trial {}`", in.get("--trial")));
  if (search + in.has("--trial") + (in.has("RUN") && in.flag("--failed")) > 1)
    return fail(Code::bad_argument,
                "--trial shows one trial, --failed those that failed, --tree and --html the whole run",
                "give one of them");
  if (in.has("RUN") && (in.has("--problem") || !in.left_out.contains("--limit")))
    return fail(Code::bad_argument, "--problem and --limit choose from the list of runs", "leave RUN out");
  for (const char* option : {"--depth", "--only-usable"}) {
    if (in.has(option) && (!in.has("--tree") || in.json())) {
      return fail(Code::bad_argument, fmt::format("{} goes with the text of --tree", option));
    }
  }
  return success();
}

Result<int> run_show(const Invocation& in) {
  SOLSTICE_CHECK(check_options(in));
  SOLSTICE_TRY(store::Store store, named_store(in));
  SOLSTICE_CHECK(store.close_abandoned());
  if (!in.has("RUN")) {
    SOLSTICE_CHECK(show_list(store, in));
    return 0;
  }
  SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(in.get("RUN")));
  if (in.has("--trial")) return show_trial(loaded, in.get("--trial"), in.json());
  if (in.flag("--failed")) return show_failed(loaded, in);
  if (in.has("--tree") || in.has("--html")) return show_search(loaded, in);
  if (in.json()) {
    Json trials = Json::array();
    for (const TrialRecord& trial : loaded.trials) trials.push(to_json(trial));
    Json body = Json::object().set("run", to_json(loaded.run)).set("trials", trials);
    fmt::print("{}\n", body.set("counts", to_json(counts_of(loaded))).dump(2));
    return 0;
  }
  SOLSTICE_CHECK(print_run(loaded.run));
  if (has_parts(loaded.run)) return show_stages(store, loaded.run);
  fmt::print("\n{}\n{}", trials_table(loaded.trials),
             closing_line(counts_of(loaded), failed_trials(loaded.trials).size(), in.get("RUN")));
  return 0;
}

}  // namespace

extern const Command solstice_commands_show;
const Command solstice_commands_show = {
    .name = "show",
    .summary = "Print the runs in the store, or one run with its trials",
    .help =
        "RUN is an id, a prefix of one, or `last`: the newest run that did not fail before its search. Without "
        "RUN the newest runs are listed, 50 if --limit does not say otherwise; a run with an unreadable record is "
        "listed as `damaged`. The page of a run lists its trials, and its report.md has where the time goes. The tree "
        "has "
        "one line per node: its number, state, time, speedup over the original, and the move that created it. "
        "The page adds each node's program, changes, verdict and timing samples, the best so far and the time "
        "line; it is one self-contained file.",
    .example = "solstice show last --tree",
    .parameters =
        {{"RUN", "", "run to print", "", {}, false, false},
         {"--problem", "NAME", "list only runs of this problem, by its name in the list", "", {}, false, false},
         {"--failed",
          "",
          "with RUN: its failed trials, with all that was said about each; else: list only runs that failed, or whose "
          "record is damaged",
          "",
          {},
          false,
          false},
         {"--limit", "N", "runs to list", std::to_string(kListed), {}, false, false},
         {"--trial",
          "N",
          "print one trial: what it changed, its verdict, times, resources and program",
          "",
          {},
          false,
          false},
         {"--tree", "", "print the search tree, one line per node; as JSON with --json", "", {}, false, false},
         {"--depth", "N", "depth to which the tree is printed; deeper nodes are counted", "", {}, false, false},
         {"--only-usable", "", "omit failures without usable descendants from the tree", "", {}, false, false},
         {"--html", "FILE", "write the run as one page for a browser", "", {}, false, false},
         {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
         json_flag()},
    .run = run_show,
};

}  // namespace solstice::cli
