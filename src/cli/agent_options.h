// Options of the commands in which a language model may take part.
#pragma once

#include <vector>

#include "cli/command.h"
#include "flow/run/agent/agent_choice.h"

namespace solstice::cli {

inline constexpr const char* kProviderOptionHelp =
    "option of the provider, such as base_url=URL of a server of your own (`solstice list providers`); may be repeated";

// The parameters have no defaults here: an option that is left out may take the value of the run that is continued
// (flow::AgentTerms).
std::vector<Parameter> agent_parameters();
// No controller where `--agent` was not given; then none of the others may be (bad_argument).
Result<flow::AgentChoice> agent_choice(const Invocation& in);

// "NAME=VALUE" of each; bad_argument.
Result<std::map<std::string, std::string>> parse_pairs(const std::string& what, const std::vector<std::string>& texts);

}  // namespace solstice::cli
