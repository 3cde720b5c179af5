#include "propose/moves/counsel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/knobs.h"
#include "propose/moves/advice.h"

namespace solstice::propose {
namespace {

const double kWorthSaying = std::log2(1 + search::kNoise);

double share_believed(Confidence confidence) {
  return confidence == Confidence::kHigh ? 1 : confidence == Confidence::kMedium ? 0.5 : 0.25;
}

double weight_of(const std::string& tool, const search::ToolWeights& weights) {
  const auto found = weights.find(tool);
  return found == weights.end() ? 1 : found->second;
}

bool is_move(const FindingAction& action) {
  return action.kind == ActionKind::kKnobs || action.kind == ActionKind::kMath || action.kind == ActionKind::kCut ||
         action.kind == ActionKind::kRewrite;
}

// Knobs that one of them has otherwise.
size_t difference(const Schedule& a, const Schedule& b) {
  const auto missing_in = [](const ir::Knobs& of, const ir::Knobs& in) {
    return std::count_if(of.items.begin(), of.items.end(), [&](const auto& knob) {
      const ir::KnobValue* other = in.find(knob.first);
      return !other || *other != knob.second;
    });
  };
  return static_cast<size_t>(missing_in(a.knobs, b.knobs) + missing_in(b.knobs, a.knobs));
}

// Index of the axis of its kernel; nothing: there is none.
std::optional<size_t> axis_of_action(const std::vector<Axis>& axes, const FindingAction& action) {
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].kernel == action.kernel && !action.knobs.empty()) return a;
  }
  return std::nullopt;
}

bool was_tried(const Axis& axis, size_t a, const FindingAction& action, const Choice& from,
               const std::vector<Tried>& tried) {
  return std::any_of(tried.begin(), tried.end(), [&](const Tried& one) {
    return one.parent && *one.parent == from && takes(axis.options[one.choice[a]], action);
  });
}

// Null where none is left.
Move* nearest_with(std::vector<Move>& moves, const Axis& axis, size_t a, const FindingAction& action,
                   const Choice& from) {
  const Schedule& now = axis.options[from[a]];
  Move* out = nullptr;
  size_t least = std::numeric_limits<size_t>::max();
  for (Move& move : moves) {
    if (move.repeats || std::find(move.axes.begin(), move.axes.end(), a) == move.axes.end()) continue;
    const Schedule& option = axis.options[move.option];
    if (option.family != now.family || !takes(option, action) || difference(option, now) >= least) continue;
    least = difference(option, now);
    out = &move;
  }
  return out;
}

}  // namespace

std::string Counsel::text() const { return fmt::format(", as `{}` advises: at most {:.3g}x", tool, bound); }

bool takes(const Schedule& option, const FindingAction& action) {
  return std::all_of(action.knobs.begin(), action.knobs.end(), [&](const auto& knob) {
    const ir::KnobValue* value = option.knobs.find(knob.first);
    return value ? ir::to_text(*value) == knob.second : knob.second == ir::kAuto;
  });
}

std::vector<Counsel> counsel_of(const search::Node& candidate, const Hearing& hearing) {
  std::vector<Counsel> out;
  if (!hearing.findings || !candidate.usable()) return out;
  const Result<std::vector<Finding>> findings = findings_of_record(candidate.measurement->record);
  if (!findings.ok()) return out;  // a damaged record: the order is as without
  for (const Finding& finding : *findings) {
    const double promise = std::log2(std::max(1.0, finding.gain.program)) * share_believed(finding.confidence) *
                           weight_of(finding.tool, hearing.weights);
    if (promise <= kWorthSaying) continue;
    for (const FindingAction& action : finding.actions) {
      if (is_move(action)) out.push_back({action, finding.tool, finding.gain.program, promise});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Counsel& a, const Counsel& b) { return a.promise > b.promise; });
  return out;
}

void put_advised_first(std::vector<Move>& moves, const Formulation& formulation, const Choice& from,
                       const std::vector<Counsel>& counsel, const std::vector<Tried>& tried, const Worth& worth) {
  for (const Counsel& one : counsel) {
    const std::optional<size_t> a = axis_of_action(formulation.axes, one.action);
    if (!a || was_tried(formulation.axes[*a], *a, one.action, from, tried)) continue;
    Move* const move = nearest_with(moves, formulation.axes[*a], *a, one.action, from);
    if (!move || !move->advised.empty() || (move->remembered && move->expected < -kWorthSaying)) continue;
    move->promised = one.promise;
    move->advised = one.text();
  }
  const auto value = [&](const Move& move) {
    const double expected =
        move.expected > kWorthSaying ? expected_gain(formulation, worth, from, move.applied_to(from)) : 0;
    return std::max(expected, move.promised);
  };
  const auto leads = [](const Move& move) { return !move.advised.empty() || move.expected > kWorthSaying; };
  if (std::all_of(moves.begin(), moves.end(), [](const Move& move) { return move.advised.empty(); })) return;
  const auto rest = std::stable_partition(moves.begin(), moves.end(), leads);
  std::stable_sort(moves.begin(), rest, [&](const Move& a, const Move& b) { return value(a) > value(b); });
}

}  // namespace solstice::propose
