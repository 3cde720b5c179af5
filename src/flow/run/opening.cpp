#include "flow/run/opening.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/version.h"
#include "flow/run/stages/known.h"
#include "flow/run/stages/described.h"
#include "flow/run/state/resume_options.h"
#include "search/make_policy.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

std::string working_folder() {
  std::error_code gone;  // then nothing there can be reproduced
  return fs::current_path(gone).string();
}

// As it was given, without what it holds of keys: reports and exports are shown to others.
std::vector<std::string> without_secrets(const Session& state) {
  const llm::Scrubber environment = llm::secrets_of_environment();
  std::vector<std::string> out;
  for (const std::string& word : state.options.command)
    out.push_back(environment.scrub(state.agent ? state.agent->scrub(word) : word));
  return out;
}

Json bounds_in_seconds(const Report& report) {
  Json out = Json::object();
  for (const Bound& bound : report.bounds) out.set(bound.name, bound.time.value);
  return out;
}

// Accounts of a language model add up.
Json joined_agent(const Json& before, Json now) {
  const Json& accounted = before.at("account");
  if (!accounted.is_object()) return now;
  Json account = now.at("account");
  for (const auto& [what, sum] : accounted.members()) {
    const Json& more = account.at(what);
    account.set(what, more.is_int() && sum.is_int() ? Json(more.as_int() + sum.as_int())
                                                    : Json(more.as_double() + sum.as_double()));
  }
  if (account.at("unpriced").as_int() > 0) account.set("cost", Json());  // the sum of what is known is no cost
  now.set("account", account);
  return now;
}

}  // namespace

std::string name_of_problem(const OptimizeOptions& options) {
  if (!options.problem.empty()) return options.problem;
  return options.file.empty() ? "module" : options.file.stem().string();
}

Result<store::Store> store_of(const fs::path& named) {
  if (!named.empty()) return store::Store::open(named);
  SOLSTICE_TRY(const fs::path usual, store::Store::default_folder());
  return store::Store::open(usual);
}

Result<store::Store> existing_store(const fs::path& named) {
  std::error_code error;
  if (!named.empty() && !fs::exists(named / "runs.db", error)) {
    return fail(Code::not_found, fmt::format("{} is no run store: it has no runs.db", named.string()));
  }
  return store_of(named);
}

std::string problem_key(const std::string& source, const std::string& class_name) {
  return hash_hex(source + class_name);
}

Status open_store(Session& state) {
  SOLSTICE_TRY(store::Store store, store_of(state.options.store));
  return use_store(state, std::move(store));
}

Status use_store(Session& state, store::Store store) {
  state.store.emplace(std::move(store));
  if (!state.options.file.empty()) {
    SOLSTICE_TRY(state.source, read_file(state.options.file));
  }
  state.problem_key = problem_key(state.source, state.options.class_name);
  return success();
}

void begin_report(Session& state) {
  Report& report = state.report;
  report.problem = name_of_problem(state.options);
  report.file = whole_path(state.options.file);
  report.class_name = state.options.class_name;
  report.command = without_secrets(state);
  report.working_folder = working_folder();
  report.created = utc_now();
  report.versions["solstice"] = std::string(version());
  report.options = {{"numerics", state.options.numerics},
                    {"weights", state.options.frozen ? "frozen" : "live"},
                    {"rewrites", state.options.rewrites ? "on" : "off"},
                    {"memory", state.options.memory ? "on" : "off"},
                    {"budget", fmt::format("{:.0f} s, {} trials", state.options.budget.value, state.options.trials)}};
  if (state.agent) report.options["agent"] = state.agent->title();
  if (state.options.gpus.given()) report.options["devices"] = state.options.gpus.text();
}

Status describe_run(Session& state) {
  std::map<std::string, std::string> versions = state.report.versions;
  // Of a run that was measured elsewhere it is the build that measured.
  const bool keeps = state.measured_elsewhere && state.resumed && is_of_gpu(*state.resumed) && versions.count("build");
  if (!keeps) versions["build"] = build_identity();
  const Json bounds = bounds_in_seconds(state.report);
  const Json summary = bounds.size() > 0 ? Json::object().set("bounds", bounds) : Json();
  return state.store->describe_run(state.report.run, state.report.machine, state.report.device, versions, summary);
}

Status identify_object(Session& state) {
  if (!state.options.file.empty()) return success();
  state.problem_key = hash_hex(state.problem->imported.text);
  if (state.resumed && !state.resumed->events.empty() && state.resumed->run.problem_key != state.problem_key)
    return fail(Code::bad_argument, fmt::format("run {} is of another module", state.report.run));
  return state.store->identify_run(state.report.run, state.problem_key);
}

Status open_choices(Session& state) {
  SOLSTICE_TRY(state.chooser, search::make_policy(state.policy, state.options.seed));
  if (!state.agent_choice.wanted()) return success();
  SOLSTICE_TRY(state.agent, AgentSide::open(state.agent_choice,
                                            [&state](const std::string& text) { state.progress.message(text); }));
  return success();
}

Status keep_transcript(Session& state) {
  if (!state.agent) return success();
  // So that a process that is killed leaves what it has spent.
  state.agent->after_each([&state] {
    account_for_agent(state);
    return state.store->keep_summary(state.report.run, account_of(state));
  });
  const int64_t accounted =
      state.resumed ? state.resumed->run.summary.at("agent").at("account").at("attempts").as_int() : 0;
  return state.agent->keep_transcript(state.store->folder() / "transcripts" / (state.report.run + ".jsonl"), accounted);
}

Json summary_of(const Session& state) {
  const Report& report = state.report;
  Json summary = Json::object().set("speedup", report.headline.speedup).set("predicted", report.predicted);
  if (state.eager.value > 0) summary.set("original", state.eager.value);
  const Json bounds = bounds_in_seconds(report);
  if (bounds.size() > 0) summary.set("bounds", bounds);
  if (!report.agent.is_null()) summary.set("agent", report.agent);
  // Who proposes for another machine searches on.
  if ((state.searching || state.tree.trials() > 0) && !state.options.detached)
    summary.set("stop", enum_name(state.stop));
  return summary;
}

void account_for_agent(Session& state) {
  const Json before = state.resumed ? state.resumed->run.summary.at("agent") : Json();
  state.report.agent = state.agent ? joined_agent(before, state.agent->record(state.tree)) : before;
}

Json account_of(const Session& state) {
  return state.report.agent.is_null() ? Json() : Json::object().set("agent", state.report.agent);
}

std::string whole_path(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return path.empty() || error ? path.string() : whole.lexically_normal().string();
}

}  // namespace solstice::flow
