// A language model as proposer. The policy of the search says from which node, the controller which conversation, the
// model what to try; what it writes is checked before it becomes a trial, and a text that is not legal may be mended a
// few times for free.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agents/controller.h"
#include "agents/looks.h"
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
  std::optional<double> temperature;     // of all turns; none: the turn's, else the model's own
  std::string origin;                    // Proposal::origin: who writes
  std::function<void(const std::string&)> news = [](const std::string&) {};  // before and after each question
  std::function<Seconds()> left = [] { return Seconds(1e9); };               // until the search ends
  Look look = [](const std::string&, int64_t) -> Result<std::string> { return std::string("there is no code here"); };
};

class Agent : public search::Proposer {
 public:
  // `client` outlives the agent.
  Agent(AgentOptions options, Briefing briefing, Prompts prompts, llm::Client& client, Check check);

  // The next turn of the attempt from `node`, or its candidate. Always something: an answer without a program that is
  // legal, after its repairs, is a candidate that fails (barren, where there is none at all), in whatever turn; one
  // that says that nothing is left is a proposal without a program. Where it said so of all programs it is not asked
  // again before there is another result. All questions of a turn end by one deadline: the client's patience, or the
  // search's end. Errors: those of the client, of prompts, of the check and of code search.
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int node) override;

 private:
  struct Draft;
  llm::Request request_of(const Turn& turn) const;
  Result<Complaint> complaint_of(const llm::Reply& reply, const search::Tree& tree, Draft& draft) const;
  Result<Complaint> checked(const search::Tree& tree, const std::string& program) const;
  Result<Complaint> converse(llm::Request& request, const search::Tree& tree, Draft& draft, search::Proposal& out);
  Result<bool> show_code(llm::Request& request, const llm::Reply& reply, Draft& draft) const;
  Status ask_again(llm::Request& request, const llm::Reply& reply, const std::string& complaint,
                   const Draft& draft) const;
  Result<std::optional<search::Proposal>> found_in_code(const std::vector<std::string>& queries) const;

  AgentOptions options_;
  Briefing briefing_;
  Prompts prompts_;
  llm::Client& client_;
  Check legality_;
};

}  // namespace solstice::agents
