#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/batch/batch.h"
#include "flow/batch/files.h"
#include "flow/run/state/closing.h"
#include "flow/run/stages/known.h"
#include "flow/run/opening.h"
#include "flow/run/resume.h"
#include "flow/run/state/resume_options.h"
#include "flow/run/state/run.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNoMoves = "there are no further moves";
constexpr const char* kPolicyEnded = "moves are left, but the policy asks for none of them";

// Proposes until there are `count` more, or nobody has anything; says why there are not more.
class Round {
 public:
  Round(Session& state, search::Policy& policy) : state_(state), policy_(policy) {}

  Result<std::string> make(int count) {
    if (!state_.agent) SOLSTICE_CHECK(open_nodes_again(state_));
    while (made_ < count) {
      if (state_.tree.trials() >= state_.options.trials)
        return over(fmt::format("the run has its {} trials", state_.options.trials));
      if (!by_agent_ && is_agents_turn()) SOLSTICE_CHECK(hand_over());
      if (interrupted()) return std::string("interrupted");
      SOLSTICE_TRY(const std::optional<search::Stop> stop, search::has_enough(state_.tree, budget()));
      if (stop && ends_the_run(*stop)) return over(text_of(*stop));
      if (stop) {
        SOLSTICE_CHECK(hand_over());
        continue;
      }
      SOLSTICE_TRY(const bool more, step());
      if (state_.agent_failed) return state_.agent_failed->text();
      if (more) continue;
      if (by_agent_ || !state_.agent) return why_not_more();
      SOLSTICE_CHECK(hand_over());
    }
    return std::string();
  }

  bool is_over() const { return over_; }  // nobody would propose more
  int skipped() const { return skipped_; }

 private:
  std::string why_not_more() {
    if (state_.tree.in_flight() > 0) return "results have to come in first";
    if (!open_nodes(state_.tree).empty()) return over(kPolicyEnded);
    return by_agent_ ? state_.agent->who() + " has no further moves; without --agent the expert goes on"
                     : over(kNoMoves);
  }

  std::string over(std::string why) {
    over_ = true;
    return why;
  }

  search::Budget budget() const { return by_agent_ ? agent_budget(state_) : expert_budget(state_); }

  // As in a search: a model may find more than the expert, but not where nothing is to be gained.
  bool ends_the_run(search::Stop stop) const { return by_agent_ || !state_.agent || stop == search::Stop::kNearBound; }

  static std::string text_of(search::Stop stop) {
    return fmt::format("the search has enough ({}); --eps, --window and --roi say when", enum_name(stop));
  }

  bool is_agents_turn() const {
    return state_.agent && (handed_over(state_.tree) || state_.tree.trials() >= *state_.agent_choice.terms.expert);
  }

  // False: there is no further move. The expert goes on from what is in flight too, by what its cost models expect.
  Result<bool> step() {
    // A model is told results, so it waits for them.
    if (by_agent_ && state_.tree.in_flight() > made_by_agent_) return false;
    const search::Tree expected = by_agent_ ? state_.tree : as_predicted(state_.tree);
    SOLSTICE_TRY(const std::optional<search::Decision> decision, policy_.decide(expected));
    const size_t told = state_.tree.events().size();
    if (decision) SOLSTICE_CHECK(follow(*decision, expected));
    return state_.tree.events().size() > told;
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
    return open_nodes_again(state_);
  }

  Status follow(const search::Decision& decision, const search::Tree& expected) {
    const size_t told = state_.tree.events().size();
    if (decision.again) {
      if (state_.tree.node(decision.node).in_flight) return success();
      state_.tree.again(decision.node, decision.precision);
      count();
      return keep_events_since(state_, told);
    }
    search::Proposer& proposer = by_agent_ ? state_.agent->proposer() : *state_.expert;
    Result<std::optional<search::Proposal>> answer = proposer.propose(expected, decision.node);
    if (!answer.ok()) return end_at(answer.error());
    std::optional<search::Proposal> proposal = *std::move(answer);
    if (!proposal || proposal->program.empty() || state_.tree.contains(proposal->program)) {
      state_.tree.spend(decision.node, std::move(proposal));
      return keep_events_since(state_, told);
    }
    proposal->parent = decision.node;
    proposal->precision = decision.precision;
    if (is_hopeless(state_.tree, *proposal, budget())) {
      state_.tree.skip(std::move(*proposal));
      ++skipped_;
      return keep_events_since(state_, told);
    }
    const std::string reason = proposal->reason;
    state_.tree.add(std::move(*proposal));
    count();
    state_.progress.message(fmt::format("attempt {}: {}", state_.tree.trials(), reason));
    return keep_events_since(state_, told);
  }

  void count() {
    ++made_;
    made_by_agent_ += by_agent_;
  }

  // As in a search, a model that cannot go on ends no more than its part: what was proposed by then is there, and may
  // have been paid for.
  Status end_at(const Error& error) {
    if (!by_agent_ || made_ == 0 || kind_of(error.code) == ErrorKind::kInternal) return error;
    state_.agent_failed = error;
    return success();
  }

  Session& state_;
  search::Policy& policy_;
  bool by_agent_ = false, over_ = false;
  int made_ = 0, made_by_agent_ = 0, skipped_ = 0;
};

// Where its candidates were measured is not where they are proposed.
void keep_description(Session& state) {
  const RunRecord& run = state.resumed->run;
  if (!run.device.empty()) state.report.device = run.device;
  for (const auto& [name, version] : run.versions) state.report.versions[name] = version;
}

Status prepare(Session& state) {
  SOLSTICE_CHECK(keep_transcript(state));
  SOLSTICE_CHECK(start_oracle(state));
  SOLSTICE_CHECK(check_place(state));
  SOLSTICE_CHECK(import_problem(state));
  SOLSTICE_CHECK(compute_bounds(state));
  if (state.resumed) keep_description(state);
  SOLSTICE_CHECK(plan_kernels(state));
  SOLSTICE_CHECK(describe_run(state));  // with the bounds of rewritten equations too: absorb goes by them
  if (state.agent) SOLSTICE_CHECK(state.agent->brief(state));
  return restore_tree(state);
}

std::vector<int> nodes_in_flight(const search::Tree& tree) {
  std::vector<int> out;
  for (const search::Node& node : tree.nodes()) {
    if (node.in_flight) out.push_back(node.id);
  }
  return out;
}

Status write_files(const Session& state, const Batch& batch, const fs::path& folder) {
  for (const BatchCandidate& candidate : batch.candidates) {
    SOLSTICE_CHECK(write_file(program_file(folder, candidate.node), state.tree.node(candidate.node).proposal.program));
  }
  SOLSTICE_CHECK(write_file(folder / batch.file, state.source));  // the run's, whatever the file says by now
  return write_record_file(folder / "batch.json", batch);
}

Status rename_folder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return success();
  return fail(Code::io_error, fmt::format("cannot rename {} to {}: {}", from.string(), to.string(), error.message()));
}

// Under another name until it is whole.
Status write_batch(const Session& state, const Batch& batch, const fs::path& folder) {
  std::error_code ignored;
  const fs::path part = folder.string() + ".part";
  fs::remove_all(part, ignored);
  Status written = write_files(state, batch, part);
  if (written.ok()) written = rename_folder(part, folder);
  if (written.ok()) return written;
  fs::remove_all(part, ignored);  // the error to tell is the first
  return std::move(written).context(fmt::format("writing a batch that `{} --again` writes as well",
                                                command_to_propose(batch.run, state.options.store)));
}

// "batch-ID", or with a number where there is one already: the same candidates may go out once more.
fs::path free_folder(const std::string& id) {
  const std::string name = "batch-" + id;
  std::error_code error;
  fs::path out = name;
  for (int i = 2; fs::exists(out, error); ++i) out = fmt::format("{}-{}", name, i);
  return out;
}

Batch batch_of(const Session& state, const std::vector<int>& nodes) {
  Batch out;
  out.id = fmt::format("{}-{}", state.report.run, state.tree.events().size());
  out.run = state.report.run;
  out.problem = state.report.problem;
  out.file = state.options.file.filename().string();
  out.class_name = state.options.class_name;
  out.numerics = state.options.numerics;
  out.frozen = state.options.frozen;
  out.machine = state.machine->name;
  out.build = build_identity();
  out.created = utc_now();
  for (const int id : nodes) {
    const search::Proposal& proposal = state.tree.node(id).proposal;
    out.candidates.push_back(
        {id, request_of(state.tree, id), hash_hex(proposal.program), proposal.reason, proposal.precision});
  }
  return out;
}

Result<ProposeOutcome> propose_in(Session& state, const ProposeOptions& options) {
  SOLSTICE_CHECK(prepare(state));
  ProposeOutcome out;
  out.run = state.report.run;
  const std::vector<int> before = nodes_in_flight(state.tree);
  if (options.give_up) {
    const size_t told = state.tree.events().size();
    for (const int id : before) state.tree.lose(id);
    SOLSTICE_CHECK(keep_events_since(state, told));
  }
  if (!options.again) {
    Round round(state, *state.chooser);
    SOLSTICE_TRY(out.why, round.make(options.count));
    out.over = round.is_over();
    out.skipped = round.skipped();
    out.agent_failed = state.agent_failed;
  } else if (before.empty()) {
    out.why = "nothing is out that could be sent again";
  }
  std::vector<int> nodes = nodes_in_flight(state.tree);
  out.in_flight = static_cast<int>(nodes.size());
  if (!options.again && !options.give_up)
    std::erase_if(nodes, [&](int id) { return std::find(before.begin(), before.end(), id) != before.end(); });
  out.candidates = static_cast<int>(nodes.size());
  if (nodes.empty()) return out;
  const Batch batch = batch_of(state, nodes);
  out.folder = options.out.empty() ? free_folder(batch.id) : options.out;
  SOLSTICE_CHECK(write_batch(state, batch, out.folder));
  return out;
}

std::string reason_after(const Session& state, const ProposeOutcome& done) {
  const std::string waiting = waiting_for(state.report.run, done.in_flight, state.options.store);
  if (done.in_flight > 0 || done.why.empty()) return waiting;
  if (!done.over) return done.why + "; " + waiting;
  return fmt::format("{}; `{}` where the GPU is verifies the best and ends the run", done.why,
                     command_to_optimize(state.report.run, state.options.store));
}

// Whether nothing came of it, and there is nothing new to say of what the run waits for.
bool leaves_as_it_was(const Session& state, const ProposeOptions& options) {
  if (!state.resumed || state.tree.in_flight() > 0) return false;
  if (state.tree.events().size() > state.resumed->events.size()) return false;
  return options.again || state.resumed->run.state != RunState::kWaiting;
}

// How the run stands now.
Status close_run(Session& state, const ProposeOptions& options, const Result<ProposeOutcome>& done) {
  const bool waits = state.tree.in_flight() > 0;
  const std::string& run = state.report.run;
  if (!done.ok()) {
    const RunState how = waits ? RunState::kWaiting : RunState::kFailed;
    return told_after(done.error(), state.store->stop_run(run, how, done.error().message, account_of(state)));
  }
  const RunState how = interrupted() && !waits ? RunState::kInterrupted : RunState::kWaiting;
  if (leaves_as_it_was(state, options)) return state.store->stop_run(run, how, "", account_of(state));
  return state.store->finish_run(run, how, RunOutcome::kNone, reason_after(state, *done), summary_of(state));
}

}  // namespace

Result<ProposeOutcome> propose_batch(const ProposeOptions& options, Progress& progress) {
  std::error_code error;
  if (!options.out.empty() && fs::exists(options.out, error)) {
    return fail(Code::bad_argument, fmt::format("{} exists: a batch is a folder of its own", options.out.string()));
  }
  OptimizeOptions run = options.run;
  if (!run.resume.empty()) {
    SOLSTICE_TRY(run, as_begun(std::move(run)));
  }
  SOLSTICE_TRY(store::Store store, store_of(run.store));
  Engine engine;
  Session state(run, progress, engine);
  state.measured_elsewhere = true;
  SOLSTICE_CHECK(use_store(state, std::move(store)));
  SOLSTICE_CHECK(choose_run(state));
  begin_report(state);
  SOLSTICE_CHECK(begin_run(state));
  Result<ProposeOutcome> done = propose_in(state, options);
  account_for_agent(state);
  SOLSTICE_CHECK(close_run(state, options, done));
  return done;
}

}  // namespace solstice::flow
