#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/batch/batch.h"
#include "flow/batch/files.h"
#include "flow/run/account.h"
#include "flow/run/agent/handover.h"
#include "flow/run/begin.h"
#include "flow/run/resolve.h"
#include "flow/run/resume.h"
#include "flow/run/stages/prepare/plan.h"
#include "flow/run/stages/search/brief.h"
#include "flow/run/stages/search/budget.h"
#include "flow/run/stages/search/given.h"
#include "flow/run/stages/search/restore.h"
#include "flow/run/state/build_identity.h"
#include "flow/run/state/closing.h"
#include "flow/run/state/commands.h"
#include "flow/run/state/engine.h"
#include "flow/run/state/stored_runs.h"
#include "ir/opaque.h"
#include "search/attempt.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNoMoves = "there are no further moves";
constexpr const char* kPolicyEnded = "moves are left, but the policy asks for none of them";

// Values of the stages before the first proposal.
struct ProposeStages {
  Opened opened;
  Imported imported;
  Bounds bounds;
  Planned planned;
};

// Proposes until there are `count` more, or nobody has anything; says why there are not more.
class Round {
 public:
  Round(Run& run, const ProposeStages& at) : run_(run), at_(at), policy_(*run.policy) {}

  Result<std::string> make(int count) {
    SOLSTICE_CHECK(add_given());
    if (!run_.agent) SOLSTICE_CHECK(open_nodes_again(run_));
    SOLSTICE_CHECK(count_results());
    while (made_ < count) {
      if (run_.tree.trials() >= run_.options.search.trials)
        return over(fmt::format("the run has used its {} trials", run_.options.search.trials));
      if (!by_agent_ && is_agents_turn()) SOLSTICE_CHECK(hand_over());
      if (interrupted()) return std::string("interrupted");
      if (enough_ && ends_the_run(*enough_)) return over(text_of(*enough_));
      if (enough_) {
        SOLSTICE_CHECK(hand_over());
        continue;
      }
      SOLSTICE_TRY(const bool more, step());
      if (agent_failed_) return agent_failed_->text();
      if (more) continue;
      if (by_agent_ || !run_.agent) return why_not_more();
      SOLSTICE_CHECK(hand_over());
    }
    return std::string();
  }

  bool is_over() const { return over_; }  // nobody would propose more
  int skipped() const { return skipped_; }
  const std::optional<Error>& agent_failed() const { return agent_failed_; }

 private:
  // A program's own schedule is the first trial of its search.
  Status add_given() {
    if (at_.imported.schedule.empty() || run_.tree.trials() > 0) return success();
    const size_t told = run_.tree.events().size();
    Given given(at_.imported.schedule);
    SOLSTICE_TRY(std::optional<search::Proposal> proposal, given.propose(run_.tree, 0));
    run_.tree.add(std::move(*proposal));
    count();
    return keep_events_since(run_, told);
  }

  std::string why_not_more() {
    if (run_.tree.in_flight() > 0) return "results have to be absorbed first";
    if (!open_nodes(run_.tree).empty()) return over(kPolicyEnded);
    return by_agent_ ? run_.agent->who() + " has no further moves; without --agent the expert goes on" : over(kNoMoves);
  }

  std::string over(std::string why) {
    over_ = true;
    return why;
  }

  search::Budget budget() const {
    return by_agent_ ? agent_budget(run_, yardstick()) : expert_budget(run_, yardstick());
  }
  Yardstick yardstick() const { return {at_.bounds.practical(), {}, at_.opened.gpu}; }

  // Like a search: a model may find more than the expert, unless nothing is left to gain.
  bool ends_the_run(search::Stop stop) const { return by_agent_ || !run_.agent || stop == search::Stop::kNearBound; }

  static std::string text_of(search::Stop stop) {
    return fmt::format("the search stopped ({}); --eps, --window and --roi set when it stops", enum_name(stop));
  }

  bool is_agents_turn() const {
    return run_.agent && (handed_over(run_.tree) || run_.tree.trials() >= *run_.options.agent.terms.expert);
  }

  // False: there is no further move. The expert goes on from what is in flight too, by what its cost models expect.
  Result<bool> step() {
    // A model is told results, so it waits for them.
    if (by_agent_ && run_.tree.in_flight() > made_by_agent_) return false;
    const search::Tree expected = by_agent_ ? run_.tree : as_predicted(run_.tree);
    std::optional<search::Decision> decision = search::open_decision(run_.tree);
    if (!decision) {
      SOLSTICE_TRY(decision, by_agent_ ? run_.agent->policy(policy_).decide(expected) : policy_.decide(expected));
    }
    const size_t told = run_.tree.events().size();
    if (decision) SOLSTICE_CHECK(follow(*decision, expected));
    return run_.tree.events().size() > told;
  }

  static search::Tree as_predicted(search::Tree tree) {
    for (int id = 1; id <= tree.trials(); ++id) {
      const search::Node& node = tree.node(id);
      if (!node.in_flight || node.measurement || node.proposal.predicted.value <= 0) continue;
      search::Measurement expected;
      expected.state = TrialState::kPredicted;
      expected.time = node.proposal.predicted;
      tree.complete(id, std::move(expected));
    }
    return tree;
  }

  Status hand_over() {
    by_agent_ = true;
    SOLSTICE_CHECK(open_nodes_again(run_));
    return count_results();
  }

  // Once for each leader: no result comes in while it proposes.
  Status count_results() {
    SOLSTICE_TRY(enough_, search::has_enough(run_.tree, budget()));
    return success();
  }

  Status follow(const search::Decision& decision, const search::Tree& expected) {
    const size_t told = run_.tree.events().size();
    if (decision.again) {
      if (run_.tree.node(decision.node).in_flight) return success();
      run_.tree.again(decision.node, decision.precision);
      count();
      return keep_events_since(run_, told);
    }
    search::Proposer& proposer = by_agent_ ? run_.agent->proposer() : *at_.planned.expert;
    Result<std::optional<search::Proposal>> answer = proposer.propose(expected, decision.node);
    if (!answer.ok()) return end_at(answer.error());
    const search::Taken taken = search::take(run_.tree, decision, *std::move(answer), budget());
    skipped_ += taken == search::Taken::kSkipped;
    if (taken == search::Taken::kAdded) {
      count();
      const search::Node& added = run_.tree.nodes().back();
      run_.progress.message(fmt::format("attempt {}: {}", added.id, added.proposal.reason));
    }
    return keep_events_since(run_, told);
  }

  void count() {
    ++made_;
    made_by_agent_ += by_agent_;
  }

  // Like in a search, a failing model ends only its own part: earlier proposals exist, and may have been paid for.
  Status end_at(const Error& error) {
    if (!by_agent_ || made_ == 0 || kind_of(error.code) == ErrorKind::kInternal) return error;
    agent_failed_ = error;
    return success();
  }

  Run& run_;
  const ProposeStages& at_;
  search::Policy& policy_;
  std::optional<Error> agent_failed_;
  std::optional<search::Stop> enough_;  // of the results that are there, for who leads
  bool by_agent_ = false, over_ = false;
  int made_ = 0, made_by_agent_ = 0, skipped_ = 0;
};

// The description of the place where its candidates were measured, which is not this one.
void keep_description(Run& run, const RunRecord& record) {
  if (!record.device.empty()) run.report.device = record.device;
  for (const auto& [name, version] : record.versions) run.report.versions[name] = version;
}

Status prepare(Run& run, ProposeStages& at) {
  SOLSTICE_CHECK(keep_transcript(run));
  SOLSTICE_TRY(at.opened, open_place(run));
  SOLSTICE_CHECK(check_place(run, at.opened));
  SOLSTICE_TRY(at.imported, import_problem(run));
  SOLSTICE_TRY(at.bounds, compute_bounds(run, at.opened, at.imported));
  if (run.stored.resumed) keep_description(run, run.stored.resumed->run);
  SOLSTICE_TRY(at.planned, plan_kernels(run, at.opened, at.imported, at.bounds));
  SOLSTICE_CHECK(describe_run(run));  // with the bounds of rewritten equations too: absorb goes by them
  const auto left = [] { return Seconds(1e9); };
  SOLSTICE_CHECK(brief_agent(run, at.opened, at.imported, at.bounds, at.planned, left));
  return restore_tree(run, Seconds(0));
}

std::vector<int> nodes_in_flight(const search::Tree& tree) {
  std::vector<int> out;
  for (const search::Node& node : tree.nodes()) {
    if (node.in_flight) out.push_back(node.id);
  }
  return out;
}

Status write_files(const Run& run, const Batch& batch, const fs::path& folder) {
  for (const BatchCandidate& candidate : batch.candidates) {
    SOLSTICE_CHECK(write_file(program_file(folder, candidate.node), run.tree.node(candidate.node).proposal.program));
  }
  SOLSTICE_CHECK(write_file(folder / batch.file, run.stored.source));  // the run's, whatever the file says by now
  if (!batch.of.empty()) SOLSTICE_CHECK(write_file(folder / batch.of, run.stored.of));
  return write_record_file(folder / "batch.json", batch);
}

Status rename_folder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return success();
  return fail(Code::io_error, fmt::format("cannot rename {} to {}: {}", from.string(), to.string(), error.message()));
}

// Under another name until it is whole.
Status write_batch(const Run& run, const Batch& batch, const fs::path& folder) {
  std::error_code ignored;
  const fs::path part = folder.string() + ".part";
  fs::remove_all(part, ignored);
  Status written = write_files(run, batch, part);
  if (written.ok()) written = rename_folder(part, folder);
  if (written.ok()) return written;
  fs::remove_all(part, ignored);  // the error to tell is the first
  return std::move(written).context(fmt::format("writing a batch that `{} --again` writes as well",
                                                command_to_propose(batch.run, run.options.store)));
}

// "batch-ID", or with a number where there is one already: the same candidates may go out once more.
fs::path free_folder(const std::string& id) {
  const std::string name = "batch-" + id;
  std::error_code error;
  fs::path out = name;
  for (int i = 2; fs::exists(out, error); ++i) out = fmt::format("{}-{}", name, i);
  return out;
}

Batch batch_of(const Run& run, const machine::Machine& machine, const std::vector<int>& nodes) {
  Batch out;
  out.id = fmt::format("{}-{}", run.report.run, run.tree.events().size());
  out.run = run.report.run;
  out.problem = run.report.problem;
  out.file = run.options.module.file.filename().string();
  out.of = run.options.module.of.filename().string();
  out.class_name = run.options.module.class_name;
  out.mode = run.options.module.mode;
  out.numerics = run.options.terms.numerics;
  out.frozen = run.options.terms.frozen;
  out.machine = machine.name;
  out.build = build_identity();
  out.created = utc_now();
  for (const int id : nodes) {
    const search::Proposal& proposal = run.tree.node(id).proposal;
    out.candidates.push_back(
        {id, request_of(run.tree, id), hash_hex(proposal.program), proposal.reason, proposal.precision});
  }
  return out;
}

Result<ProposeOutcome> propose_in(Run& run, const ProposeOptions& options, ProposeStages& at) {
  SOLSTICE_CHECK(prepare(run, at));
  ProposeOutcome out;
  out.run = run.report.run;
  const std::vector<int> before = nodes_in_flight(run.tree);
  if (options.give_up) {
    const size_t told = run.tree.events().size();
    for (const int id : before) run.tree.lose(id);
    SOLSTICE_CHECK(keep_events_since(run, told));
  }
  if (!options.again) {
    Round round(run, at);
    SOLSTICE_TRY(out.why, round.make(options.count));
    out.over = round.is_over();
    out.skipped = round.skipped();
    out.agent_failed = round.agent_failed();
  } else if (before.empty()) {
    out.why = "no candidate is still out, so --again has nothing to write";
  }
  std::vector<int> nodes = nodes_in_flight(run.tree);
  out.in_flight = static_cast<int>(nodes.size());
  if (!options.again && !options.give_up)
    std::erase_if(nodes, [&](int id) { return std::find(before.begin(), before.end(), id) != before.end(); });
  out.candidates = static_cast<int>(nodes.size());
  if (nodes.empty()) return out;
  const Batch batch = batch_of(run, at.opened.machine, nodes);
  out.folder = options.out.empty() ? free_folder(batch.id) : options.out;
  SOLSTICE_CHECK(write_batch(run, batch, out.folder));
  return out;
}

std::string reason_after(const Run& run, const ProposeOutcome& done) {
  const std::string waiting = waiting_for(run.report.run, done.in_flight, run.options.store);
  if (done.in_flight > 0 || done.why.empty()) return waiting;
  if (!done.over) return done.why + "; " + waiting;
  return fmt::format("{}; `{}` where the GPU is verifies the best and ends the run", done.why,
                     command_to_optimize(run.report.run, run.options.store));
}

// Nothing came of it, and there is nothing new to say of the results that the run waits for.
bool leaves_as_it_was(const Run& run, const ProposeOptions& options) {
  if (!run.stored.resumed || run.tree.in_flight() > 0) return false;
  if (run.tree.events().size() > run.stored.resumed->events.size()) return false;
  return options.again || run.stored.resumed->run.state != RunState::kWaiting;
}

// Leaves the run's state in the store.
Status close_run(Run& run, const ProposeOptions& options, const Result<ProposeOutcome>& done) {
  const bool waits = run.tree.in_flight() > 0;
  const Report& report = run.report;
  store::Store& store = *run.stored.store;
  if (!done.ok()) {
    const RunState how = waits ? RunState::kWaiting : RunState::kFailed;
    return told_after(done.error(), store.stop_run(report.run, how, done.error().message, account_of(report)));
  }
  const RunState how = interrupted() && !waits ? RunState::kInterrupted : RunState::kWaiting;
  if (leaves_as_it_was(run, options)) return store.stop_run(report.run, how, "", account_of(report));
  return store.finish_run(report.run, how, RunOutcome::kNone, reason_after(run, *done),
                          summary_of(report, Seconds(0), std::nullopt));
}

// A batch has candidates of one program. The stages of a module that is cut are programs of their own, each with
// inputs that PyTorch's calls make, and verified together.
Error refused(Error error) {
  const size_t way = error.hint.find(ir::kRunByPyTorch);
  if (way == std::string::npos) return error;
  error.hint.resize(way);
  error.hint +=
      "PyTorch can run it, but a batch holds candidates of a whole module: `solstice optimize`, where the GPU is, "
      "leaves such calls to PyTorch, and optimises the parts of the module around them";
  return error;
}

}  // namespace

Result<ProposeOutcome> propose_batch(const ProposeOptions& options, Progress& progress) {
  std::error_code error;
  if (!options.out.empty() && fs::exists(options.out, error)) {
    return fail(Code::bad_argument, fmt::format("{} exists: a batch is a folder of its own", options.out.string()));
  }
  SOLSTICE_TRY(ResolvedRun resolved, resolve_run(options.run));
  Engine engine;
  Run run(std::move(resolved.options), std::move(resolved.stored), progress, engine.parts());
  SOLSTICE_CHECK(open_leaders(run));
  begin_report(run);
  SOLSTICE_CHECK(begin_run(run));
  ProposeStages at;
  Result<ProposeOutcome> done = propose_in(run, options, at);
  if (!done.ok()) done = refused(done.error());
  account_for_agent(run);
  SOLSTICE_CHECK(close_run(run, options, done));
  return done;
}

}  // namespace solstice::flow
