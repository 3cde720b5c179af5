#include "flow/run/agent/agent_choice.h"

#include <fmt/format.h>

namespace solstice::flow {

AgentTerms AgentTerms::usual() {
  AgentTerms out;
  out.writes = agents::Writes::kUcut;
  out.sol = true;
  out.feedback = agents::Feedback::kTools;
  out.expert = 8;
  out.tune = 2;
  out.debug = 2;
  out.most_output = 16384;
  return out;
}

AgentTerms AgentTerms::or_as(const AgentTerms& before) const {
  AgentTerms out = *this;
  const auto fill = [&](auto member) {
    if (!(out.*member)) out.*member = before.*member;
  };
  std::apply([&](const auto&... field) { (fill(field.member), ...); }, fields());
  return out;
}

std::string AgentTerms::text() const {
  std::string out;
  const auto add = [&](const char* option, const std::string& value) {
    out += fmt::format("{}{} {}", out.empty() ? "" : " ", option, value);
  };
  if (writes) add("--write", enum_name(*writes));
  if (sol) add("--sol", *sol ? "on" : "off");
  if (feedback) add("--feedback", enum_name(*feedback));
  if (expert) add("--expert", std::to_string(*expert));
  if (tune) add("--tune", std::to_string(*tune));
  if (debug) add("--debug", std::to_string(*debug));
  if (most_output) add("--most-output", std::to_string(*most_output));
  if (temperature) add("--temperature", fmt::format("{}", *temperature));
  if (tokens) add("--max-tokens", std::to_string(*tokens));
  if (cost) add("--max-cost", fmt::format("{}", cost->value));
  return out;
}

Result<AgentTerms> terms_of(const RunRecord& run) {
  const Json& kept = run.options.at("agent_terms");
  if (kept.is_null()) return AgentTerms();
  return from_json<AgentTerms>(kept).context("run " + run.id);
}

}  // namespace solstice::flow
