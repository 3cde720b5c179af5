// Method, speed of light and history in one conversation (as μCUTLASS's MANTIS, in-prompt): the model is told how to
// work, and each result is the next message. The conversation is made anew from the tree's events each time; it begins
// as it did before, so that a provider's cache serves it.
#include <algorithm>
#include <set>

#include "agents/answer.h"
#include "agents/attempts.h"
#include "agents/controller.h"
#include "llm/ledger.h"

namespace solstice::agents {
namespace {

using search::Event;

// Without an answer there is nothing to show as the model's own words.
bool has_answer(const search::Proposal& proposal) { return !proposal.answer.empty(); }

// A model was asked for it and answered: a candidate of its own, or that there is none from a node. That it
// gave no answer is told like an attempt of somebody else.
bool is_turn(const Event& event) {
  const bool asked = event.kind == Event::Kind::kProposed || event.kind == Event::Kind::kSpent;
  return asked && event.proposal && has_answer(*event.proposal);
}

// Goes through the events once more, so that each message says what was known when it was asked.
class Conversation {
 public:
  // The first `forgotten` attempts of the model are told as if they were somebody else's.
  Conversation(const Situation& at, int forgotten)
      : at_(at), now_{at.briefing, at.prompts, tree_}, forgotten_(forgotten) {}

  Result<std::vector<llm::Message>> make() {
    for (const Event& event : at_.tree.events()) {
      const bool turn = is_turn(event) && own_++ >= forgotten_;
      if (turn) SOLSTICE_CHECK(ask(event.proposal->parent));
      SOLSTICE_CHECK(tree_.apply(event));
      if (turn) answered(event);
      const bool landed = event.kind == Event::Kind::kMeasured || event.kind == Event::Kind::kLost;
      if (landed && !messages_.empty()) came_in(tree_.node(event.node));
    }
    SOLSTICE_CHECK(ask(at_.node));
    return std::move(messages_);
  }

 private:
  Result<std::string> opening() const {
    SOLSTICE_TRY(std::string out, problem_section(now_));
    SOLSTICE_TRY(const std::string ladder, ladder_section(now_));
    const bool sol = !ladder.empty();
    const char* const returns =
        sol ? "S^(1 + max(0, log10(g / 5))) / (R_impl * R_perf), with g the time over `practical`"
            : "S / (R_impl * R_perf)";
    SOLSTICE_TRY(const std::string method,
                 at_.prompts.section("method", {{"bounded", sol ? " above the bounds" : ""}, {"returns", returns}}));
    std::vector<const search::Node*> tried;
    for (const search::Node& node : tree_.nodes()) {
      if (node.id > 0) tried.push_back(&node);
    }
    SOLSTICE_TRY(const std::string attempts, tried_section(now_, tried));
    for (const std::string& section : {ladder, method, attempts}) out += section.empty() ? "" : "\n" + section;
    return out;
  }

  void answered(const Event& event) {
    messages_.push_back({llm::Role::kAssistant, event.proposal->answer});
    if (event.kind == Event::Kind::kSpent)
      pending_ += "Then nothing more is tried from " + name_of(tree_.node(event.node)) + ".\n";
  }

  void came_in(const search::Node& node) {
    if (!pending_.empty()) pending_ += "\n";
    if (node.id == 0) {
      pending_ += name_of(node) + ": " + result_text(tree_, node, at_.briefing) + "\n";
      return;
    }
    // The conversation holds only the last edits of a repaired text, so its whole change is stated.
    const bool told = has_answer(node.proposal) && node.proposal.repairs == 0;
    pending_ += told ? summary_text(tree_, node, at_.briefing) + "\n" : attempt_text(tree_, node, at_.briefing);
    for (const std::string& line : feedback_of(node, at_.briefing)) pending_ += line + "\n";
  }

  // A program is shown once.
  Status ask(int node) {
    if (messages_.empty()) {
      SOLSTICE_TRY(pending_, opening());
    }
    SOLSTICE_TRY(const std::string base, base_section(now_, tree_.node(node), shown_.insert(node).second));
    SOLSTICE_TRY(const std::string budget, budget_section(now_, tree_.trials()));
    SOLSTICE_TRY(const std::string awaited, awaited_section(now_));
    std::string text = pending_;
    for (const std::string& section : {base, awaited, budget})
      text += (text.empty() || section.empty() ? "" : "\n") + section;
    messages_.push_back({llm::Role::kUser, std::move(text)});
    pending_.clear();
    return success();
  }

  const Situation& at_;
  search::Tree tree_;  // as it was
  Situation now_;
  int forgotten_;
  int own_ = 0;
  std::vector<llm::Message> messages_;
  std::string pending_;
  std::set<int> shown_;
};

int64_t tokens_of_all(const std::vector<llm::Message>& messages) {
  int64_t out = 0;
  for (const llm::Message& message : messages) out += llm::estimated_tokens(message.text);
  return out;
}

// As many of the latest attempts as fit.
Result<std::vector<llm::Message>> latest_of(const Situation& at) {
  const auto own = std::count_if(at.tree.events().begin(), at.tree.events().end(), is_turn);
  for (int forgotten = 0;; ++forgotten) {
    SOLSTICE_TRY(std::vector<llm::Message> messages, Conversation(at, forgotten).make());
    if (forgotten >= own || tokens_of_all(messages) <= at.most_tokens) return messages;
  }
}

Json number_member(const char* type, const char* description) {
  return Json::object().set("type", type).set("description", description);
}

Json method_members() {
  const Json properties = Json::object()
                              .set("change", text_schema("what would change"))
                              .set("mechanism", text_schema("why that saves time"))
                              .set("speedup", number_member("number", "S, over the program that you go on from"))
                              .set("risk_implementation", number_member("integer", "R_impl, 1 to 5"))
                              .set("risk_performance", number_member("integer", "R_perf, 1 to 5"));
  return Json::object()
      .set("lesson", text_schema("what the last result teaches, expected against observed; empty at the first attempt"))
      .set("analysis",
           text_schema("what limits the program that you go on from, and how much is left, in one to three sentences"))
      .set("hypotheses",
           Json::object()
               .set("type", "array")
               .set("items", closed_schema(properties))
               .set("description",
                    "two or three: `change`, `mechanism`, `speedup`, `risk_implementation`, `risk_performance`; "
                    "the one that you chose first"));
}

Result<Turn> inprompt_turn(const Situation& at) {
  SOLSTICE_TRY(Turn out, candidate_turn(at, method_members()));
  SOLSTICE_TRY(out.messages, latest_of(within(at, out)));
  return out;
}

}  // namespace

extern const ControllerSpec solstice_controllers_inprompt;
const ControllerSpec solstice_controllers_inprompt = {
    .name = "inprompt",
    .about =
        "One conversation: measure, analyse, nominate, triage, implement, summarise, with the speed of light and every "
        "result",
    .source = "arXiv 2603.29010 (MANTIS, in-prompt)",
    .turn = inprompt_turn,
};

}  // namespace solstice::agents
