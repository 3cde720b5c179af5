// Which language model takes part in a run, how it is led and what it may spend.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "agents/briefing.h"
#include "llm/ledger.h"

namespace solstice::flow {

struct AgentChoice {
  std::string controller;                      // of `solstice list controllers`; "": none, the expert works alone
  std::string provider;                        // of `solstice list providers`
  std::map<std::string, std::string> options;  // of the provider
  std::string model;                           // "": none
  bool network = true;
  agents::Writes writes = agents::Writes::kUcut;
  agents::Feedback feedback = agents::Feedback::kTools;
  bool sol = true;                    // whether it is told the speed of light
  int expert = 8;                     // first trials are the expert's
  int repairs = 3;                    // free ones a trial
  int64_t most_output = 16384;        // tokens of an answer
  std::optional<double> temperature;  // none: the model's own
  llm::Budget budget;
  std::filesystem::path replay;      // a transcript that answers in the provider's place; "": none
  std::filesystem::path transcript;  // "": transcripts/RUN.jsonl of the store

  bool wanted() const { return !controller.empty(); }
};

}  // namespace solstice::flow
