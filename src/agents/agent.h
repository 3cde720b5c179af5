// A language model as proposer. The policy of the search says from which node, the controller which conversation, the
// model what to try; what it writes is checked before it becomes a trial, and a text that is not legal may be mended a
// few times for free.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agents/controller.h"
#include "llm/client.h"
#include "search/search.h"

namespace solstice::agents {

// A fault of a program, for its author.
struct Complaint {
  std::string text;          // "": nothing
  bool of_candidate = true;  // it would fail as a candidate; else it is only not what was asked for
};

// Errors are those of the machine.
using Check = std::function<Result<Complaint>(const std::string& program)>;

struct AgentOptions {
  const ControllerSpec* controller = nullptr;
  int64_t most_output = 16384;           // tokens of an answer
  int64_t most_prompt = 100'000;         // tokens of instructions and conversation, repairs apart
  std::optional<int64_t> most_repaired;  // the same with repairs; none: not known
  std::optional<double> temperature;     // none: the model's own
  std::string origin;                    // Proposal::origin: who writes
  std::function<void(const std::string&)> news = [](const std::string&) {};  // before and after each question
  std::function<Seconds()> left = [] { return Seconds(1e9); };               // until the search ends
};

class Agent : public search::Proposer {
 public:
  // `client` outlives the agent.
  Agent(AgentOptions options, Briefing briefing, Prompts prompts, llm::Client& client, Check check);

  // Always something: an answer without a program that is legal, after its repairs, is a candidate that fails (barren,
  // where there is none at all); one that says that nothing is left is a proposal without a program. Where it said so
  // of all programs it is not asked again before there is another result. All its questions end by one deadline: the
  // client's patience, or the search's end. Errors: those of the client, of prompts and of the check.
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int node) override;

 private:
  struct Draft;
  Result<llm::Request> request_of(const search::Tree& tree, int node) const;
  Result<Complaint> complaint_of(const llm::Reply& reply, const search::Tree& tree, Draft& draft) const;
  Result<Complaint> checked(const search::Tree& tree, const std::string& program) const;
  Result<Complaint> converse(llm::Request& request, const search::Tree& tree, Draft& draft, search::Proposal& out);
  Status ask_again(llm::Request& request, const llm::Reply& reply, const std::string& complaint,
                   const Draft& draft) const;

  AgentOptions options_;
  Briefing briefing_;
  Prompts prompts_;
  llm::Client& client_;
  Check legality_;
  Json extra_;
};

}  // namespace solstice::agents
