#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/hash.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/batch/batch.h"
#include "flow/batch/standing.h"
#include "flow/run/stages/prepare/compiler.h"
#include "flow/run/stages/prepare/device.h"
#include "flow/run/stages/prepare/plan.h"
#include "flow/run/state/build_identity.h"
#include "flow/run/state/engine.h"
#include "flow/run/state/run.h"
#include "flow/run/state/stored_runs.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

// Candidates under way, so that some are compiled while others are measured.
size_t ahead_of(const Measurable& measurable) {
  constexpr size_t kEach = 6;
  return kEach * static_cast<size_t>(measurable.fleet ? measurable.fleet->size() : 1);
}

OptimizeOptions options_of(const EvaluateOptions& options, const Batch& batch) {
  OptimizeOptions out;
  out.module.file = options.folder / batch.file;
  if (!batch.of.empty()) out.module.of = options.folder / batch.of;
  out.module.class_name = batch.class_name;
  out.module.mode = batch.mode;
  out.module.name = batch.problem;
  out.place.device =
      options.device == "model" ? "model" : "gpu";  // a result is a prediction only where that was asked for
  out.terms.numerics = batch.numerics;
  out.terms.frozen = batch.frozen;
  out.place.gpus = options.gpus;
  out.place.allow_busy = options.allow_busy;
  out.baselines = false;
  if (options.device == "model") out.place.machine = batch.machine;
  return out;
}

// Another build may generate other code for the same program.
void say_other_build(const Run& run, const Batch& batch) {
  if (batch.build.empty() || batch.build == build_identity()) return;
  run.progress.message(fmt::format(
      "the batch was proposed by another build or copy of Solstice ({}); the code that runs here is generated "
      "by this one ({})",
      batch.build, build_identity()));
}

// Values of the stages before the first candidate.
struct EvaluateStages {
  Opened opened;
  Imported imported;
  Bounds bounds;
  std::unique_ptr<Measurable> measurable;
};

Status prepare(Run& run, const Batch& batch, EvaluateStages& at) {
  say_other_build(run, batch);
  SOLSTICE_TRY(at.opened, open_place(run));
  if (at.opened.machine.name != batch.machine) {
    return fail(Code::bad_argument,
                fmt::format("the batch is for {}, this is {}", batch.machine, at.opened.machine.name));
  }
  SOLSTICE_TRY(at.imported, import_problem(run));
  SOLSTICE_TRY(at.bounds, compute_bounds(run, at.opened, at.imported));
  SOLSTICE_CHECK(bound_rewritten(run, at.opened, at.imported, at.bounds));
  SOLSTICE_CHECK(open_compiler(run, at.opened));
  SOLSTICE_TRY(at.measurable, open_device(run, at.opened, at.imported, at.bounds));
  return success();
}

Status write_original(const Run& run, const Measurable& measurable, const Batch& batch, const fs::path& folder) {
  const std::optional<BatchOriginal> before = standing_original(folder, batch, !measurable.opened.gpu);
  if (before && before->device != run.report.device) {
    return fail(Code::bad_argument,
                fmt::format("the existing results are from {}, this is {}: a batch holds results of one machine",
                            before->device, run.report.device),
                fmt::format("remove {} to measure all candidates here", (folder / "results").string()));
  }
  std::map<std::string, std::string> versions = run.report.versions;
  versions["build"] = build_identity();
  if (before) {
    const std::string differing = differing_versions(before->versions, versions);
    if (!differing.empty())
      run.progress.message(fmt::format("the existing results, and those measured here, are from {}", differing));
    return success();
  }
  BatchOriginal original;
  original.batch = batch.id;
  original.time = measurable.inputs.original.time;
  original.predicted = !measurable.opened.gpu;
  original.device = run.report.device;
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

// Candidates without a result that stands.
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

void tell(Run& run, const Measurable& measurable, const search::Node& node, const search::Measurement& m) {
  TrialNews news{node.id, node.proposal.reason, enum_name(m.state), std::nullopt, !measurable.opened.gpu};
  if (m.usable()) news.time = m.time;
  run.progress.trial_finished(news, standing_of(run, measurable));
}

Status keep_result(Run& run, const Measurable& measurable, const Batch& batch, const fs::path& folder,
                   const search::Node& node, const search::Measurement& found, EvaluateOutcome& out) {
  const auto asked =
      std::find_if(batch.candidates.begin(), batch.candidates.end(), [&](const auto& c) { return c.node == node.id; });
  BatchResult result{batch.id, node.id, asked->request, asked->hash, found, utc_now()};
  SOLSTICE_CHECK(write_record_file(result_file(folder, node.id), result));
  ++out.measured;
  out.usable += found.usable() ? 1 : 0;
  tell(run, measurable, node, found);
  return success();
}

Status measure(Run& run, const Measurable& measurable, const Batch& batch, const fs::path& folder,
               std::deque<search::Node> nodes, EvaluateOutcome& out) {
  std::map<int, search::Node> started;
  while (!nodes.empty() || !started.empty()) {
    while (!nodes.empty() && !interrupted() && started.size() < ahead_of(measurable)) {
      measurable.device->start(nodes.front());
      started.emplace(nodes.front().id, std::move(nodes.front()));
      nodes.pop_front();
    }
    if (started.empty()) break;
    SOLSTICE_TRY(const search::Landed landed, measurable.device->land());
    const search::Node node = std::move(started.extract(landed.node).mapped());
    if (landed.measurement)
      SOLSTICE_CHECK(
          keep_result(run, measurable, batch, folder, node, *landed.measurement, out));  // else it stays open
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
  SOLSTICE_TRY(const TempFolder work, TempFolder::create("solstice-batch-"));  // until all devices are closed
  Engine engine;
  Run run(options_of(options, batch), progress, engine.parts());
  run.folders.fresh = work.path();
  SOLSTICE_CHECK(read_source(run.options.module, run.stored));
  EvaluateStages at;
  SOLSTICE_CHECK(prepare(run, batch, at));
  SOLSTICE_CHECK(write_original(run, *at.measurable, batch, options.folder));
  SOLSTICE_CHECK(measure(run, *at.measurable, batch, options.folder, std::move(nodes), out));
  out.left = all - out.measured;
  return out;
}

}  // namespace solstice::flow
