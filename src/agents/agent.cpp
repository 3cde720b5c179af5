#include "agents/agent.h"

#include <fmt/format.h>

#include <algorithm>

#include "agents/answer.h"
#include "agents/attempts.h"
#include "agents/repeats.h"
#include "llm/structured.h"

namespace solstice::agents {
namespace {

constexpr int64_t kMostComplaint = 1500;  // tokens of diagnostics

// A candidate that is none, so that the attempt is on record and counted.
std::string no_program(const search::Tree& tree, const std::string& why) {
  return fmt::format("# attempt {} brought no program: {}\n", tree.trials() + 1, why.substr(0, why.find('\n')));
}

int number_of_program(const search::Tree& tree, const std::string& program) {
  for (const search::Node& node : tree.nodes()) {
    if (node.id > 0 && node.proposal.program == program) return node.id;
  }
  return 0;  // it was looked at and not tried
}

std::string tried_before(const search::Tree& tree, const std::string& program) {
  const int number = number_of_program(tree, program);
  return number > 0 ? fmt::format("this very program was attempt {}", number)
                    : "this very program was considered before, and expected to be slower than the best";
}

// The last words of `who`, if they were that nothing is left of any program, and nothing has happened since that it did
// not know.
const search::Proposal* said_of_all(const search::Tree& tree, const std::string& who, const Json& schema) {
  using Kind = search::Event::Kind;
  for (auto event = tree.events().rbegin(); event != tree.events().rend(); ++event) {
    if (event->kind == Kind::kSkipped) continue;  // nothing was learnt of it
    if (event->kind != Kind::kSpent && event->kind != Kind::kOpened) return nullptr;
    if (!event->proposal || event->proposal->answer.empty()) continue;
    const bool all = says_nothing_left_anywhere(llm::parse_answer(event->proposal->answer, schema).json);
    return all && event->proposal->origin == who ? &*event->proposal : nullptr;
  }
  return nullptr;
}

}  // namespace

// State of an attempt.
struct Agent::Draft {
  std::string base;           // edits are done on it
  std::string program;        // "": there is none
  Complaint complaint;        // of that program, whatever came after it
  bool own = false;           // `base` is what the model wrote last
  bool nothing_left = false;  // and it said so
  bool anywhere = false;      // of all programs
  std::string answer;         // with which it came
  std::string reason;

  bool is_candidate() const { return !program.empty() && (complaint.text.empty() || complaint.of_candidate); }
};

Agent::Agent(AgentOptions options, Briefing briefing, Prompts prompts, llm::Client& client, Check check)
    : options_(std::move(options)),
      briefing_(std::move(briefing)),
      prompts_(std::move(prompts)),
      client_(client),
      legality_(std::move(check)),
      extra_(options_.controller->extra()) {}

Result<llm::Request> Agent::request_of(const search::Tree& tree, int node) const {
  llm::Request out;
  out.label = options_.controller->name;
  SOLSTICE_TRY(out.system, instructions(briefing_, prompts_, extra_));
  const int64_t room = options_.most_prompt - llm::estimated_tokens(out.system);
  SOLSTICE_TRY(out.messages, options_.controller->converse({briefing_, prompts_, tree, node, room}));
  out.temperature = options_.temperature;
  out.most_output = options_.most_output;
  out.schema = answer_schema(extra_);
  return out;
}

// None where the reply brought a program that can be tried, or says that there is none.
Result<Complaint> Agent::complaint_of(const llm::Reply& reply, const search::Tree& tree, Draft& draft) const {
  switch (reply.finish) {
    case llm::Finish::kRefused:
      return Complaint{"the answer was refused"};
    case llm::Finish::kEmpty:
      return Complaint{"the answer was empty"};
    case llm::Finish::kTruncated:
      return Complaint{
          fmt::format("the answer was cut off after {} tokens: give edits, or less text", options_.most_output)};
    case llm::Finish::kInvalid:
      return Complaint{"the answer is not the JSON that was asked for: " + reply.problem};
    case llm::Finish::kComplete:
      break;
  }
  draft.answer = reply.text;
  draft.reason = reply.json.at("reason").as_string();
  Result<std::optional<std::string>> program = program_of(reply.json, draft.base);
  if (!program.ok()) return Complaint{program.error().message};
  draft.nothing_left = !*program;
  draft.anywhere = says_nothing_left_anywhere(reply.json);
  if (draft.nothing_left) return Complaint{};
  draft.program = draft.base = std::move(**program);
  draft.own = true;
  SOLSTICE_TRY(draft.complaint, checked(tree, draft.program));
  return draft.complaint;
}

Result<Complaint> Agent::checked(const search::Tree& tree, const std::string& program) const {
  if (tree.contains(program)) return Complaint{tried_before(tree, program), false};
  return legality_(program);
}

Status Agent::ask_again(llm::Request& request, const llm::Reply& reply, const std::string& complaint,
                        const Draft& draft) const {
  SOLSTICE_TRY(const std::string text,
               prompts_.section(
                   "repair", {{"complaint", cut_to(without_repeats(complaint), kMostComplaint)},
                              {"base", draft.own ? "the program that you wrote last" : "the program to go on from"}}));
  if (reply.text.empty()) {
    request.messages.back().text += "\n" + text;
    return success();
  }
  request.messages.push_back({llm::Role::kAssistant, reply.text});
  request.messages.push_back({llm::Role::kUser, text});
  return success();
}

// Until the answer can be taken, or no repair is left, or the model has no room for one; what is wrong with the last.
Result<Complaint> Agent::converse(llm::Request& request, const search::Tree& tree, Draft& draft,
                                  search::Proposal& out) {
  const int number = tree.trials() + 1;
  const Deadline end(std::min(client_.patience(), options_.left()));
  options_.news(fmt::format("asking {} for attempt {}", options_.origin, number));
  while (true) {
    SOLSTICE_TRY(const llm::Reply reply, client_.ask(request, end));
    out.tokens += reply.usage.input.value_or(0) + reply.usage.output.value_or(0) + reply.estimated;
    SOLSTICE_TRY(Complaint complaint, complaint_of(reply, tree, draft));
    if (complaint.text.empty() || reply.finish == llm::Finish::kRefused || out.repairs == briefing_.repairs)
      return complaint;
    SOLSTICE_CHECK(ask_again(request, reply, complaint.text, draft));
    if (options_.most_repaired && llm::estimated_tokens(request) > *options_.most_repaired) return complaint;
    ++out.repairs;
    options_.news(
        fmt::format("attempt {}: {}; asked again", number, complaint.text.substr(0, complaint.text.find('\n'))));
  }
}

Result<std::optional<search::Proposal>> Agent::propose(const search::Tree& tree, int node) {
  search::Proposal out;
  out.origin = options_.origin;
  if (const search::Proposal* before = said_of_all(tree, options_.origin, answer_schema(extra_))) {
    out.reason = before->reason;
    return std::optional(std::move(out));
  }
  SOLSTICE_TRY(llm::Request request, request_of(tree, node));
  out.author = search::Author::kModel;
  Draft draft;
  draft.base = node == 0 ? briefing_.equations : tree.node(node).proposal.program;
  SOLSTICE_TRY(const Complaint complaint, converse(request, tree, draft, out));
  out.answer = draft.answer;
  if (draft.nothing_left) {
    out.reason = draft.reason;
    const std::string of = draft.anywhere ? "of any program" : "from " + name_of(tree.node(node));
    options_.news(fmt::format("nothing is left {}: {}", of, out.reason));
    return std::optional(std::move(out));
  }
  out.barren = !draft.is_candidate();
  out.program = out.barren ? no_program(tree, complaint.text) : draft.program;
  out.reason = out.barren ? complaint.text : draft.reason;
  return std::optional(std::move(out));
}

}  // namespace solstice::agents
