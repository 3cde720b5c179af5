// Checks of CandidateRun after a launch: red zones, inputs, results.
#include <fmt/format.h>

#include "run/candidate_run.h"

namespace solstice::run {
namespace {

OutputVerdict as_verdict(const Comparison& found, const std::string& name) {
  OutputVerdict out;
  out.output = name;
  out.elements = found.elements;
  out.normwise = found.normwise;
  out.elementwise = found.elementwise;
  out.class_mismatches = found.class_mismatches;
  out.poison_left = found.poison_left;
  out.undetermined = found.excused;
  out.left_out = found.left_out;
  out.worst = found.worst;
  out.got = found.got;
  out.expected = found.expected;
  return out;
}

}  // namespace

Result<CaseVerdict> CandidateRun::check(int slot, const JudgeCase& test, int pass, CaseVerdict verdict) {
  verdict.name = test.name;
  verdict.pass = pass;
  SOLSTICE_TRY(const Finding outputs, check_outputs(slot, test, pass, verdict.outputs));
  SOLSTICE_TRY(const Finding inputs, check_inputs(slot, test));
  SOLSTICE_TRY(const Finding gaps, check_gaps());
  // Stray writes explain wrong results better than the other way round.
  for (const Finding* finding : {&gaps, &inputs, &outputs}) {
    if (finding->passed()) continue;
    verdict.outcome = finding->outcome;
    verdict.message = finding->message;
    break;
  }
  return verdict;
}

Result<Finding> CandidateRun::check_gaps() {
  SOLSTICE_TRY(const Difference found, device_.kernels().differ(arena_, layout_.gaps, kRedZone));
  if (found.bytes == 0) return Finding{};
  std::string nearest = "any buffer";
  int64_t distance = layout_.bytes;
  const auto look = [&](const rt::ArenaRange& range, const PlanBuffer& buffer) {
    const int64_t gap =
        found.first < range.offset ? range.offset - found.first : found.first - (range.offset + range.bytes);
    if (gap >= distance) return;
    distance = gap;
    nearest = fmt::format("{} `{}`, {} bytes {}", enum_name(buffer.kind), buffer.name, gap,
                          found.first < range.offset ? "before its start" : "past its end");
  };
  for (const auto& slot : layout_.slots) {
    for (size_t i = 0; i < slot.size(); ++i) look(slot[i], interface_buffer(i));
  }
  size_t workspace = 0;
  for (const PlanBuffer& buffer : plan_.buffers) {
    if (buffer.kind == BufferKind::kWorkspace) look(layout_.workspace_buffers[workspace++], buffer);
  }
  return Finding{Outcome::kRedZone,
                 fmt::format("{} bytes outside every buffer were written, the first near {}", found.bytes, nearest)};
}

Result<Finding> CandidateRun::check_inputs(int slot, const JudgeCase& test) {
  const auto& places = layout_.slots[static_cast<size_t>(slot)];
  for (size_t i = 0; i < places.size(); ++i) {
    const PlanBuffer& buffer = interface_buffer(i);
    if (!must_stay(buffer)) continue;
    SOLSTICE_TRY(const Difference found,
                 device_.kernels().differ(at(places[i]), test.given.at(buffer.name).address, places[i].bytes));
    if (found.bytes == 0) continue;
    return Finding{Outcome::kWroteInput, fmt::format("{} bytes of {} `{}` were overwritten, the first at byte {}",
                                                     found.bytes, enum_name(buffer.kind), buffer.name, found.first)};
  }
  return Finding{};
}

Result<Finding> CandidateRun::check_outputs(int slot, const JudgeCase& test, int pass,
                                            std::vector<OutputVerdict>& into) {
  const auto& places = layout_.slots[static_cast<size_t>(slot)];
  Finding first;
  for (size_t i = 0; i < places.size(); ++i) {
    const PlanBuffer& buffer = interface_buffer(i);
    if (!is_expected(buffer)) continue;
    SOLSTICE_TRY(OutputVerdict found, judge_output(buffer, at(places[i]), test.expected.at(buffer.name),
                                                   output_poison(buffer, pass), test.merge_nonfinite));
    if (first.passed()) first = {found.outcome, found.message};
    into.push_back(std::move(found));
  }
  return first;
}

Result<OutputVerdict> CandidateRun::judge_output(const PlanBuffer& buffer, cu::DevicePtr address,
                                                 const ExpectedOutput& expected, uint8_t poison, bool merge_nonfinite) {
  const DeviceTensor mine{address, buffer.dtype, buffer.shape, buffer.strides, buffer.bytes};
  SOLSTICE_TRY(const Comparison found, device_.kernels().compare(mine, expected.oracle, expected.eager, poison,
                                                                 merge_nonfinite, expected.room, expected.left_out));
  OutputVerdict out = as_verdict(found, buffer.name);
  numerics::Errors pytorch{-1, -1};
  if (expected.eager) {
    out.pytorch_normwise = pytorch.normwise = found.reference_normwise;
    out.pytorch_elementwise = pytorch.elementwise = found.reference_elementwise;
  }
  const auto decide = [&](Outcome outcome, std::string message) {
    out.outcome = outcome;
    out.message = fmt::format("`{}`: {}", buffer.name, message);
  };
  if (found.poison_left > 0) {
    decide(Outcome::kNotWritten, fmt::format("{} of {} elements were not written", found.poison_left, found.elements));
  } else if (found.class_mismatches > 0) {
    decide(Outcome::kNanMismatch, fmt::format("{} of {} elements are NaN or infinite where PyTorch's are not, or the "
                                              "other way round; the first is element {}",
                                              found.class_mismatches, found.elements, found.first_mismatch));
  } else if (!is_float(buffer.dtype)) {
    if (found.unequal > 0)
      decide(Outcome::kWrongResult, fmt::format("{} of {} integers differ", found.unequal, found.elements));
  } else {
    const numerics::Limit limit =
        numerics::limit_of(device_.options().policy, pytorch, expected.sum, expected.own, expected.tf32);
    out.limit_normwise = limit.allowed.normwise;
    out.limit_elementwise = limit.allowed.elementwise;
    out.limit_because = limit.because;
    const std::string violated = numerics::violation(limit, {found.normwise, found.elementwise});
    if (!violated.empty()) {
      decide(Outcome::kWrongResult, fmt::format("{}; at worst element {}: {} instead of {}", violated, found.worst,
                                                found.got, found.expected));
    }
  }
  return out;
}

}  // namespace solstice::run
