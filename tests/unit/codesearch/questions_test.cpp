// Questions with a known place, asked of what is installed here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/clock.h"
#include "base/file.h"
#include "codesearch/codesearch.h"

namespace solstice::codesearch {
namespace {

constexpr size_t kFirst = 5;          // results that are looked at
constexpr size_t kLookedAt = 20;      // results in which its rank is looked for
constexpr double kRightShare = 0.85;  // of questions whose place is among them

struct KnownPlace {
  std::string question;
  std::vector<std::string> paths;
  std::vector<std::string> holds;
};

std::vector<std::string> split_at(const std::string& text, const std::string& separator) {
  std::vector<std::string> out;
  size_t from = 0;
  for (size_t at; (at = text.find(separator, from)) != std::string::npos; from = at + separator.size())
    out.push_back(text.substr(from, at - from));
  out.push_back(text.substr(from));
  return out;
}

std::vector<KnownPlace> read_questions(const std::string& name) {
  const Result<std::string> text = read_file(std::string(SOLSTICE_SOURCE_DIR "/tests/corpus/codesearch/") + name);
  EXPECT_TRUE(text.ok());
  std::vector<KnownPlace> out;
  std::istringstream lines(text.ok() ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> parts = split_at(line, " | ");
    EXPECT_EQ(parts.size(), 3U) << line;
    out.push_back({parts[0], split_at(parts[1], ", "), split_at(parts[2], ", ")});
  }
  return out;
}

bool is_place(const KnownPlace& known, const std::string& path) {
  return std::any_of(known.paths.begin(), known.paths.end(), [&](const std::string& place) {
    return path == place || (place.ends_with('/') && path.starts_with(place));
  });
}

// 1, 2, ..; 0 where it is not among the results, or the file does not hold what makes it right.
size_t rank_of(CodeIndex& index, const KnownPlace& known, const std::vector<Hit>& hits) {
  for (size_t i = 0; i < hits.size(); ++i) {
    if (!is_place(known, hits[i].path)) continue;
    const Result<Passage> file = index.read({hits[i].path, 1, 1'000'000}, {1'000'000, 100'000'000});
    EXPECT_TRUE(file.ok());
    for (const CodeLine& line : file->lines) {
      for (const std::string& text : known.holds) {
        if (line.text.find(text) != std::string::npos) return i + 1;
      }
    }
  }
  return 0;
}

class CodeQuestions : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Result<std::vector<Root>> roots = installed_roots();
    ASSERT_TRUE(roots.ok()) << roots.error().text();
    for (const char* needed : {"cutlass/include", "cutlass/examples", "cccl/cub", "cuda"}) {
      const auto is = [&](const Root& root) { return root.prefix == needed; };
      if (std::none_of(roots->begin(), roots->end(), is)) missing_ = needed;
    }
    if (!missing_.empty()) return;
    folder_.emplace(std::move(TempFolder::create("code-questions-")).value());
    const Seconds begin = monotonic_now();
    Result<CodeIndex> index = CodeIndex::open({.roots = {}, .folder = folder_->path(), .store = {}, .say = {}});
    built_ = monotonic_now() - begin;
    ASSERT_TRUE(index.ok()) << index.error().text();
    index_.emplace(std::move(index).value());
  }
  static void TearDownTestSuite() {
    index_.reset();
    folder_.reset();
  }
  void SetUp() override {
    if (!missing_.empty()) GTEST_SKIP() << missing_ << " is not installed here";
    ASSERT_TRUE(index_);
  }

  // The share of the questions whose place is among the first results.
  static double share_found(const std::string& name) { return share_found(name, *index_); }

  inline static std::optional<TempFolder> folder_;
  inline static std::optional<CodeIndex> index_;
  inline static Seconds built_{0};
  inline static std::string missing_;

 private:
  static double share_found(const std::string& name, CodeIndex& index) {
    const std::vector<KnownPlace> questions = read_questions(name);
    double right = 0, reciprocal = 0;
    for (const KnownPlace& known : questions) {
      const Result<Answer> answer = index.search(known.question, {.hits = kLookedAt});
      EXPECT_TRUE(answer.ok()) << answer.error().text();
      const size_t rank = answer.ok() ? rank_of(index, known, answer->hits) : 0;
      right += rank > 0 && rank <= kFirst ? 1 : 0;
      reciprocal += rank > 0 ? 1.0 / static_cast<double>(rank) : 0;
      fmt::print("{:>4}  {}\n", rank == 0 ? "-" : std::to_string(rank), known.question);
    }
    const auto count = static_cast<double>(questions.size());
    fmt::print("{} of {} among the first {}; mean reciprocal rank {:.2f}\n", right, count, kFirst, reciprocal / count);
    return right / count;
  }
};

TEST_F(CodeQuestions, AreAnsweredByTheRightFile) { EXPECT_GE(share_found("questions.txt"), kRightShare); }

TEST_F(CodeQuestions, ThatTheRankingWasNotTunedOnAreToo) { EXPECT_GE(share_found("held_out.txt"), kRightShare); }

// The bars of the index: built on two cores in 30 s, 80 MB, a question in 50 ms; with slack for a loaded machine.
TEST_F(CodeQuestions, TakeLittleTimeAndSpace) {
  const double size = static_cast<double>(std::filesystem::file_size(folder_->path() / "index.db")) / 1e6;
  std::vector<double> times;
  for (const KnownPlace& known : read_questions("questions.txt")) {
    const Seconds asked = monotonic_now();
    EXPECT_TRUE(index_->search(known.question).ok());
    times.push_back((monotonic_now() - asked).value * 1e3);
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  fmt::print("built in {:.1f} s, {:.0f} MB; a question {:.1f} ms, at most {:.1f}\n", built_.value, size, median,
             times.back());
  EXPECT_LT(size, 80);
  EXPECT_LT(built_.value, 60);
  EXPECT_LT(median, 50);
}

}  // namespace
}  // namespace solstice::codesearch
