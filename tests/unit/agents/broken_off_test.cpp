// A search with a controller of several turns, broken off behind every event, grows the tree of one that was not.
#include "agents/agent.h"
#include "base/hash.h"
#include "search/make_policy.h"
#include "unit/agents/support.h"

namespace solstice::agents {
namespace {

constexpr const char* kFirst = "program p\nkernel a by map(vector=4) {\n  y[i] = x[i] + 1\n}\n";

// A model whose answer is a function of its question: of the role, and of a checksum.
constexpr const char* kModel = R"(#!/bin/sh
request=$(cat)
sum=$(printf %s "$request" | cksum | cut -d' ' -f1)
begin='{"find":"kernel a by","replace":"# <<<IMPROVE BEGIN: it>>>\nkernel a by"}'
end='{"find":"  y[i] =","replace":"# <<<IMPROVE END>>>\n  y[i] ="}'
mended='{"find":"kernel a by","replace":"# mended '$sum'\nkernel a by"}'
program='"nothing_left":"no","program":""'
more='"look":[],'
case "$request" in
  *'"label":"flat"'*) more=;;
  *'"label":"inprompt"'*) more='"lesson":"","analysis":"","hypotheses":[],';;
  *'"label":"reflexion"'*) more='"reflection":"of '$sum'",';;
esac
case "$request" in
  *'"label":"plan"'*) answer='"reason":"plan '$sum'",'$program',"edits":['$begin','$end']';;
  *'"label":"code"'*) answer='"reason":"code '$sum'","body":"kernel a by map(vector='$sum') {"';;
  *) answer='"reason":"mend '$sum'",'$program',"edits":['$mended']';;
esac
text=$(printf '{%s%s}' "$more" "$answer" | sed 's/[\\"]/\\&/g')
printf '{"text":"%s","finish":"complete","usage":{"input":100,"output":10}}' "$text"
)";

// Some fail, and what works takes a time of its own.
class Device : public search::InOrder {
 protected:
  void begin(const search::Node& node) override { programs_[node.id] = node.proposal.program; }
  Result<search::Measurement> finish(int node) override {
    const auto hash = static_cast<double>(std::stoull(hash_hex(programs_[node]).substr(0, 8), nullptr, 16) % 1000);
    search::Measurement out;
    out.state = hash < 400 ? TrialState::kWrong : TrialState::kVerified;
    if (out.usable()) out.time = Seconds(1e-6 + hash * 1e-9);
    return out;
  }

 private:
  std::map<int, std::string> programs_;
};

class BrokenOff : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path file = folder_.path() / "model.sh";
    ASSERT_TRUE(write_file(file, kModel).ok());
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    auto client = llm::Client::open("command", {{"command", file.string()}}, {}, {});
    ASSERT_TRUE(client.ok()) << client.error().text();
    client_ = std::move(*client);
  }

  // Goes on as a process does that has begun anew: with nothing but the events.
  void go_on(search::Tree& tree, const char* controller, int trials) {
    AgentOptions options;
    options.controller = *find_controller(controller);
    options.origin = "model";
    options.look = [](const std::string& query, int64_t) -> Result<std::string> { return "code for " + query; };
    Briefing told = testing::briefing();
    told.writes = Writes::kBoth;
    Agent agent(std::move(options), std::move(told), testing::prompts(), *client_,
                [](const std::string&) -> Result<Complaint> { return Complaint(); });
    Device device;
    const auto policy = search::make_policy("epsilon-greedy(epsilon=0.6)", 3);
    search::Budget budget;
    budget.trials = trials;
    const auto stop = search::run(tree, {**policy, agent, device}, budget, 1, {}, [] { return false; });
    EXPECT_TRUE(stop.ok()) << stop.error().text();
  }

  static std::vector<std::string> events_of(const search::Tree& tree) {
    std::vector<std::string> out;
    for (const search::Event& event : tree.events()) out.push_back(to_json(event).dump());
    return out;
  }

  static search::Tree begun() {
    search::Tree tree(Seconds(10e-6));
    testing::grow(tree, 0, kFirst, 5e-6);
    tree.spend(0);
    return tree;
  }

 private:
  TempFolder folder_ = std::move(TempFolder::create("model")).value();
  std::unique_ptr<llm::Client> client_;
};

TEST_F(BrokenOff, BehindAnyEventItGoesOnToTheSameTree) {
  for (const char* controller : {"flat", "inprompt", "reflexion", "stark"}) {
    search::Tree whole = begun();
    const size_t before = whole.events().size();
    go_on(whole, controller, 7);
    const std::vector<std::string> expected = events_of(whole);
    EXPECT_EQ(whole.trials(), 7) << controller;
    for (size_t kept = before; kept < expected.size(); ++kept) {
      search::Tree tree;
      for (size_t i = 0; i < kept; ++i) {
        const auto event = from_json<search::Event>(*parse_json(expected[i]));
        ASSERT_TRUE(event.ok()) << event.error().text();
        ASSERT_TRUE(tree.apply(*event).ok());
      }
      go_on(tree, controller, 7);
      EXPECT_EQ(events_of(tree), expected) << controller << " broken off behind event " << kept;
    }
  }
}

TEST_F(BrokenOff, AllRolesHaveTheirTurns) {
  search::Tree tree = begun();
  go_on(tree, "stark", 7);
  std::map<std::string, int> roles;
  for (const search::Event& event : tree.events()) {
    if (event.kind == search::Event::Kind::kNoted) ++roles[event.proposal->role];
    if (event.kind == search::Event::Kind::kProposed && event.proposal->reason.starts_with("mend")) ++roles["debug"];
  }
  EXPECT_GE(roles["plan"], 2);
  EXPECT_EQ(roles["look"], roles["plan"]);
  EXPECT_GE(roles["debug"], 1);
}

}  // namespace
}  // namespace solstice::agents
