// `solstice llm ask` and the lists of providers and models, as a user meets them.
#include <signal.h>

#include <chrono>

#include "support/http_server.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

using testing::FaultyServer;
using Exchange = FaultyServer::Exchange;

constexpr const char* kKey = "sk-test-0123456789abcdef";

class LlmAskTest : public ProgramTest {
 protected:
  void SetUp() override {
    ::setenv("SOLSTICE_TEST_KEY", kKey, 1);
    ASSERT_TRUE(write_file(prompt_, "why?").ok());
  }
  void TearDown() override { ::unsetenv("SOLSTICE_TEST_KEY"); }

  std::vector<std::string> ask(const FaultyServer& server, std::vector<std::string> more = {}) const {
    std::vector<std::string> out = {"llm",        "ask",
                                    "--provider", "openai",
                                    "--model",    "gpt-5-mini",
                                    "--prompt",   prompt_.string(),
                                    "--option",   "key_env=SOLSTICE_TEST_KEY",
                                    "--option",   "base_url=" + server.url()};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  // All that the program has written below its folder.
  std::string files() const {
    std::string out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (entry.is_regular_file()) out += *read_file(entry.path());
    }
    return out;
  }

  static std::string chat(const std::string& text) {
    return "data: {\"choices\":[{\"delta\":{\"content\":\"" + text + "\"},\"finish_reason\":\"stop\"}]}\n\n" +
           "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000000,\"completion_tokens\":100000}}\n\ndata: "
           "[DONE]\n\n";
  }

  std::filesystem::path prompt_ = folder_.path() / "prompt.txt";
};

TEST_F(LlmAskTest, AnswersOnStandardOutputAndCountsOnStandardError) {
  FaultyServer server([](const Exchange& e) { e.stream(chat("because")); });
  const CommandOutput done = run(ask(server));
  EXPECT_EQ(done.exit.code, 0) << done.err;
  EXPECT_EQ(done.out, "because\n");
  EXPECT_EQ(done.err.rfind("solstice: complete, 1000000 tokens in, 100000 out, 0.450000 USD, ", 0), 0u) << done.err;
}

TEST_F(LlmAskTest, ARecordedSessionIsReplayedWithoutNetwork) {
  const std::string transcript = (folder_.path() / "t.jsonl").string();
  {
    FaultyServer server([](const Exchange& e) { e.stream(chat("because")); });
    ASSERT_EQ(run(ask(server, {"--transcript", transcript})).exit.code, 0);
  }
  const CommandOutput again = run({"llm", "ask", "--provider", "replay", "--option", "transcript=" + transcript,
                                   "--prompt", prompt_.string(), "--no-network", "--json"});
  ASSERT_EQ(again.exit.code, 0) << again.err;
  EXPECT_EQ(parse_json(again.out)->at("text").as_string(), "because");
}

TEST_F(LlmAskTest, TheKeyIsNowhereButInTheRequest) {
  const std::string echo = std::string("your key is ") + kKey;
  FaultyServer server([&](const Exchange& e) {
    if (e.number == 0) return e.stream(chat(echo));
    e.answer(401, "{\"error\":{\"message\":\"" + echo + "\"}}");
  });
  std::string seen;
  for (int i = 0; i < 2; ++i) {
    const CommandOutput done = run(ask(server, {"--transcript", (folder_.path() / "t.jsonl").string()}));
    EXPECT_EQ(done.exit.code, i == 0 ? 0 : 3) << done.err;
    seen += done.out + done.err;
  }
  seen += files();
  EXPECT_EQ(seen.find(kKey), std::string::npos) << seen;
  EXPECT_NE(seen.find("your key is [key]"), std::string::npos) << seen;
  EXPECT_NE(server.requests().at(0).find(kKey), std::string::npos);
}

TEST_F(LlmAskTest, WhatIsNoAnswerIsExitCode2) {
  FaultyServer server([](const Exchange& e) { e.stream(chat("")); });
  const CommandOutput done = run(ask(server));
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_EQ(done.err.rfind("solstice: empty", 0), 0u) << done.err;
}

TEST_F(LlmAskTest, MistakesAreNamed) {
  FaultyServer server([](const Exchange&) {});
  const auto says = [&](std::vector<std::string> arguments, const char* text) {
    const CommandOutput done = run(std::move(arguments));
    EXPECT_EQ(done.exit.code, 2) << done.err;
    EXPECT_NE(done.err.find(text), std::string::npos) << done.err;
  };
  says(ask(server, {"--no-network"}), "error[network_off]");
  says(ask(server, {"--option", "stream"}), "takes NAME=VALUE");
  says(ask(server, {"--temperature", "hot"}), "--temperature is `hot`");
  says(ask(server, {"--model", "gpt-6-maxi"}), "models/README.md");
  says({"llm", "ask", "--provider", "openay"}, "no provider is called `openay`");
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(LlmAskTest, CtrlCEndsACallThatHangs) {
  std::atomic<bool> asked = false;
  FaultyServer server([&](const Exchange& e) {
    asked = true;
    e.wait(std::chrono::milliseconds(20000));
  });
  SpawnOptions options;
  options.argv = {companion("solstice")->string()};
  const std::vector<std::string> arguments = ask(server);
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  Result<Subprocess> child = Subprocess::spawn(options);
  ASSERT_TRUE(child.ok());
  for (int i = 0; i < 2000 && !asked; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(::kill(child->pid(), SIGINT), 0);
  const Result<ExitStatus> exit = child->wait(Deadline(Seconds(5)));
  ASSERT_TRUE(exit.ok());
  EXPECT_EQ(exit->code, 130);
}

TEST_F(LlmAskTest, ProvidersAndModelsAreListed) {
  const Json providers = *parse_json(run({"list", "providers", "--json"}).out);
  EXPECT_EQ(providers.size(), 5u);
  EXPECT_EQ(providers.at(size_t{0}).at("name").as_string(), "anthropic");
  EXPECT_GT(providers.at(size_t{0}).at("options").size(), 0u);
  const Json models = *parse_json(run({"list", "models", "--json"}).out);
  ASSERT_GT(models.size(), 0u);
  EXPECT_FALSE(models.at(size_t{0}).at("provider").as_string().empty());
  EXPECT_NE(run({"list", "models"}).out.find("gpt-5-mini"), std::string::npos);
}

}  // namespace
}  // namespace solstice::cli
