// Controllers: the turns of an attempt. A turn is one question to a language model, with the repairs of its answer; the
// last brings the candidate, what those before it bring is noted in the tree (search/attempt.h). A controller is a
// function of the tree and of the node that the policy chose, and keeps nothing else, so that a run that is resumed, or
// replayed, asks the same again.
//
// One file in controllers/ defines one `extern const ControllerSpec solstice_controllers_<stem>`; that is all it takes
// to add one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/answer.h"
#include "agents/briefing.h"
#include "agents/prompts.h"
#include "base/json.h"
#include "llm/message.h"
#include "search/tree.h"

namespace solstice::agents {

struct Situation {
  const Briefing& briefing;
  const Prompts& prompts;
  const search::Tree& tree;
  int node = 0;             // to go on from
  int64_t most_tokens = 0;  // that instructions and conversation may come to
};

struct Turn {
  std::string role;                    // "plan"; "": the controller has one alone
  std::string system;                  // instructions
  std::vector<llm::Message> messages;  // the last is the user's
  Json schema;                         // of the answer; it has `reason`
  Read read;
  std::optional<double> temperature;  // where the command says none; none: the model's own
  std::string repair = "repair";      // section of prompts/ that a mistake comes back in
  bool goes_on = true;                // edits after a mistake are done on the program that had it
  bool looks = false;                 // the answer may have `look` (looks.h)
  // No question: what code search has of these is noted as the turn `look`, {"asked", "found"}.
  std::vector<std::string> queries = {};
};

struct ControllerSpec {
  std::string_view name;
  std::string_view about;   // in one line
  std::string_view source;  // place of publication
  // The next turn of the attempt, after those that the tree has of it (search::open_turns).
  Result<Turn> (*turn)(const Situation& at) = nullptr;
  // The node to go on from in place of the policy's; nothing, also as a function: the policy decides.
  std::optional<int> (*from)(const search::Tree& tree) = nullptr;
};

const std::vector<const ControllerSpec*>& all_controllers();  // generated table
// Error bad_argument, with what there is.
Result<const ControllerSpec*> find_controller(std::string_view name);

// Instructions: role, language, how device code is written where that is wanted, then the form of the answer.
Result<std::string> instructions(const Briefing& briefing, const Prompts& prompts, const std::string& form);

// A turn whose answer is a candidate: edits or a program, or that nothing is left (answer.h), with `extra` members
// before those. `looks`: the answer may ask for code. Its messages are left to the controller.
Result<Turn> candidate_turn(const Situation& at, const Json& extra, bool looks = false);
// With the room that the instructions of `turn` leave.
Situation within(const Situation& at, const Turn& turn);

// Sections that controllers share.
Result<std::string> problem_section(const Situation& at);
Result<std::string> ladder_section(const Situation& at);  // "" where it is left out
Result<std::string> base_section(const Situation& at, const search::Node& node, bool with_program = true);
Result<std::string> tried_section(const Situation& at,
                                  const std::vector<const search::Node*>& nodes);  // "" without any
// Attempts whose results are not there yet; "" where there are none.
Result<std::string> awaited_section(const Situation& at);
Result<std::string> budget_section(const Situation& at, int done);

// One message of the user: the sections `before`, what was tried, those `after`; those that are empty are left out. The
// last of `tried` are left out where all of them have no room.
Result<std::vector<llm::Message>> one_message(const Situation& at, const std::vector<std::string>& before,
                                              std::vector<const search::Node*> tried,
                                              const std::vector<std::string>& after);

}  // namespace solstice::agents
