// The index: built, kept as the files are, damaged, built by two at once; searching and reading in it.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "store/store.h"
#include "unit/codesearch/support.h"

namespace solstice::codesearch {
namespace {

using Paths = std::vector<std::string>;

TEST_F(CodeSearchTest, FindsByAnyWordOfAGroup) {
  put("copy/tma.h", "// Loads a box through the copy engine.\nvoid tma_load() { asm(\"cp.async.bulk.tensor.2d\"); }\n");
  put("mma/wgmma.h", "struct GMMA_64x256 {};\n");
  put("README.md", "# Headers\nnothing of it\n");
  EXPECT_EQ(paths("tensor memory accelerator"), Paths{"kernels/copy/tma.h"});
  EXPECT_EQ(paths("64x256 wgmma"), Paths{"kernels/mma/wgmma.h"});
  EXPECT_EQ(paths("gmma_64x2567"), Paths{"kernels/mma/wgmma.h"}) << "a name that is nearly so";
  Result<CodeIndex> index = open();
  const Result<Answer> answer = index->search("loads zzzzqq box");
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->hits.size(), 1U);
  const Hit& hit = answer->hits[0];
  EXPECT_EQ(hit.first, 1);
  EXPECT_EQ(hit.last, 2);
  EXPECT_EQ(hit.title, "tma_load()");
  ASSERT_FALSE(hit.lines.empty());
  EXPECT_EQ(hit.lines[0].number, 1);
  EXPECT_EQ(answer->unknown, Paths{"zzzzqq"});
}

TEST_F(CodeSearchTest, CodeForOtherArchitecturesIsBehind) {
  put("mma_sm100.h", "struct Atom { int mma; };\n");
  put("mma_sm90.h", "struct Atom { int mma; };\n");
  EXPECT_EQ(paths("mma atom"), (Paths{"kernels/mma_sm90.h", "kernels/mma_sm100.h"}));
  EXPECT_EQ(paths("mma atom on blackwell").front(), "kernels/mma_sm100.h");
}

TEST_F(CodeSearchTest, OperatorsOfFullTextAreText) {
  put("a.h", "void tma_load();\n");
  Result<CodeIndex> index = open();
  ASSERT_TRUE(index.ok()) << index.error().text();
  for (const char* question :
       {"\"tma", "tma AND load", "tma NOT load", "tma* ^load", "NEAR(tma load, 2)", "name: tma", "(tma", "tma)) OR ((",
        "{tma load}: x", "'; DROP TABLE files; -- tma", "-tma +load", "tma\n\tload", "t\xc3\xa9ma tma"}) {
    const Result<Answer> answer = index->search(question);
    ASSERT_TRUE(answer.ok()) << question << answer.error().text();
    EXPECT_EQ(answer->hits.size(), 1U) << question;
  }
}

TEST_F(CodeSearchTest, AQuestionWithoutWordsIsRefused) {
  put("a.h", "void tma_load();\n");
  Result<CodeIndex> index = open();
  for (const std::string& question :
       {std::string(), std::string("  "), std::string("\"*\" ()"), std::string("how to"), std::string(5000, 'a')}) {
    const Result<Answer> answer = index->search(question);
    ASSERT_FALSE(answer.ok()) << question;
    EXPECT_EQ(answer.error().code, Code::bad_argument);
    EXPECT_FALSE(answer.error().hint.empty());
  }
  const Result<Answer> nothing = index->search("qqqqqqqq zzzzzzz");
  ASSERT_TRUE(nothing.ok());
  EXPECT_TRUE(nothing->hits.empty());
  EXPECT_EQ(nothing->unknown.size(), 2U);
}

TEST_F(CodeSearchTest, ALongQuestionIsAnswered) {
  put("a.h", "void tma_load();\n");
  std::string question = "tma_load";
  for (int i = 0; i < 300; ++i) question += " word" + std::to_string(i);
  EXPECT_EQ(paths(question), Paths{"kernels/a.h"});
}

TEST_F(CodeSearchTest, TenThousandQuestions) {
  for (int i = 0; i < 50; ++i) {
    const std::string n = std::to_string(i);
    put("f" + n + ".h", "// Waits for barrier " + n + ".\nvoid wait_" + n + "(int parity);\n");
  }
  Result<CodeIndex> index = open();
  ASSERT_TRUE(index.ok());
  for (int i = 0; i < 10'000; ++i) {
    const std::string n = std::to_string(i % 50);
    const Result<Answer> answer = index->search("wait_" + n, {.hits = 1, .lines = 1});
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    ASSERT_EQ(answer->hits.at(0).path, "kernels/f" + n + ".h");
  }
}

TEST_F(CodeSearchTest, ReadsRangesOfItsFilesAlone) {
  put("a.h", "one\ntwo\nthree\nfour\n");
  ASSERT_TRUE(write_file(folder_.path() / "secret.h", "secret\n").ok());
  Result<CodeIndex> index = open();
  const auto read = [&](const std::string& place) {
    const Result<Place> parsed = parse_place(place);
    return parsed.ok() ? index->read(*parsed) : Result<Passage>(parsed.error());
  };
  const Result<Passage> two = read("kernels/a.h:2-3");
  ASSERT_TRUE(two.ok()) << two.error().text();
  ASSERT_EQ(two->lines.size(), 2U);
  EXPECT_EQ(two->lines[0].text, "two");
  EXPECT_EQ(two->of, 4);
  EXPECT_EQ(read("kernels/a.h:3-99")->last, 4);
  EXPECT_EQ(read("kernels/a.h:3")->lines.size(), 4U) << "what is around it";
  EXPECT_EQ(read("kernels/a.h")->lines.size(), 4U);
  for (const char* place : {"kernels/a.h:5-9", "kernels/a.h:0-1", "kernels/a.h:3-2", "kernels/a.h:x", "kernels/a.h:1-",
                            "kernels/a.h:-1", "kernels/a.h:99999999999999999999", ":1-2", ""}) {
    const Result<Passage> refused = read(place);
    ASSERT_FALSE(refused.ok()) << place;
    EXPECT_EQ(refused.error().code, Code::bad_argument) << place;
    EXPECT_FALSE(refused.error().hint.empty()) << place;
  }
  for (const char* place : {"kernels/../secret.h", "../secret.h", "/etc/passwd", "kernels/b.h:1-2", "kernels/./a.h"}) {
    const Result<Passage> refused = read(place);
    ASSERT_FALSE(refused.ok()) << place;
    EXPECT_EQ(refused.error().code, Code::not_found) << place;
  }
  EXPECT_NE(read("cute/a.h").error().hint.find("kernels/a.h"), std::string::npos);
}

TEST_F(CodeSearchTest, LimitsOfCharactersHold) {
  for (int i = 0; i < 10; ++i) put("f" + std::to_string(i) + ".h", "void wait_for_barrier(int parity, int phase);\n");
  Result<CodeIndex> index = open();
  const Result<Answer> some = index->search("barrier", {.hits = 10, .lines = 4, .characters = 250});
  ASSERT_TRUE(some.ok());
  EXPECT_TRUE(some->cut);
  EXPECT_GE(some->hits.size(), 2U);
  EXPECT_LT(some->hits.size(), 5U);
  put("long.h", std::string(1000, 'x') + "\n" + std::string(1000, 'y') + "\n");
  index = open();
  const Result<Passage> passage = index->read({"kernels/long.h", 1, 2}, {.lines = 10, .characters = 1500});
  ASSERT_TRUE(passage.ok());
  EXPECT_TRUE(passage->cut);
  EXPECT_EQ(passage->last, 1);
}

TEST_F(CodeSearchTest, WhatChangedIsIndexedAgain) {
  for (int i = 0; i < 20; ++i) put("f" + std::to_string(i) + ".h", "void wait_" + std::to_string(i) + "();\n");
  put("a.h", "void tma_load();\n");
  EXPECT_EQ(paths("tma_load"), Paths{"kernels/a.h"});
  EXPECT_NE(said_.find("code index: 21 files"), std::string::npos) << said_;
  put("a.h", "void stmatrix_store();\n");
  put("b.h", "void ldmatrix_load();\n");
  std::filesystem::remove(folder_.path() / "code/f3.h");
  EXPECT_EQ(paths("stmatrix_store"), Paths{"kernels/a.h"});
  EXPECT_NE(said_.find("3 files have changed"), std::string::npos) << said_;
  EXPECT_EQ(paths("ldmatrix"), Paths{"kernels/b.h"});
  EXPECT_EQ(said_, "") << "it is up to date";
  for (const char* gone : {"tma_load", "wait_3"}) {
    const Paths found = paths(gone);
    EXPECT_TRUE(found.empty() || (found[0] != "kernels/a.h" && found[0] != "kernels/f3.h")) << gone;
  }
  std::filesystem::last_write_time(folder_.path() / "code/a.h", std::filesystem::file_time_type::clock::now());
  EXPECT_EQ(paths("stmatrix_store"), Paths{"kernels/a.h"});
  EXPECT_EQ(said_, "") << "the same content at another time";
}

TEST_F(CodeSearchTest, ADamagedIndexIsBuiltAgain) {
  put("a.h", "void tma_load();\n");
  EXPECT_EQ(paths("tma_load"), Paths{"kernels/a.h"});
  ASSERT_TRUE(write_file(index_file(), std::string(8192, 'x')).ok());
  EXPECT_EQ(paths("tma_load"), Paths{"kernels/a.h"});
  EXPECT_NE(said_.find("is damaged"), std::string::npos) << said_;
  EXPECT_NE(said_.find("built again"), std::string::npos) << said_;
  ASSERT_TRUE(write_file(index_file(), "").ok());  // a database without tables
  EXPECT_EQ(paths("tma_load"), Paths{"kernels/a.h"});
}

TEST_F(CodeSearchTest, AnIndexThatIsDamagedBehindItsBeginningIsBuiltAgain) {
  for (int i = 0; i < 200; ++i) {
    const std::string n = std::to_string(i);
    put("f" + n + ".h", "// Waits " + n + ".\nvoid wait_" + n + "(int parity_" + n + ");\n");
  }
  Result<CodeIndex> index = open();
  ASSERT_TRUE(index.ok());
  ASSERT_TRUE(index->search("wait").ok());
  const auto size = std::filesystem::file_size(index_file());
  {
    std::fstream file(index_file(), std::ios::in | std::ios::out | std::ios::binary);
    for (auto at = size / 4; at + 64 < size; at += 4096) {
      file.seekp(static_cast<std::streamoff>(at));
      file << std::string(64, '\xff');
    }
  }
  index = open();
  ASSERT_TRUE(index.ok()) << index.error().text();
  const Result<Answer> answer = index->search("wait parity");
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_FALSE(answer->hits.empty());
  EXPECT_NE(said_.find("built again"), std::string::npos) << said_;
}

TEST_F(CodeSearchTest, AFolderThatCannotBeWrittenIsNamed) {
  put("a.h", "void tma_load();\n");
  Options elsewhere = options();
  elsewhere.folder = "/proc/no-such-folder";
  const Result<CodeIndex> index = CodeIndex::open(elsewhere);
  ASSERT_FALSE(index.ok());
  EXPECT_EQ(index.error().kind(), ErrorKind::kEnvironment);
  EXPECT_NE(index.error().text().find("/proc/no-such-folder"), std::string::npos) << index.error().text();
}

TEST_F(CodeSearchTest, TwoProcessesBuildAtOnce) {
  for (int i = 0; i < 300; ++i) put("f" + std::to_string(i) + ".h", "void wait_" + std::to_string(i) + "(int x);\n");
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Result<CodeIndex> index = CodeIndex::open(options());
      const bool found = index.ok() && index->search("wait_7").ok() && !index->search("wait_7")->hits.empty();
      ::_exit(found ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(paths("wait_7").at(0), "kernels/f7.h");
  EXPECT_EQ(said_, "");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "index/index.new"));
}

std::string keep_run(store::Store& store, double seconds, const std::string& program) {
  RunRecord run;
  run.problem = "linear/gelu";
  run.problem_key = "key";
  run.device = "NVIDIA H200";
  const std::string id = *store.begin_run(run);
  TrialRecord trial;
  trial.run = id;
  trial.number = 1;
  trial.program = program;
  trial.state = TrialState::kVerified;
  trial.measured = Seconds(seconds);
  EXPECT_TRUE(store.add_trial(trial).ok());
  const Json summary = Json::object().set("original", 0.002);
  EXPECT_TRUE(store.finish_run(id, RunState::kFinished, RunOutcome::kFaster, "", summary).ok());
  return id;
}

TEST_F(CodeSearchTest, TheFastestProgramsOfTheStoreAreFound) {
  put("a.h", "void tma_load();\n");
  EXPECT_TRUE(paths("gelu").empty());
  store::Store store = std::move(store::Store::open(folder_.path() / "home")).value();
  const std::string first = keep_run(store, 0.001, "program p\nkernel k by gemm() { y[m] = gelu(x[m]) }\n");
  const std::string path = "store/linear-gelu/" + first + "-1.ucut";
  EXPECT_EQ(paths("gelu"), Paths{path});
  Result<CodeIndex> index = open();
  EXPECT_EQ(said_, "");
  const Result<Passage> passage = index->read({path, 1, 2});
  ASSERT_TRUE(passage.ok()) << passage.error().text();
  EXPECT_EQ(passage->lines[0].text, "program p");
  EXPECT_EQ(passage->about, "verified: linear/gelu on NVIDIA H200, 1000 us, 2.00x");
  for (int i = 1; i <= 3; ++i) keep_run(store, 0.0005 / i, "program p\nkernel k by map() { y[m] = gelu(x[m]) }\n");
  const Paths now = paths("gelu");
  EXPECT_EQ(now.size(), 3U) << "the fastest three of a problem";
  EXPECT_EQ(std::count(now.begin(), now.end(), path), 0);
}

}  // namespace
}  // namespace solstice::codesearch
