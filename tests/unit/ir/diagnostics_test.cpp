// One golden file a diagnostic: tests/golden/diagnostics/CODE.ucut is the program, CODE.txt what is said
// about it, as text and as JSON.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "ir/bind.h"
#include "support/golden.h"

namespace solstice::ir {
namespace {

const std::filesystem::path kFolder = SOLSTICE_SOURCE_DIR "/tests/golden/diagnostics";

class GoldenDiagnostics : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenDiagnostics, AreWhatTheyWere) {
  const std::string code = GetParam();
  const auto text = read_file(kFolder / (code + ".ucut"));
  ASSERT_TRUE(text.ok());
  Diagnostics diagnostics;
  (void)load_program(*text, code + ".ucut", diagnostics);
  const std::string file = code + ".ucut";
  testing::expect_golden("diagnostics/" + code + ".txt",
                         render_text(diagnostics, *text, file) + "\n" + render_json(diagnostics, *text, file).dump(2) + "\n");
  bool found = false;
  for (const Diagnostic& d : diagnostics.all()) found |= d.code == code;
  EXPECT_TRUE(found) << "the program of " << code << " does not cause it";
}

INSTANTIATE_TEST_SUITE_P(Codes, GoldenDiagnostics,
                         ::testing::Values("E000", "E001", "E002", "W002", "E003", "E004", "E005", "E006", "E007", "E008", "E009", "E010",
                                           "E011", "E013", "E014", "E015", "W017", "W019", "E021", "E022"),
                         [](const auto& test) { return test.param; });

TEST(Diagnostics, TenMistakesAreReportedInOneRun) {
  const auto text = read_file(kFolder / "ten_mistakes.ucut");
  ASSERT_TRUE(text.ok());
  Diagnostics diagnostics;
  (void)load_program(*text, "ten_mistakes.ucut", diagnostics);
  testing::expect_golden("diagnostics/ten_mistakes.txt", render_text(diagnostics, *text, "ten_mistakes.ucut"));
  EXPECT_GE(diagnostics.size(), 10u);
}

}  // namespace
}  // namespace solstice::ir
