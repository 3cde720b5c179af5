#include "cli/agent_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "agents/controller.h"
#include "cli/values.h"
#include "llm/provider.h"

namespace solstice::cli {
namespace {

std::vector<std::string> controllers() {
  std::vector<std::string> out;
  for (const agents::ControllerSpec* spec : agents::all_controllers()) out.emplace_back(spec->name);
  return out;
}

template <typename Enum>
std::vector<std::string> choices() {
  std::vector<std::string> out;
  for (const char* name : enum_names(Enum{})) out.emplace_back(name);
  return out;
}

// One of the choices, which parsing has made sure of.
template <typename Enum>
Enum chosen(const std::string& text) {
  const auto names = enum_names(Enum{});
  const auto found = std::find(names.begin(), names.end(), text);
  return static_cast<Enum>(found - names.begin());
}

Status without_agent(const Invocation& in) {
  for (const char* name :
       {"--provider", "--model", "--option", "--write", "--sol", "--feedback", "--expert", "--tune", "--debug",
        "--most-output", "--temperature", "--max-tokens", "--max-cost", "--transcript", "--replay-transcript"}) {
    if (!in.has(name)) continue;
    return fail(
        Code::bad_argument,
        fmt::format(
            "{} is an option of a language model, and none takes part: add --agent (`solstice list controllers`), or "
            "leave {} out",
            name, name));
  }
  return success();
}

Status read_limits(const Invocation& in, flow::AgentTerms& out) {
  if (in.has("--expert")) {
    SOLSTICE_TRY(out.expert, parse_int("--expert", in.get("--expert"), 0, 1000000));
  }
  if (in.has("--tune")) {
    SOLSTICE_TRY(out.tune, parse_int("--tune", in.get("--tune"), 0, 1000));
  }
  if (in.has("--debug")) {
    SOLSTICE_TRY(out.debug, parse_int("--debug", in.get("--debug"), 0, 1000));
  }
  if (in.has("--most-output")) {
    SOLSTICE_TRY(out.most_output, parse_int("--most-output", in.get("--most-output"), 1, 100'000'000));
  }
  if (in.has("--temperature")) {
    SOLSTICE_TRY(out.temperature, parse_real("--temperature", in.get("--temperature"), 0, 2));
  }
  if (in.has("--max-tokens")) {
    SOLSTICE_TRY(out.tokens, parse_int("--max-tokens", in.get("--max-tokens"), 1, 2'000'000'000));
  }
  if (in.has("--max-cost")) {
    SOLSTICE_TRY(const double cost, parse_real("--max-cost", in.get("--max-cost"), 0.0001, 1e6));
    out.cost = llm::Dollars(cost);
  }
  return success();
}

}  // namespace

Result<std::map<std::string, std::string>> parse_pairs(const std::string& what, const std::vector<std::string>& texts) {
  std::map<std::string, std::string> out;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == text.npos)
      return fail(Code::bad_argument, fmt::format("{} is `{}`; it takes NAME=VALUE", what, text));
    out[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return out;
}

std::vector<Parameter> agent_parameters() {
  return {
      {"--agent", "NAME",
       "let a language model propose too, with this prompting strategy (`solstice list controllers`)", "",
       controllers(), false, false},
      {"--provider", "NAME", "provider of the language model (`solstice list providers`)", "", {}, false, false},
      {"--model",
       "NAME",
       "model, or the path of its file; not needed with `command` and `mailbox`",
       "",
       {},
       false,
       false},
      {"--option", "NAME=VALUE", kProviderOptionHelp, "", {}, false, true},
      {"--write", "WHAT",
       "ucut: the model writes programs; cuda: programs with CUDA device code; both: either [default: ucut]", "",
       choices<agents::Writes>(), false, false},
      {"--sol", "WHICH", "include the speed of light in the prompt [default: on]", "", {"on", "off"}, false, false},
      {"--feedback", "WHAT",
       "feedback in addition to verdict and time: none; raw: hardware counters (an ablation, worse than none); "
       "tools: findings [default: tools]",
       "", choices<agents::Feedback>(), false, false},
      {"--expert",
       "TRIALS",
       "trials of the built-in expert before the model's first [default: 8]",
       "",
       {},
       false,
       false},
      {"--tune",
       "TRIALS",
       "further schedules that the expert tries for each program of the model, if it expects a gain; 0: none "
       "[default: 2]",
       "",
       {},
       false,
       false},
      {"--debug",
       "N",
       "repairs in a row of a program of the model that failed on the device; 0: none [default: 2]",
       "",
       {},
       false,
       false},
      {"--most-output", "TOKENS", "most tokens of an answer [default: 16384]", "", {}, false, false},
      {"--temperature", "T", "sampling temperature [default: the model's]", "", {}, false, false},
      {"--max-tokens", "TOKENS", "the search ends before it uses more tokens", "", {}, false, false},
      {"--max-cost",
       "DOLLARS",
       "the search ends before it costs more; needs a model with known prices",
       "",
       {},
       false,
       false},
      {"--transcript",
       "FILE",
       "file that records every question and answer [default: transcripts/RUN.jsonl of the store]",
       "",
       {},
       false,
       false},
      {"--replay-transcript",
       "FILE",
       "take the answers from a recorded session, without network",
       "",
       {},
       false,
       false},
      {"--no-network", "", "refuse providers that need the network", "", {}, false, false},
  };
}

Result<flow::AgentChoice> agent_choice(const Invocation& in) {
  flow::AgentChoice out;
  if (!in.has("--agent")) {
    SOLSTICE_CHECK(without_agent(in));
    return out;
  }
  out.controller = in.get("--agent");
  out.provider = in.get("--provider");
  out.replay = in.get("--replay-transcript");
  if (out.provider.empty() && out.replay.empty()) {
    return fail(Code::bad_argument, "--agent needs --provider", "`solstice list providers` names them");
  }
  out.model = in.get("--model");
  SOLSTICE_TRY(out.options, parse_pairs("--option", in.all("--option")));
  out.network = !in.flag("--no-network");
  out.transcript = in.get("--transcript");
  if (in.has("--write")) out.terms.writes = chosen<agents::Writes>(in.get("--write"));
  if (in.has("--sol")) out.terms.sol = in.get("--sol") == "on";
  if (in.has("--feedback")) out.terms.feedback = chosen<agents::Feedback>(in.get("--feedback"));
  SOLSTICE_CHECK(read_limits(in, out.terms));
  return out;
}

}  // namespace solstice::cli
