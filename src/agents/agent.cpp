#include "agents/agent.h"

#include <fmt/format.h>

#include <algorithm>

#include "agents/answer.h"
#include "agents/attempts.h"
#include "agents/repeats.h"
#include "llm/structured.h"
#include "search/attempt.h"

namespace solstice::agents {
namespace {

constexpr int64_t kMostComplaint = 1500;  // tokens of diagnostics
constexpr int64_t kMostFound = static_cast<int64_t>(kMostLooks) * kMostLookTokens;

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

// An answer of any turn.
Json any_object() { return Json::object().set("type", "object"); }

// The last words of `who`, if they were that nothing is left of any program, and nothing has happened since that it did
// not know.
const search::Proposal* said_of_all(const search::Tree& tree, const std::string& who) {
  using Kind = search::Event::Kind;
  for (auto event = tree.events().rbegin(); event != tree.events().rend(); ++event) {
    if (event->kind == Kind::kSkipped) continue;  // nothing was learnt of it
    if (event->kind != Kind::kSpent && event->kind != Kind::kOpened) return nullptr;
    if (!event->proposal || event->proposal->answer.empty()) continue;
    const bool all = says_nothing_left_anywhere(llm::parse_answer(event->proposal->answer, any_object()).json);
    return all && event->proposal->origin == who ? &*event->proposal : nullptr;
  }
  return nullptr;
}

// An attempt took what all its turns took.
void add_cost(const search::Proposal& turn, search::Proposal& out) {
  out.tokens += turn.tokens;
  out.repairs += turn.repairs;
}

// One more answer and what is said to it; an empty one leaves nothing to answer to.
void say(llm::Request& request, const std::string& answer, const std::string& text) {
  if (answer.empty()) {
    request.messages.back().text += "\n" + text;
    return;
  }
  request.messages.push_back({llm::Role::kAssistant, answer});
  request.messages.push_back({llm::Role::kUser, text});
}

}  // namespace

// State of a turn.
struct Agent::Draft {
  const Turn& turn;
  std::string base;           // edits are done on it
  std::string program = {};   // "": there is none
  Complaint complaint = {};   // of that program, whatever came after it
  Json artefact = {};         // of a turn before the candidate
  bool own = false;           // `base` is what the model wrote last
  bool nothing_left = false;  // and it said so
  bool anywhere = false;      // of all programs
  size_t looks = 0;           // that it has had
  std::string answer = {};    // with which it came
  std::string reason = {};

  bool is_candidate() const { return !program.empty() && (complaint.text.empty() || complaint.of_candidate); }
};

Agent::Agent(AgentOptions options, Briefing briefing, Prompts prompts, llm::Client& client, Check check)
    : options_(std::move(options)),
      briefing_(std::move(briefing)),
      prompts_(std::move(prompts)),
      client_(client),
      legality_(std::move(check)) {}

llm::Request Agent::request_of(const Turn& turn) const {
  llm::Request out;
  out.label = turn.role.empty() ? options_.controller->name : turn.role;
  out.system = turn.system;
  out.messages = turn.messages;
  out.temperature = options_.temperature ? options_.temperature : turn.temperature;
  out.most_output = options_.most_output;
  out.schema = turn.schema;
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
  if (draft.turn.looks && !looks_of(reply.json).empty())
    return Complaint{fmt::format("`look` is used up: {} a draft", kMostLooks)};
  Result<Brought> brought = draft.turn.read(reply.json, draft.base);
  if (!brought.ok()) return Complaint{brought.error().message};
  draft.nothing_left = brought->nothing_left;
  draft.anywhere = says_nothing_left_anywhere(reply.json);
  draft.artefact = std::move(brought->artefact);
  if (!brought->program) return Complaint{};
  draft.program = std::move(*brought->program);
  draft.own = draft.turn.goes_on;
  if (draft.own) draft.base = draft.program;
  SOLSTICE_TRY(draft.complaint, checked(tree, draft.program));
  return draft.complaint;
}

Result<Complaint> Agent::checked(const search::Tree& tree, const std::string& program) const {
  if (tree.contains(program)) return Complaint{tried_before(tree, program), false};
  return legality_(program);
}

Status Agent::ask_again(llm::Request& request, const llm::Reply& reply, const std::string& complaint,
                        const Draft& draft) const {
  Prompts::Values values = {{"complaint", cut_to(without_repeats(complaint), kMostComplaint)}};
  if (draft.turn.goes_on) values["base"] = draft.own ? "the program that you wrote last" : "the program to go on from";
  SOLSTICE_TRY(const std::string text, prompts_.section(draft.turn.repair, values));
  say(request, reply.text, text);
  return success();
}

// Answers `look`, where the reply has it and the draft may look again; false: it has to be taken as it is.
Result<bool> Agent::show_code(llm::Request& request, const llm::Reply& reply, Draft& draft) const {
  if (!draft.turn.looks || reply.finish != llm::Finish::kComplete || draft.looks == kMostLooks) return false;
  std::vector<std::string> queries = looks_of(reply.json);
  if (queries.empty()) return false;
  const size_t left = kMostLooks - draft.looks, asked = queries.size();
  queries.resize(std::min(asked, left));
  draft.looks += queries.size();
  int64_t room = kMostFound;
  if (options_.most_repaired)
    room = std::min(room, *options_.most_repaired - llm::estimated_tokens(request) - llm::estimated_tokens(reply.text));
  SOLSTICE_TRY(std::string found, looked_up(options_.look, queries, room));
  if (asked > left) found += fmt::format("\n({} more were not looked up)\n", asked - left);
  SOLSTICE_TRY(const std::string text,
               prompts_.section("looked", {{"found", found}, {"left", std::to_string(kMostLooks - draft.looks)}}));
  say(request, reply.text, text);
  options_.news(fmt::format("it looks at {}{}", queries.front(),
                            queries.size() > 1 ? fmt::format(" and {} more", queries.size() - 1) : ""));
  return true;
}

// Until the answer can be taken, or no repair is left, or the model has no room for one; what is wrong with the last.
Result<Complaint> Agent::converse(llm::Request& request, const search::Tree& tree, Draft& draft,
                                  search::Proposal& out) {
  const int number = tree.trials() + 1;
  const Deadline end(std::min(client_.patience(), options_.left()));
  const std::string role = draft.turn.role.empty() ? "" : fmt::format(" ({})", draft.turn.role);
  options_.news(fmt::format("asking {} for attempt {}{}", options_.origin, number, role));
  while (true) {
    SOLSTICE_TRY(const llm::Reply reply, client_.ask(request, end));
    out.tokens += reply.usage.input.value_or(0) + reply.usage.output.value_or(0) + reply.estimated;
    SOLSTICE_TRY(const bool shown, show_code(request, reply, draft));
    if (shown) continue;
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

Result<std::optional<search::Proposal>> Agent::found_in_code(const std::vector<std::string>& queries) const {
  SOLSTICE_TRY(const std::string found, looked_up(options_.look, queries, kMostFound));
  Json asked = Json::array();
  for (const std::string& query : queries) asked.push(query);
  search::Proposal out;
  out.role = "look";
  out.origin = "code search";
  out.artefact = Json::object().set("asked", std::move(asked)).set("found", found);
  return std::optional(std::move(out));
}

Result<std::optional<search::Proposal>> Agent::propose(const search::Tree& tree, int node) {
  search::Proposal out;
  out.origin = options_.origin;
  if (const search::Proposal* before = said_of_all(tree, options_.origin)) {
    out.reason = before->reason;
    return std::optional(std::move(out));
  }
  SOLSTICE_TRY(const Turn turn, options_.controller->turn({briefing_, prompts_, tree, node, options_.most_prompt}));
  if (!turn.queries.empty()) return found_in_code(turn.queries);
  llm::Request request = request_of(turn);
  out.author = search::Author::kModel;
  Draft draft{turn, node == 0 ? briefing_.equations : tree.node(node).proposal.program};
  SOLSTICE_TRY(const Complaint complaint, converse(request, tree, draft, out));
  out.answer = draft.answer;
  out.reason = draft.reason;
  if (complaint.text.empty() && !draft.artefact.is_null()) {
    out.role = turn.role;
    out.artefact = std::move(draft.artefact);
    options_.news(fmt::format("{}: {}", turn.role, out.reason));
    return std::optional(std::move(out));
  }
  for (const search::Proposal* before : search::open_turns(tree)) add_cost(*before, out);
  if (draft.nothing_left) {
    const std::string of = draft.anywhere ? "of any program" : "from " + name_of(tree.node(node));
    options_.news(fmt::format("nothing is left {}: {}", of, out.reason));
    return std::optional(std::move(out));
  }
  out.barren = !draft.is_candidate();
  out.program = out.barren ? no_program(tree, complaint.text) : draft.program;
  if (out.barren) out.reason = complaint.text;
  return std::optional(std::move(out));
}

}  // namespace solstice::agents
