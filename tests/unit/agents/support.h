// A scripted model behind a real client, and small trees.
#pragma once

#include <gtest/gtest.h>

#include "agents/agent.h"
#include "base/file.h"
#include "record/kernel_trace.h"

namespace solstice::agents::testing {

inline Prompts prompts() {
  auto loaded = Prompts::load(std::filesystem::path(SOLSTICE_SOURCE_DIR) / "prompts");
  EXPECT_TRUE(loaded.ok()) << loaded.error().text();
  return loaded.ok() ? std::move(loaded).value() : Prompts();
}

inline Briefing briefing() {
  Briefing out;
  out.equations = "program p\ninput x : f32[8]\noutput y : f32[8]\ny[i] = x[i] + 1\n";
  out.machine = machine::load_machine(SOLSTICE_SOURCE_DIR "/machines/h200.toml").value();
  out.setting = "Machine: a small one.";
  out.grammar = "(the page)";
  out.families = "(the families)";
  out.ladder = "io  1.00 us";
  out.practical = Seconds(2e-6);
  out.trials = 12;
  return out;
}

// Of a call of two kernels, one of them of two steps.
inline KernelTrace trace() {
  return {{{"k1", Seconds(0.9e-6), Seconds(0.8e-6), {}},
           {"k2", Seconds(2.7e-6), Seconds(0.8e-6), {{"k2-split", Seconds(0.3e-6)}, {"k2", Seconds(2.4e-6)}}}},
          ""};
}

inline int grow(search::Tree& tree, int parent, const std::string& program, double seconds,
                const std::string& answer = "", const std::string& reason = "a move", const std::string& detail = "",
                const Json& record = Json::object()) {
  search::Proposal proposal;
  proposal.program = program;
  proposal.reason = reason;
  proposal.parent = parent;
  proposal.answer = answer;
  proposal.origin = answer.empty() ? "expert" : "model";
  const int id = tree.add(std::move(proposal))->id;
  search::Measurement m;
  m.state = seconds > 0 ? TrialState::kVerified : TrialState::kWrong;
  m.time = Seconds(seconds);
  m.detail = detail;
  m.record = record;
  tree.complete(id, std::move(m));
  return id;
}

// A tree in which an expert and then a model tried something.
inline search::Tree grown() {
  search::Tree tree(Seconds(10e-6));
  const int first = grow(tree, 0, "program p\nkernel a by map() {\n  y[i] = x[i] + 1\n}\n", 5e-6, "",
                         "the cost models' first choice");
  const int second =
      grow(tree, first, "program p\nkernel a by map(vector=4) {\n  y[i] = x[i] + 1\n}\n", 4e-6,
           R"({"reason":"wider loads"})", "wider loads", "", Json::object().set("trace", to_json(trace())));
  grow(tree, second, "program p\nkernel a by map(vector=8) {\n  y[i] = x[i] + 2\n}\n", 0, R"({"reason":"wider still"})",
       "wider still", "it does not compute the problem: y[0] is 3 for 2");
  return tree;
}

// Replies of a `command` provider: a shell script that gives the n-th file of a folder.
class Script {
 public:
  explicit Script(const std::vector<std::string>& replies) : folder_(std::move(TempFolder::create("script")).value()) {
    for (size_t i = 0; i < replies.size(); ++i)
      EXPECT_TRUE(write_file(folder_.path() / (std::to_string(i + 1) + ".json"), replies[i]).ok());
    const std::string text =
        "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nn=$(($(cat count 2>/dev/null || echo 0) + 1))\necho $n > count\ncat > "
        "request$n\ncat $n.json\n";
    EXPECT_TRUE(write_file(folder_.path() / "model.sh", text).ok());
    std::filesystem::permissions(folder_.path() / "model.sh", std::filesystem::perms::owner_all);
    llm::ClientOptions options;
    options.first_wait = Seconds(0.001);
    auto client = llm::Client::open("command", {{"command", (folder_.path() / "model.sh").string()}}, {}, options);
    EXPECT_TRUE(client.ok()) << client.error().text();
    if (client.ok()) client_ = std::move(*client);
  }
  llm::Client& client() { return *client_; }
  std::string request(int number) const {
    return read_file(folder_.path() / ("request" + std::to_string(number))).value();
  }

 private:
  TempFolder folder_;
  std::unique_ptr<llm::Client> client_;
};

// What the script prints for a text.
inline std::string says(const std::string& text, const std::string& finish = "complete") {
  return Json::object()
      .set("text", text)
      .set("finish", finish)
      .set("usage", Json::object().set("input", 100).set("output", 10))
      .dump();
}

inline Json answer(const std::string& reason, const std::string& program) {
  return Json::object()
      .set("reason", reason)
      .set("nothing_left", "no")
      .set("edits", Json::array())
      .set("program", program);
}

inline Json answer(const std::string& reason, const std::string& find, const std::string& replace) {
  const Json edit = Json::object().set("find", find).set("replace", replace);
  return Json::object()
      .set("reason", reason)
      .set("nothing_left", "no")
      .set("edits", Json::array().push(edit))
      .set("program", "");
}

// "here", "anywhere".
inline Json nothing_left(const std::string& where, const std::string& reason) {
  return answer(reason, "").set("nothing_left", where);
}

}  // namespace solstice::agents::testing
