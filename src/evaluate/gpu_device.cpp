#include "evaluate/gpu_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "run/timing_stats.h"

namespace solstice::evaluate {
namespace {

constexpr Seconds kSlow{0.1};  // one repetition tells the time of a candidate this slow

}  // namespace

TrialState state_of(const Verdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kPassed:
      return TrialState::kVerified;
    case Outcome::kCrashed:
    case Outcome::kLoadFailed:
    case Outcome::kOutOfMemory:
      return TrialState::kCrashed;
    case Outcome::kHung:
      return TrialState::kHung;
    default:
      return TrialState::kWrong;
  }
}

GpuDevice::GpuDevice(Setting setting, toolchain::Compiler& compiler, run::Judge& judge, const std::vector<run::JudgeCase>& cases,
                     GpuDeviceOptions options)
    : setting_(std::move(setting)), compiler_(compiler), judge_(judge), cases_(cases), options_(std::move(options)) {}

int GpuDevice::repetitions(search::Precision precision) const {
  constexpr int kFewest = 3;
  if (precision == search::Precision::kRough) return std::max(kFewest, options_.repetitions / 4);
  return precision == search::Precision::kUsual ? options_.repetitions : 4 * options_.repetitions;
}

void GpuDevice::begin(const search::Node& node) { pending_.try_emplace(node.id, node, setting_, compiler_); }

Status GpuDevice::build(const search::Node& node) {
  std::error_code missing;
  if (std::filesystem::exists(plan_of(node.id), missing)) return success();
  Preparation candidate(node.proposal.program, setting_, &compiler_);
  SOLSTICE_CHECK(candidate.finish());
  if (candidate.refused()) return fail(Code::internal, fmt::format("trial {} cannot be built again: {}", node.id, candidate.why()));
  return write_build(*candidate.built(), folder_of(node.id));
}

Status GpuDevice::measure(int node, const Pending& pending, search::Measurement& out) {
  SOLSTICE_CHECK(write_build(*pending.candidate.built(), folder_of(node)));
  const Seconds began = monotonic_now();
  const std::vector<run::JudgeCase> first(cases_.begin(), cases_.begin() + 1);
  SOLSTICE_TRY(Verdict verdict, judge_.verify(plan_of(node), first));
  if (verdict.passed()) {
    const bool slow = verdict.cases.back().wall > kSlow;
    SOLSTICE_TRY(const run::TimedBlock block, judge_.time_block(cases_, slow ? 1 : repetitions(pending.precision)));
    if (!block.verdict.passed()) verdict = block.verdict;
    if (!block.seconds.empty()) out.time = Seconds(run::median(block.seconds));
    out.record.set("seconds", [&] {
      Json list = Json::array();
      for (double s : block.seconds) list.push(s);
      return list;
    }());
  }
  out.record.set("measuring", (monotonic_now() - began).value);
  out.state = state_of(verdict);
  out.detail = verdict.message;
  out.record.set("verdict", to_json(verdict));
  if (out.state == TrialState::kVerified && options_.bounds) {
    if (const std::string why = sol::violation(*options_.bounds, out.time, sol::Cache::kCold); !why.empty()) {
      out.state = TrialState::kWrong;
      out.detail = why;
    }
  }
  return success();
}

Result<search::Measurement> GpuDevice::finish(int node) {
  const auto found = pending_.find(node);
  if (found == pending_.end()) return fail(Code::internal, "a trial was finished that was never started");
  Preparation& candidate = found->second.candidate;
  SOLSTICE_CHECK(candidate.finish());
  const Seconds began = monotonic_now();
  search::Measurement out;
  out.record = candidate.record();
  if (candidate.refused()) {
    out.state = candidate.state();
    out.detail = candidate.why();
  } else {
    SOLSTICE_CHECK(measure(node, found->second, out));
  }
  out.cost = candidate.cost() + (monotonic_now() - began);
  pending_.erase(found);
  return out;
}

}  // namespace solstice::evaluate
