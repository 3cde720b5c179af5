// Every diagnostic has a golden file: tests/golden/diagnostics/CODE.ucut (or CODE_what.ucut) is a program that causes
// it, the .txt beside it what `solstice check` says, as text and as JSON; what is said of a candidate alone has its
// problem in CODE.problem. ten_*.ucut have ten mistakes each.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "base/file.h"
#include "evaluate/candidate.h"
#include "ir/equivalence.h"
#include "lang/parse.h"
#include "machine/machine.h"
#include "support/golden.h"

namespace solstice::evaluate {
namespace {

const std::filesystem::path kGoldens = SOLSTICE_SOURCE_DIR "/tests/golden/diagnostics";

// Of a candidate, compared with the problem in STEM.problem.
Diagnostics warnings_of(const std::string& problem, const std::string& candidate) {
  Diagnostics parsing, out;
  const lang::Program a = lang::parse(problem, parsing), b = lang::parse(candidate, parsing);
  EXPECT_FALSE(parsing.has_errors());
  for (const Diagnostic& warning : ir::same_meaning(a, b).warnings) out.add(warning);
  return out;
}

Diagnostics diagnostics_of(const std::string& text, const std::string& stem) {
  if (const auto problem = read_file(kGoldens / (stem + ".problem")); problem.ok()) return warnings_of(*problem, text);
  const machine::Machine machine = std::move(machine::load_machine("h200")).value();
  Checked checked = check(text, {machine, stem.starts_with("E016") ? "reference" : ""});
  if (checked.ok()) add_not_yet(*checked.program, checked.diagnostics);
  return std::move(checked.diagnostics);
}

std::vector<std::string> stems(bool tens) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(kGoldens)) {
    if (entry.path().extension() != ".ucut") continue;
    const std::string stem = entry.path().stem().string();
    if (stem.starts_with("ten_") == tens) out.push_back(stem);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The middle of a list that is longer than anyone reads is left out.
std::string abridged(const std::string& text) {
  constexpr std::ptrdiff_t kMost = 150, kKept = 20;
  std::vector<size_t> lines = {0};
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) lines.push_back(at + 1);
  if (std::ssize(lines) <= kMost) return text;
  return text.substr(0, lines[kKept]) + "...\n" + text.substr(lines[lines.size() - kKept]);
}

class GoldenDiagnostics : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenDiagnostics, AreWhatTheyWere) {
  const std::string stem = GetParam(), file = stem + ".ucut";
  const auto text = read_file(kGoldens / file);
  ASSERT_TRUE(text.ok());
  const Diagnostics diagnostics = diagnostics_of(*text, stem);
  testing::expect_golden("diagnostics/" + stem + ".txt", abridged(render_text(diagnostics, *text, file)) + "\n" +
                                                             abridged(render_json(diagnostics, *text, file).dump(2)) +
                                                             "\n");
  const bool found = std::any_of(diagnostics.all().begin(), diagnostics.all().end(), [&](const Diagnostic& d) {
    return d.code == stem.substr(0, 4) && (!d.hint.empty() || d.code == "E000");
  });
  EXPECT_TRUE(found || stem == "N000") << "the program of " << stem << " does not cause it, or it comes without a hint";
}

INSTANTIATE_TEST_SUITE_P(Codes, GoldenDiagnostics, ::testing::ValuesIn(stems(false)),
                         [](const auto& test) { return test.param; });

// Codes in the sources, with a file that has each.
std::map<std::string, std::string> codes_in_sources() {
  std::map<std::string, std::string> out;
  const std::regex code("\"([EWN][0-9]{3})\"");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SOLSTICE_SOURCE_DIR "/src")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    const std::string text = std::move(read_file(entry.path())).value();
    for (std::sregex_iterator match(text.begin(), text.end(), code), end; match != end; ++match) {
      out.emplace((*match)[1], entry.path().filename().string());
    }
  }
  return out;
}

TEST(Diagnostics, EveryCodeHasAGoldenFile) {
  std::set<std::string> golden;
  for (const std::string& stem : stems(false)) golden.insert(stem.substr(0, 4));
  const std::map<std::string, std::string> used = codes_in_sources();
  EXPECT_GT(used.size(), 30u);
  for (const auto& [code, file] : used) {
    EXPECT_TRUE(golden.contains(code)) << code << " (" << file << ") has no tests/golden/diagnostics/" << code
                                       << ".ucut";
  }
  for (const std::string& code : golden) EXPECT_TRUE(used.contains(code)) << "no source has " << code;
}

class TenMistakes : public ::testing::TestWithParam<std::string> {};

// A line with a mistake ends in `# CODE ...`, one code a mistake; nothing else is said.
std::multiset<std::string> expected_in(const std::string& text) {
  std::multiset<std::string> out;
  const std::regex code("[EW][0-9]{3}");
  int line = 0;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    ++line;
    const std::string here = text.substr(at, text.find('\n', at) - at);
    const std::string comment = here.find("# ") == std::string::npos ? "" : here.substr(here.find("# "));
    for (std::sregex_iterator match(comment.begin(), comment.end(), code), end; match != end; ++match) {
      out.insert(std::to_string(line) + " " + match->str());
    }
  }
  return out;
}

TEST_P(TenMistakes, AreAllReportedInOneRunAndNothingElse) {
  const std::string stem = GetParam(), file = stem + ".ucut";
  const std::string text = std::move(read_file(kGoldens / file)).value();
  const Diagnostics diagnostics = diagnostics_of(text, stem);
  std::multiset<std::string> found;
  for (const Diagnostic& d : diagnostics.all()) {
    found.insert(std::to_string(1 + std::count(text.begin(), text.begin() + d.span.begin, '\n')) + " " + d.code);
  }
  EXPECT_EQ(found, expected_in(text)) << render_text(diagnostics, text, file);
  EXPECT_GE(found.size(), 10u);
  testing::expect_golden("diagnostics/" + stem + ".txt", render_text(diagnostics, text, file));
}

INSTANTIATE_TEST_SUITE_P(Programs, TenMistakes, ::testing::ValuesIn(stems(true)),
                         [](const auto& test) { return test.param; });

TEST(Diagnostics, ThereAreTenProgramsOfTenMistakes) { EXPECT_GE(stems(true).size(), 10u); }

}  // namespace
}  // namespace solstice::evaluate
