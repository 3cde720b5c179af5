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
       {"--provider", "--model", "--option", "--write", "--sol", "--feedback", "--expert", "--tune", "--most-output",
        "--temperature", "--max-tokens", "--max-cost", "--transcript", "--replay-transcript"}) {
    if (!in.has(name)) continue;
    return fail(Code::bad_argument,
                fmt::format("{} is of a language model, and none takes part: give --agent, which says how one is led "
                            "(`solstice list controllers`), or leave {} out",
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
      {"--agent", "NAME", "a language model proposes too, led so (`solstice list controllers`)", "", controllers(),
       false, false},
      {"--provider", "NAME", "where its answers come from (`solstice list providers`)", "", {}, false, false},
      {"--model", "NAME", "a model, or the path of its file; `command` and `mailbox` need none", "", {}, false, false},
      {"--option", "NAME=VALUE", "of the provider; may be repeated", "", {}, false, true},
      {"--write", "WHAT", "ucut: programs; cuda: device code in them; both; left out: ucut", "",
       choices<agents::Writes>(), false, false},
      {"--sol", "WHICH", "whether it is told the speed of light; left out: on", "", {"on", "off"}, false, false},
      {"--feedback", "WHAT",
       "beside verdict and time: nothing, raw counters (worse than nothing: an ablation), findings; left out: tools",
       "", choices<agents::Feedback>(), false, false},
      {"--expert", "TRIALS", "the first ones are the built-in expert's; left out: 8", "", {}, false, false},
      {"--tune",
       "TRIALS",
       "of the expert for each program that the model writes, where it expects a gain; 0: none; left out: 2",
       "",
       {},
       false,
       false},
      {"--most-output", "TOKENS", "of an answer; left out: 16384", "", {}, false, false},
      {"--temperature", "T", "left out: the model's own", "", {}, false, false},
      {"--max-tokens", "TOKENS", "the search ends before it spends more", "", {}, false, false},
      {"--max-cost", "DOLLARS", "the same in money; the model's prices must be known", "", {}, false, false},
      {"--transcript",
       "FILE",
       "where every question and answer is kept [default: transcripts/RUN.jsonl of the store]",
       "",
       {},
       false,
       false},
      {"--replay-transcript", "FILE", "answers come from a recorded session, without network", "", {}, false, false},
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
    return fail(Code::bad_argument, "--agent needs --provider: who is asked (`solstice list providers`)");
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
