#include "agents/attempts.h"

#include <fmt/format.h>

#include "agents/findings.h"
#include "agents/prompts.h"
#include "base/line_diff.h"
#include "base/time_text.h"
#include "llm/ledger.h"

namespace solstice::agents {
namespace {

constexpr int64_t kMostDetail = 700;  // tokens of why an attempt failed
constexpr int64_t kMostChange = 900;  // and of a diff
constexpr int64_t kMostWords = 1500;  // of feedback in words
constexpr int64_t kMostRaw = 4000;    // and of counters, of which a launch has some 60

std::string time_of(const search::Tree& tree, const search::Node& node, const Briefing& briefing) {
  const Seconds time = node.measurement->time;
  const bool predicted = node.measurement->state == TrialState::kPredicted;
  std::string out = fmt::format("{}: {}", predicted ? "predicted by cost models" : "verified", time_text(time));
  if (tree.original().value > 0) out += fmt::format(", {:.2f}x as fast as the original", tree.speedup(node));
  if (briefing.practical) out += fmt::format(", {:.2f} times the bound `practical`", time / *briefing.practical);
  const search::Node& parent = tree.node(node.proposal.parent);
  if (parent.id > 0 && parent.usable()) {
    out += fmt::format(", {:.3f}x as fast as {}", parent.measurement->time / time, name_of(parent));
  }
  if (tree.best() == &node) out += "; the best so far";
  return out;
}

// "wrong" and why.
std::string failure_of(const search::Node& node) {
  const auto& m = *node.measurement;
  const std::string state = enum_name(m.state);
  if (m.detail.empty()) return state;
  const std::string detail = cut_to(m.detail, kMostDetail);
  const bool lines = detail.find('\n') != detail.npos;
  return lines ? fmt::format("{}:\n```\n{}{}```", state, detail, detail.ends_with('\n') ? "" : "\n")
               : state + ": " + detail;
}

std::string outcome_of(const search::Tree& tree, const search::Node& node, const Briefing& briefing) {
  if (node.id == 0)
    return tree.original().value > 0 ? fmt::format("the original takes {}", time_text(tree.original()))
                                     : "not timed yet";
  if (!node.measurement) return node.lost ? "no result came" : "under way";
  return node.usable() ? time_of(tree, node, briefing) : failure_of(node);
}

// The lines that fit, each whole, in their order; a program of hundreds of kernels has more.
std::vector<std::string> within(int64_t tokens, std::vector<std::string> lines) {
  std::vector<std::string> out;
  for (std::string& line : lines) {
    const int64_t own = llm::estimated_tokens(line);
    if (own > tokens) continue;
    tokens -= own;
    out.push_back(std::move(line));
  }
  if (const size_t left = lines.size() - out.size(); left > 0)
    out.push_back(fmt::format("({} more line{} left out: too long for a prompt)", left, left == 1 ? "" : "s"));
  return out;
}

// States that a model had no further idea for the node.
std::string given_up_text(const search::Node& node) {
  const bool told = node.given_up && !node.given_up->answer.empty();
  return told ? "\nnothing was left to be tried from it: " + node.given_up->reason : "";
}

}  // namespace

std::string name_of(const search::Node& node) {
  return node.id == 0 ? "the problem itself" : fmt::format("attempt {}", node.id);
}

std::string name_with_author(const search::Node& node) {
  return name_of(node) + (node.proposal.origin == "expert" ? ", by the expert" : "");
}

std::vector<std::string> feedback_of(const search::Node& node, const Briefing& briefing) {
  if (node.id == 0 || !node.usable() || briefing.feedback == Feedback::kNone) return {};
  if (briefing.feedback == Feedback::kRaw) return within(kMostRaw, raw_counters(*node.measurement));
  std::vector<std::string> out = findings_of(*node.measurement, briefing.sol);
  for (std::string& finding : out) finding.insert(0, "- ");
  return within(kMostWords, std::move(out));
}

std::string result_text(const search::Tree& tree, const search::Node& node, const Briefing& briefing) {
  std::string out = outcome_of(tree, node, briefing);
  for (const std::string& line : feedback_of(node, briefing)) out += "\n" + line;
  return out;
}

std::string title_text(const search::Tree& tree, const search::Node& node) {
  return fmt::format("{}, from {}: {}", name_with_author(node), name_of(tree.node(node.proposal.parent)),
                     node.proposal.reason);
}

std::string summary_text(const search::Tree& tree, const search::Node& node, const Briefing& briefing) {
  return title_text(tree, node) + "\n" + outcome_of(tree, node, briefing) + given_up_text(node);
}

std::string attempt_text(const search::Tree& tree, const search::Node& node, const Briefing& briefing) {
  std::string out = summary_text(tree, node, briefing) + "\n";
  const search::Node& parent = tree.node(node.proposal.parent);
  if (parent.id == 0 || node.proposal.barren) return out;  // it differs in every line, or is none
  const std::string change = line_diff(parent.proposal.program, node.proposal.program, 1);
  if (!change.empty()) out += fmt::format("```diff\n{}```\n", cut_to(change, kMostChange));
  return out;
}

std::string left_text(const Briefing& briefing, int done) {
  const int left = briefing.trials - done;
  if (left == 1) return "This is the last attempt.";
  const std::string out = fmt::format("{} of {} attempts are left, this one included.", left, briefing.trials);
  if (briefing.tune == 0) return out;
  return out + fmt::format(
                   " Of those to come the expert takes up to {} for each program of yours that works, where it expects "
                   "to gain by the "
                   "schedules of its kernels.",
                   briefing.tune);
}

}  // namespace solstice::agents
