#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/paths.h"
#include "diagnose/place.h"
#include "diagnose/sass/parts.h"
#include "support/golden.h"
#include "unit/diagnose/sass/texts.h"

namespace solstice::diagnose {
namespace {

namespace fs = std::filesystem;

TEST(PartMarks, AreOfALineOrOfWhatFollows) {
  const std::vector<std::string> found =
      sass::parts_of_header("first\n// part: main loop\nsecond\ncall();  // part: epilogue\nthird\n  // part:\nlast");
  EXPECT_EQ(found, (std::vector<std::string>{"", "", "main loop", "main loop", "epilogue", "main loop", "", ""}));
}

TEST(PartMarks, AreOfHeadersBelowTheFolderOnly) {
  const TempFolder folder = std::move(TempFolder::create("solstice-test-")).value();
  ASSERT_TRUE(write_file(folder.path() / "kernels/gemm/x.h", "// part: split\na\n").ok());
  ASSERT_TRUE(write_file(folder.path() / "secret.h", "// part: secret\na\n").ok());
  sass::PartMarks marks(folder.path() / "kernels");
  EXPECT_EQ(marks.at("/tmp/anywhere/gemm/x.h", 2), "split");
  EXPECT_EQ(marks.at("gemm/x.h", 2), "split");
  for (const char* file : {"/tmp/gemm/../../secret.h", "../secret.h", "x.h", "", "gemm/y.h", "/", "gemm/x.h/"})
    EXPECT_EQ(marks.at(file, 2), "") << file;
  EXPECT_EQ(marks.at("gemm/x.h", 3), "");
  EXPECT_EQ(marks.at("gemm/x.h", -1), "");
  EXPECT_EQ(sass::PartMarks().at("gemm/x.h", 2), "");
}

// docs/machine-code.md has a line on each.
TEST(PartMarks, OfDeviceHeadersAreTheKnownOnes) {
  const std::set<std::string> known = {"",         "producer", "consumer", "main loop", "promotion", "epilogue", "fold",
                                       "exchange", "fix-up",   "split",    "guard",     "sort",      "look-back"};
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(data_folder("kernels").value())) {
    if (file.path().extension() != ".h") continue;
    for (const std::string& part : sass::parts_of_header(read_file(file.path()).value()))
      EXPECT_TRUE(known.count(part)) << file.path() << ": " << part;
  }
}

// An instruction in a loop's epilogue, in its main loop, in generated code and behind the kernel.
constexpr const char* kText = R"(.section .text.up,"ax",@progbits
.other up,@"STO_CUDA_ENTRY STV_DEFAULT"
up:
.text.up:
//## File "/tmp/x/math/special.h", line 1 inlined at "/tmp/x/up.cu", line 1
//## File "/tmp/x/up.cu", line 1 inlined at "/tmp/x/epilogue/tile.h", line 3
//## File "/tmp/x/epilogue/tile.h", line 3 inlined at "/tmp/x/up.cu", line 2
//## File "/tmp/x/up.cu", line 2
/*0000*/ MUFU.EX2 R0, R0 ;
//## File "/tmp/x/math/special.h", line 1 inlined at "/tmp/x/epilogue/tile.h", line 2
//## File "/tmp/x/epilogue/tile.h", line 2 inlined at "/tmp/x/up.cu", line 2
//## File "/tmp/x/up.cu", line 2
/*0010*/ STG.E [R2.64], R0 ;
//## File "/tmp/x/math/special.h", line 1 inlined at "/tmp/x/mainloop/wgmma.h", line 2
//## File "/tmp/x/mainloop/wgmma.h", line 2 inlined at "/tmp/x/up.cu", line 2
//## File "/tmp/x/up.cu", line 2
/*0020*/ FFMA R0, R0, R0, R0 ;
/*0030*/ FFMA R0, R0, R0, R0 ;
//## File "/tmp/x/up.cu", line 3
/*0040*/ EXIT ;
//## File "/tmp/x/mainloop/wgmma.h", line 2
/*0050*/ FFMA R0, R0, R0, R0 ;
$__internal_0_$__cuda_sm20_div_rn_f32:
/*0060*/ MUFU.RCP R0, R0 ;
/*0070*/ RET.REL.NODEC R20 `(up) ;
)";

SassFacts placed(const std::string& text, const sass::PlacedText& source) {
  const TempFolder folder = std::move(TempFolder::create("solstice-test-")).value();
  EXPECT_TRUE(write_file(folder.path() / "epilogue/tile.h", "// part: epilogue\n\n\n\n").ok());
  EXPECT_TRUE(write_file(folder.path() / "mainloop/wgmma.h", "// part: main loop\n\n\n").ok());
  const auto facts = sass_of(text, source, folder.path());
  EXPECT_TRUE(facts.ok()) << facts.error().text();
  return facts.ok() ? facts->begin()->second : SassFacts();
}

TEST(SassPlaces, AreOfTheInnermostEquationAndPart) {
  const SassFacts facts = placed(kText, {"up.cu", {{2, 0, ""}, {1, 2, ""}, {}}});
  const auto at = [&](int64_t address) {
    const CodePlace* place = place_at(facts, address);
    return place ? fmt::format("{} {}", place->number, place->part) : "-";
  };
  EXPECT_EQ(at(0), "2 epilogue");
  EXPECT_EQ(at(0x10), "2 epilogue") << "what an epilogue stores is of the results, though no line says so";
  EXPECT_EQ(at(0x20), "1 main loop");
  EXPECT_EQ(at(0x30), "1 main loop");
  EXPECT_EQ(at(0x40), "-");
  EXPECT_EQ(at(0x50), "1 main loop") << "no call leads there: it is of the line that the kernel begins with";
  EXPECT_EQ(at(0x60), "-") << "a routine behind the kernel is of no place";
  EXPECT_EQ(at(-16), "-");
  EXPECT_EQ(facts.places.size(), 2U);
  EXPECT_EQ(facts.runs.size(), 5U);
  int64_t counted = 0;
  for (const SassSpot& spot : facts.spots) counted += spot.mix.instructions;
  EXPECT_EQ(counted, 5);
}

TEST(SassPlaces, OfGivenCodeAreItsLines) {
  const SassFacts facts = placed(R"(.section .text.k,"ax",@progbits
.other k,@"STO_CUDA_ENTRY STV_DEFAULT"
//## File "/tmp/x/k.cu", line 7 inlined at "/tmp/x/k.cu", line 12
//## File "/tmp/x/k.cu", line 12
/*0000*/ LDG.E R0, [R2.64] ;
/*0010*/ EXIT ;
)",
                                 {"k.cu", {}});
  ASSERT_EQ(facts.places.size(), 1U);
  EXPECT_EQ(facts.places[0].file, "k.cu");
  EXPECT_EQ(facts.places[0].line, 7) << "the innermost, not the place of its call";
}

TEST(SassPlaces, WithoutASourceThereAreNone) {
  const SassFacts facts = placed(kText, {});
  EXPECT_TRUE(facts.places.empty() && facts.spots.empty() && facts.runs.empty());
}

// Line tables are an untrusted program's: any name and number is read, and no more than kMostPlaces are kept.
TEST(SassPlaces, OddAndManyLinesAreRead) {
  std::string text = ".section .text.k,\"ax\",@progbits\n.other k,@\"STO_CUDA_ENTRY STV_DEFAULT\"\n";
  for (int i = 0; i < 1500; ++i)
    text += fmt::format("//## File \"{}/k.cu\", line {}\n/*{:04x}*/ NOP ;\n", std::string(static_cast<size_t>(i), '/'),
                        i + 1, 16 * i);
  text += "//## File \"k.cu\", line 99999999999999999999\n/*7000*/ EXIT ;\n//## File \"\", line\n/*7010*/ EXIT ;\n";
  const SassFacts facts = placed(text, {"k.cu", {}});
  EXPECT_EQ(facts.places.size(), 1000U);
  for (const SassRun& run : facts.runs) EXPECT_LT(run.place, 1000);
  EXPECT_EQ(placed(text, {"k.cu", {{1, 0, ""}}}).places.size(), 1U) << "lines that the text does not have are of none";
}

// The kernel of tests/golden/sass/README.md; its lines are those that the family said.
TEST(SassPlaces, AreThoseOfTheGoldenFile) {
  sass::PlacedText source{"a.cu", std::vector<SourceLine>(52)};
  const auto say = [&](int first, int last, const SourceLine& what) {
    for (int line = first; line <= last; ++line) source.lines[static_cast<size_t>(line) - 1] = what;
  };
  say(19, 20, {1, 0, "load"});
  say(32, 34, {1, 0, ""});
  say(35, 40, {2, 0, ""});
  say(42, 42, {2, 0, "store"});
  const auto facts = sass_of(testing::sass_text("lined"), source);
  ASSERT_TRUE(facts.ok()) << facts.error().text();
  std::string text;
  for (const auto& [entry, found] : *facts) {
    for (const SassSpot& spot : found.spots) {
      const CodePlace& place = found.places.at(static_cast<size_t>(spot.place));
      text += fmt::format("{} equation {} `{}`: {}\n", entry, place.number, place.part, to_json(spot.mix).dump());
    }
  }
  solstice::testing::expect_golden("sass/lined.places", text);
}

}  // namespace
}  // namespace solstice::diagnose
