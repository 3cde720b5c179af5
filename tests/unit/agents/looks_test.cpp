// An answer that asks for code, through a provider that a person may sit at.
#include "agents/looks.h"

#include <filesystem>
#include <thread>

#include "agents/agent.h"
#include "unit/agents/support.h"

namespace solstice::agents {
namespace {

namespace fs = std::filesystem;

bool appears(const fs::path& file) {
  for (int i = 0; i < 1000 && !fs::exists(file); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return fs::exists(file);
}

TEST(LooksByMail, AreAnsweredLikeOthers) {
  const TempFolder folder = std::move(TempFolder::create("box")).value();
  const fs::path box = folder.path() / "box";
  auto client = llm::Client::open(
      "mailbox", {{"folder", box.string()}, {"timeout", "20"}, {"poll", "0.01"}, {"settle", "0.02"}}, {}, {});
  ASSERT_TRUE(client.ok()) << client.error().text();
  std::string second;
  std::thread person([&] {
    const Json look = testing::answer("", "").set("look", Json::array().push("kernels/copy/tma.h:1-40"));
    ASSERT_TRUE(appears(box / "requests/0001.json"));
    ASSERT_TRUE(write_file(box / "replies/0001.md", look.dump()).ok());
    ASSERT_TRUE(appears(box / "requests/0002.json"));
    second = read_file(box / "requests/0002.json").value();
    const Json none = testing::nothing_left("here", "seen enough").set("look", Json::array());
    ASSERT_TRUE(write_file(box / "replies/0002.md", none.dump()).ok());
  });
  AgentOptions options;
  options.controller = *find_controller("stark");
  options.origin = "person";
  options.look = [](const std::string& query, int64_t) -> Result<std::string> { return "the lines of " + query; };
  Agent agent(std::move(options), testing::briefing(), testing::prompts(), **client,
              [](const std::string&) -> Result<Complaint> { return Complaint(); });
  const auto found = agent.propose(testing::grown(), 2);
  person.join();
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ((*found)->reason, "seen enough");
  EXPECT_NE(second.find("the lines of kernels/copy/tma.h:1-40"), std::string::npos) << second;
}

TEST(LooksText, HasALimitForAllAndSaysWhatItLeavesOut) {
  const Look look = [](const std::string& query, int64_t) -> Result<std::string> {
    std::string out = query + "\n";
    for (int i = 0; i < 2000; ++i) out += "a line of code\n";
    return out;
  };
  const auto found = looked_up(look, {"one\ntwo", std::string(5000, 'q'), "three", "four"}, 1600);
  ASSERT_TRUE(found.ok());
  EXPECT_LT(llm::estimated_tokens(*found), 2000);
  EXPECT_NE(found->find("### one two\n"), std::string::npos);
  EXPECT_NE(found->find("not looked up: there is no room for more"), std::string::npos);
  const Look broken = [](const std::string&, int64_t) -> Result<std::string> {
    return fail(Code::io_error, "the disk is gone");
  };
  EXPECT_EQ(looked_up(broken, {"one"}, 1000).error().code, Code::io_error) << "no mistake of whoever asked";
}

}  // namespace
}  // namespace solstice::agents
