// The language model of a run: its provider, opened before anything is measured so that a missing key or a misspelt
// model is said at once, and its part as a proposer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agents/agent.h"
#include "base/json.h"
#include "evaluate/candidate.h"
#include "flow/run/agent/agent_choice.h"
#include "flow/run/agent/code_look.h"
#include "flow/run/agent/led.h"
#include "flow/run/agent/tuned.h"
#include "sol/sol.h"
#include "toolchain/compiler.h"

namespace solstice::flow {

// The problem as a language model is told of it.
struct AgentSubject {
  std::string equations;
  evaluate::Setting setting;
  const sol::SolReport& sol;
  propose::Expert& expert;
  toolchain::Compiler* compiler = nullptr;  // of device code, before it is a trial; null: nothing is compiled here
  bool predicted = false;                   // times are predicted here, and measured nowhere else
  int trials = 0;                           // of the run
  uint64_t seed = 0;                        // of the search
  std::filesystem::path store;              // whose verified programs it may look at
  std::function<Seconds()> left;            // time of the search
  llm::News news;
};

class AgentSide {
 public:
  // Before the run begins, so that nothing is left behind of one whose options are wrong. Errors: bad_argument,
  // not_found, bad_model, bad_key, network_off; those of reading prompts and the transcript. What `choice` has in terms
  // is complete. `news` is told what is waited for.
  static Result<std::unique_ptr<AgentSide>> open(const AgentChoice& choice, llm::News news);
  // Opens the run's own transcript, where `choice` names none. `accounted`: the attempts in it that the run has
  // accounted for; what is behind them is accounted for now, since a process may be killed between the line of an
  // attempt and its account. Errors: those of the transcript.
  Status keep_transcript(const std::filesystem::path& usual, int64_t accounted);
  // Called after each attempt at a question, when the account has it.
  void after_each(std::function<Status()> spent) { client_->after_each(std::move(spent)); }
  // A text without the provider's keys.
  std::string scrub(std::string text) const { return client_->scrub(std::move(text)); }

  // Once the problem and its bounds are there. All that `subject` refers to outlives it.
  Status brief(AgentSubject subject);
  // The model, and the expert that tunes what it writes.
  search::Proposer& proposer() { return *tuned_; }
  // Where it goes on from; `usual` outlives what is returned.
  Led policy(search::Policy& usual) const { return {usual, *controller_, *choice_.terms.debug}; }
  // It may be asked from the problem, whatever the expert made of it.
  bool asks_from_the_problem() const { return controller_->from && controller_->from(search::Tree()) == 0; }

  // Who took part and what it used, for reports; `tree`: of the run.
  Json record(const search::Tree& tree) const;
  std::string title() const;  // "inprompt with gpt-5-mini"
  std::string who() const;    // "gpt-5-mini": the origin of its proposals

 private:
  explicit AgentSide(const AgentChoice& choice) : choice_(choice) {}
  Status open_client(const llm::ClientOptions& options);
  Status check_lengths(const llm::Model& model);
  Status record_in(const std::filesystem::path& file);

  AgentChoice choice_;
  const agents::ControllerSpec* controller_ = nullptr;
  int64_t most_prompt_ = 100'000;  // tokens
  std::optional<int64_t> most_repaired_;
  std::unique_ptr<llm::Transcript> transcript_;
  std::unique_ptr<llm::Client> client_;
  std::optional<agents::Prompts> prompts_;
  std::unique_ptr<agents::Agent> agent_;
  std::unique_ptr<Tuned> tuned_;
  std::unique_ptr<CodeLook> code_;
  std::filesystem::path transcript_file_;
};

}  // namespace solstice::flow
