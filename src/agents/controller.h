// Controllers: the conversation that a language model is asked to go on with. A controller is a function of the tree
// and of the node that the policy chose, and keeps nothing else, so that a run that is resumed, or replayed, asks the
// same again.
//
// One file in controllers/ defines one `extern const ControllerSpec solstice_controllers_<stem>`; that is all it takes
// to add one.
#pragma once

#include <string_view>
#include <vector>

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
  int64_t most_tokens = 0;  // that the conversation may come to
};

struct ControllerSpec {
  std::string_view name;
  std::string_view about;   // in one line
  std::string_view source;  // place of publication
  // Members of the answer besides the usual ones (agents/answer.h), with their schemas.
  Json (*extra)() = nullptr;
  // The last message is the user's.
  Result<std::vector<llm::Message>> (*converse)(const Situation& at) = nullptr;
};

const std::vector<const ControllerSpec*>& all_controllers();  // generated table
// Error bad_argument, with what there is.
Result<const ControllerSpec*> find_controller(std::string_view name);

// Instructions: role, language, how device code is written where that is wanted, the form of the answer.
Result<std::string> instructions(const Briefing& briefing, const Prompts& prompts, const Json& extra);

// Sections that controllers share.
Result<std::string> problem_section(const Situation& at);
Result<std::string> ladder_section(const Situation& at);  // "" where it is left out
Result<std::string> base_section(const Situation& at, const search::Node& node, bool with_program = true);
Result<std::string> tried_section(const Situation& at,
                                  const std::vector<const search::Node*>& nodes);  // "" without any
// Attempts whose results are not there yet; "" where there are none.
Result<std::string> awaited_section(const Situation& at);
Result<std::string> budget_section(const Situation& at, int done);

}  // namespace solstice::agents
