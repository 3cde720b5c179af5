#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/hash.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/batch/batch.h"
#include "flow/batch/standing.h"
#include "flow/run/stages/known.h"
#include "flow/run/state/run.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

// Candidates under way, so that some are compiled while others are measured.
size_t ahead_of(const Session& state) {
  constexpr size_t kEach = 6;
  return kEach * static_cast<size_t>(state.fleet ? state.fleet->size() : 1);
}

OptimizeOptions options_of(const EvaluateOptions& options, const Batch& batch) {
  OptimizeOptions out;
  out.file = options.folder / batch.file;
  out.class_name = batch.class_name;
  out.problem = batch.problem;
  out.device = options.device == "model" ? "model" : "gpu";  // a result is a prediction only where that was asked for
  out.numerics = batch.numerics;
  out.frozen = batch.frozen;
  out.gpus = options.gpus;
  out.allow_busy = options.allow_busy;
  out.baselines = false;
  if (options.device == "model") out.machine = batch.machine;
  return out;
}

// Another build may generate other code for the same program.
void say_other_build(const Session& state, const Batch& batch) {
  if (batch.build.empty() || batch.build == build_identity()) return;
  state.progress.message(fmt::format(
      "the batch was proposed by another build or copy of Solstice ({}); the code that runs here is of this one ({})",
      batch.build, build_identity()));
}

Status prepare(Session& state, const Batch& batch) {
  say_other_build(state, batch);
  SOLSTICE_CHECK(start_oracle(state));
  if (state.machine->name != batch.machine) {
    return fail(Code::bad_argument, fmt::format("the batch is for {}, this is {}", batch.machine, state.machine->name));
  }
  SOLSTICE_CHECK(import_problem(state));
  SOLSTICE_CHECK(compute_bounds(state));
  SOLSTICE_CHECK(bound_rewritten(state));
  SOLSTICE_CHECK(open_compiler(state));
  return open_device(state);
}

Status write_original(const Session& state, const Batch& batch, const fs::path& folder) {
  const std::optional<BatchOriginal> before = standing_original(folder, batch, !state.gpu);
  if (before && before->device != state.report.device) {
    return fail(Code::bad_argument, fmt::format("the results that are there are of {}, this is {}: they cannot stand "
                                                "in one batch; without {} all are made here",
                                                before->device, state.report.device, (folder / "results").string()));
  }
  std::map<std::string, std::string> versions = state.report.versions;
  versions["build"] = build_identity();
  if (before) {
    const std::string differing = differing_versions(before->versions, versions);
    if (!differing.empty())
      state.progress.message(fmt::format("the results that are there, and those made here, are of {}", differing));
    return success();
  }
  BatchOriginal original;
  original.batch = batch.id;
  original.time = state.eager;
  original.predicted = !state.gpu;
  original.device = state.report.device;
  original.versions = std::move(versions);
  return write_record_file(original_file(folder), original);
}

Result<search::Node> node_of(const BatchCandidate& candidate, const fs::path& folder) {
  search::Node out;
  out.id = candidate.node;
  SOLSTICE_TRY(out.proposal.program, read_batch_file(program_file(folder, candidate.node)));
  if (hash_hex(out.proposal.program) != candidate.hash) {
    return fail(Code::bad_argument,
                fmt::format("{} is not the program that was proposed", program_file(folder, candidate.node).string()));
  }
  out.proposal.reason = candidate.reason;
  out.proposal.precision = candidate.precision;
  return out;
}

// Those without a result that stands.
Result<std::deque<search::Node>> waiting(const Batch& batch, const fs::path& folder, EvaluateOutcome& out) {
  std::deque<search::Node> nodes;
  for (const BatchCandidate& candidate : batch.candidates) {
    if (standing_result(folder, batch, candidate, out.predicted, out.predictions)) {
      ++out.there;
      continue;
    }
    SOLSTICE_TRY(search::Node node, node_of(candidate, folder));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

void tell(Session& state, const search::Node& node, const search::Measurement& m) {
  TrialNews news{node.id, node.proposal.reason, enum_name(m.state), std::nullopt, !state.gpu};
  if (m.usable()) news.time = m.time;
  state.progress.trial_finished(news, state.standing());
}

Status keep_result(Session& state, const Batch& batch, const fs::path& folder, const search::Node& node,
                   const search::Measurement& found, EvaluateOutcome& out) {
  const auto asked =
      std::find_if(batch.candidates.begin(), batch.candidates.end(), [&](const auto& c) { return c.node == node.id; });
  BatchResult result{batch.id, node.id, asked->request, asked->hash, found, utc_now()};
  SOLSTICE_CHECK(write_record_file(result_file(folder, node.id), result));
  ++out.measured;
  out.usable += found.usable() ? 1 : 0;
  tell(state, node, found);
  return success();
}

Status measure(Session& state, const Batch& batch, const fs::path& folder, std::deque<search::Node> nodes,
               EvaluateOutcome& out) {
  std::map<int, search::Node> started;
  while (!nodes.empty() || !started.empty()) {
    while (!nodes.empty() && !interrupted() && started.size() < ahead_of(state)) {
      state.device->start(nodes.front());
      started.emplace(nodes.front().id, std::move(nodes.front()));
      nodes.pop_front();
    }
    if (started.empty()) break;
    SOLSTICE_TRY(const search::Landed landed, state.device->land());
    const search::Node node = std::move(started.extract(landed.node).mapped());
    if (landed.measurement)
      SOLSTICE_CHECK(keep_result(state, batch, folder, node, *landed.measurement, out));  // else it stays open
    if (interrupted()) break;
  }
  return success();
}

}  // namespace

Result<EvaluateOutcome> evaluate_batch(const EvaluateOptions& options, Progress& progress) {
  SOLSTICE_TRY(const Batch batch, read_batch(options.folder));
  EvaluateOutcome out;
  out.predicted = options.device == "model";
  SOLSTICE_TRY(std::deque<search::Node> nodes, waiting(batch, options.folder, out));
  const int all = static_cast<int>(nodes.size());
  if (all == 0 && standing_original(options.folder, batch, out.predicted)) return out;
  const OptimizeOptions run = options_of(options, batch);
  SOLSTICE_TRY(const TempFolder work, TempFolder::create("solstice-batch-"));  // until all devices are closed
  Engine engine;
  Session state(run, progress, engine);
  state.fresh = work.path();
  SOLSTICE_CHECK(prepare(state, batch));
  SOLSTICE_CHECK(write_original(state, batch, options.folder));
  SOLSTICE_CHECK(measure(state, batch, options.folder, std::move(nodes), out));
  out.left = all - out.measured;
  return out;
}

}  // namespace solstice::flow
