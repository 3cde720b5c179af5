// solstice code search, code read.
#include "base/json.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

// kernels/ and examples/ are there wherever the program is; CUTLASS need not be.
TEST_F(ProgramTest, TheFirstSearchBuildsTheIndexAndTheNextDoesNot) {
  const CommandOutput first = run({"code", "search", "stream-K fix-up that adds partial tiles"});
  ASSERT_EQ(first.exit.code, 0) << first.err;
  EXPECT_NE(first.err.find("building the code index"), std::string::npos) << first.err;
  EXPECT_NE(first.out.find("kernels/pipeline/stream_k_fixup.h:"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("`solstice code read "), std::string::npos) << first.out;

  const CommandOutput second = run({"code", "search", "stream-K", "fix-up", "--limit", "1", "--json"});
  ASSERT_EQ(second.exit.code, 0) << second.err;
  EXPECT_EQ(second.err, "");
  const Result<Json> json = parse_json(second.out);
  ASSERT_TRUE(json.ok()) << second.out;
  ASSERT_EQ(json->at("hits").size(), 1U);
  const Json& hit = json->at("hits").at(size_t{0});
  EXPECT_GT(hit.at("first").as_int(), 0);
  EXPECT_GT(hit.at("lines").size(), 0U);
  EXPECT_GT(hit.at("why").size(), 0U);

  const std::string place = hit.at("path").as_string() + ":1-2";
  const CommandOutput read = run({"code", "read", place});
  EXPECT_EQ(read.exit.code, 0) << read.err;
  EXPECT_NE(read.out.find("      2  "), std::string::npos) << read.out;
  EXPECT_EQ(parse_json(run({"code", "read", place, "--json"}).out)->at("lines").size(), 2U);

  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"search", "  "},
                                                {"search", "\"*\""},
                                                {"search", "tma", "--limit", "0"},
                                                {"read", "../secret.h:1-2"},
                                                {"read", "kernels/no.h"},
                                                {"read", "kernels/copy/tma.h:99999"},
                                                {"read", "kernels/copy/tma.h:9-1"}}) {
    std::vector<std::string> words = {"code"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    const CommandOutput done = run(words);
    EXPECT_EQ(done.exit.code, 2) << wrong[1] << done.err;
    EXPECT_NE(done.err.find("hint: "), std::string::npos) << wrong[1] << done.err;
  }
}

TEST_F(ProgramTest, ASearchWhereNothingCanBeWrittenSaysWhere) {
  SpawnOptions options;
  options.argv = {companion("solstice")->string(), "code", "search", "tma"};
  options.environment = {{"SOLSTICE_HOME", (folder_.path() / "home").string()}, {"SOLSTICE_CACHE", "/proc/none"}};
  const Result<CommandOutput> done = run_command(options, Seconds(120));
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->exit.code, 3);
  EXPECT_NE(done->err.find("/proc/none"), std::string::npos) << done->err;
}

}  // namespace
}  // namespace solstice::cli
