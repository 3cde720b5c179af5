// Which language model takes part in a run, how it is led and what it may spend.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "agents/briefing.h"
#include "llm/ledger.h"
#include "record/run.h"

namespace solstice::flow {

// The terms of a language model's part. Those that are not given are the resumed run's, else AgentTerms::usual(). Kept
// with a run (RunRecord::options, "agent_terms").
struct AgentTerms {
  std::optional<agents::Writes> writes;
  std::optional<bool> sol;  // whether it is told the speed of light
  std::optional<agents::Feedback> feedback;
  std::optional<int> expert;           // first trials are the expert's
  std::optional<int> tune;             // trials of the expert for each program that the model writes
  std::optional<int> debug;            // repairs in a row of what failed on the device
  std::optional<int64_t> most_output;  // tokens of an answer
  std::optional<double> temperature;   // none: the model's own
  std::optional<int64_t> tokens;       // that it may use, each time the run is started; none: without a limit
  std::optional<llm::Dollars> cost;    // the same in money

  static AgentTerms usual();
  // These, and those of `before` where nothing is said.
  AgentTerms or_as(const AgentTerms& before) const;
  // As options of the command line: "--write both --sol on --expert 4".
  std::string text() const;

  static auto fields() {
    return std::make_tuple(optional_field("writes", &AgentTerms::writes, "ucut, cuda or both"),
                           optional_field("sol", &AgentTerms::sol, "told the bounds"),
                           optional_field("feedback", &AgentTerms::feedback, "none, raw or tools"),
                           optional_field("expert", &AgentTerms::expert, "first trials are the expert's"),
                           optional_field("tune", &AgentTerms::tune, "trials of the expert for each of its programs"),
                           optional_field("debug", &AgentTerms::debug, "repairs in a row of what failed on the device"),
                           optional_field("most_output", &AgentTerms::most_output, "tokens of an answer"),
                           optional_field("temperature", &AgentTerms::temperature, "null: the model's own"),
                           optional_field("tokens", &AgentTerms::tokens, "budget of each start; null: none"),
                           optional_field("cost", &AgentTerms::cost, "the same in US dollars"));
  }
};

// Of a run that is in a store; nothing is said in one of a Solstice that kept none. Error bad_record.
Result<AgentTerms> terms_of(const RunRecord& run);

struct AgentChoice {
  std::string controller;                      // of `solstice list controllers`; "": none, the expert works alone
  std::string provider;                        // of `solstice list providers`
  std::map<std::string, std::string> options;  // of the provider
  std::string model;                           // "": none
  bool network = true;
  AgentTerms terms;
  int repairs = 3;                   // free ones a trial
  std::filesystem::path replay;      // a transcript that answers in the provider's place; "": none
  std::filesystem::path transcript;  // "": transcripts/RUN.jsonl of the store

  bool wanted() const { return !controller.empty(); }
};

}  // namespace solstice::flow
