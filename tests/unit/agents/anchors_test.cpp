// Blocks that may change: what is refused, and that nothing outside one can differ.
#include "agents/anchors.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace solstice::agents {
namespace {

constexpr const char* kProgram = R"(program p
input x : f32[8]
output y : f32[8]
source "k.cu" """
extern "C" __global__ void k(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;
}
"""
kernel a by cuda("k.cu", entry="k", args=(x, y), grid=1, block=8) {
  y[i] = x[i] + 1
}
)";

constexpr const char *kBegins = "# <<<IMPROVE BEGIN: wider>>>\n", *kEnds = "# <<<IMPROVE END>>>\n";

std::string marked(const std::string& begins, const std::string& ends, const std::string& at = "kernel a",
                   const std::string& until = "") {
  std::string out = kProgram;
  if (until.empty())
    out += ends;
  else
    out.insert(out.find(until), ends);
  return out.insert(out.find(at), begins);
}

std::string why_not(const std::string& text) {
  const auto block = marked_in(kProgram, text);
  return block.ok() ? "" : block.error().message;
}

TEST(Anchors, ABlockIsWhatStandsBetweenTheMarkers) {
  const auto block = marked_in(kProgram, marked(kBegins, kEnds));
  ASSERT_TRUE(block.ok()) << block.error().text();
  EXPECT_EQ(block->what, "wider");
  EXPECT_TRUE(block->before.ends_with("\"\"\"\n"));
  EXPECT_TRUE(block->body.starts_with("kernel a by cuda("));
  EXPECT_EQ(block->after, "");
  EXPECT_EQ(block->before + block->body + block->after, kProgram);
  EXPECT_EQ(*spliced(*block, "kernel b by map() {\n}"), block->before + "kernel b by map() {\n}");
  const auto inside = marked_in(kProgram, marked("// <<<IMPROVE BEGIN: two at once>>>\n", "  // <<<IMPROVE END>>>\n",
                                                 "  y[threadIdx.x]", "}\n\"\"\""));
  ASSERT_TRUE(inside.ok()) << inside.error().text();
  EXPECT_EQ(inside->body, "  y[threadIdx.x] = x[threadIdx.x] + 1;\n");
  EXPECT_EQ(*spliced(*inside, "  y[0] = 1;"), inside->before + "  y[0] = 1;\n" + inside->after);
  const auto empty = marked_in(kProgram, marked(std::string(kBegins) + kEnds, "", "source"));
  ASSERT_TRUE(empty.ok()) << empty.error().text();
  EXPECT_EQ(empty->body, "");
  EXPECT_EQ(*spliced(*empty, ""), kProgram);
}

TEST(Anchors, ALastLineWithoutItsEndMayBeMarked) {
  const auto block = marked_in("a\nb", "a\n# <<<IMPROVE BEGIN: b>>>\nb\n# <<<IMPROVE END>>>");
  ASSERT_TRUE(block.ok()) << block.error().text();
  EXPECT_EQ(block->body, "b");
  EXPECT_EQ(*spliced(*block, "c"), "a\nc");
}

TEST(Anchors, PlansThatCannotBeSplicedAreRefused) {
  const auto says = [](const std::string& text, const char* piece) {
    EXPECT_NE(why_not(text).find(piece), std::string::npos) << text << why_not(text);
  };
  says(kProgram, "no block is marked");
  says(marked(kBegins, ""), "a block does not end");
  says(marked("", kEnds), "a block ends that did not begin");
  says(marked(std::string(kBegins) + kBegins, kEnds), "a block begins in another");
  says(marked(kBegins, std::string(kEnds) + kBegins + kEnds), "there is more than one block");
  says(marked(kBegins, std::string(kEnds) + kEnds), "there is more than one block");
  says(marked("# <<<IMPROVE BEGIN:   >>>\n", kEnds), "it does not say what is to be improved");
  says(marked("# <<<IMPROVE BEGIN>>>\n", kEnds), "that is no marker");
  says(marked("# <<<improve begin: wider>>>\n", kEnds), "that is no marker");
  says(marked("# << <IMPROVE BEGIN: wider>>>\n", kEnds), "that is no marker");
  says(marked("// <<<IMPROVE BEGIN: wider>>>\n", kEnds), "begins with `#`");
  says(marked(kBegins, "# <<<IMPROVE END>>>\n", "  y[thr", "}\n\"\"\""), "begins with `//`");
  says(marked("x # <<<IMPROVE BEGIN: wider>>>\n", kEnds), "alone on its line");
  says(marked("// <<<IMPROVE BEGIN: wider>>>\n", kEnds, "  y[thr"), "begins in a `source` and ends outside");
  std::string changed = marked(kBegins, kEnds);
  changed.replace(changed.find("f32[8]"), 6, "f32[9]");
  says(changed, "changes nothing: line 2 without the markers is `input x : f32[9]`, and was `input x : f32[8]`");
}

TEST(Anchors, BodiesThatHoldMoreAreRefused) {
  const auto block = marked_in(kProgram, marked(kBegins, kEnds));
  ASSERT_TRUE(block.ok());
  for (const char* body :
       {"# <<<IMPROVE BEGIN: wider>>>\nkernel\n# <<<IMPROVE END>>>\n", "kernel\n// <<<IMPROVE END>>>\n",
        "kernel # <<< improve end >>>\n", "# <<IMPROVE BEGIN: narrower>>\n", "# IMPROVE END>>>"}) {
    const auto out = spliced(*block, body);
    ASSERT_FALSE(out.ok()) << body;
    EXPECT_NE(out.error().message.find("the body has no markers"), std::string::npos);
  }
  const auto whole = spliced(*block, kProgram);
  ASSERT_FALSE(whole.ok());
  EXPECT_NE(whole.error().message.find("repeats what stands before the block"), std::string::npos);
}

// Pieces that answers are made of: code, markers whole and damaged, quotes, parts of the program.
std::string generated(SplitMix64& random) {
  static const std::vector<std::string> pieces = {"kernel a by map() {\n",
                                                  "}\n",
                                                  "  y[i] = x[i] + 1\n",
                                                  "\n",
                                                  " ",
                                                  "# ",
                                                  "// ",
                                                  "<<<",
                                                  ">>>",
                                                  "IMPROVE",
                                                  " BEGIN: ",
                                                  " END",
                                                  "# <<<IMPROVE BEGIN: wider>>>\n",
                                                  "# <<<IMPROVE END>>>\n",
                                                  "// <<<IMPROVE BEGIN: it>>>\n",
                                                  "// <<<IMPROVE END>>>\n",
                                                  "\"\"\"\n",
                                                  "source \"k.cu\" \"\"\"\n",
                                                  "program p\n",
                                                  "input x : f32[8]\n",
                                                  kProgram,
                                                  "\r\n",
                                                  std::string("\0", 1),
                                                  "\xc3\xa9",
                                                  "output y : f32[9]\n"};
  std::string out;
  for (size_t i = random.below(12); i-- > 0;) out += pieces[random.below(pieces.size())];
  return out;
}

TEST(Anchors, NothingOutsideABlockDiffersInTenThousandAnswers) {
  SplitMix64 random(1);
  const std::string program = kProgram;
  std::vector<Block> blocks;
  for (const auto& [begins, ends, at, until] :
       {std::tuple{kBegins, kEnds, "kernel a", ""},
        {kBegins, kEnds, "source", "kernel a"},
        {kBegins, kEnds, "program", ""},
        {kBegins, kEnds, "input", "output"},
        {"// <<<IMPROVE BEGIN: it>>>\n", "// <<<IMPROVE END>>>\n", "  y[thr", "}\n\"\"\""}}) {
    auto block = marked_in(program, marked(begins, ends, at, until));
    ASSERT_TRUE(block.ok()) << block.error().text();
    blocks.push_back(std::move(*block));
  }
  int taken = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Block& block = blocks[random.below(blocks.size())];
    const std::string body = generated(random);
    const auto out = spliced(block, body);
    if (!out.ok()) continue;
    ++taken;
    ASSERT_TRUE(out->starts_with(block.before) && out->ends_with(block.after)) << *out;
    ASSERT_GE(out->size(), block.before.size() + block.after.size());
    const std::string middle = out->substr(block.before.size(), out->size() - block.before.size() - block.after.size());
    ASSERT_TRUE(middle == body || middle == body + "\n") << *out;
    ASSERT_EQ(out->find("<<<IMPROVE"), std::string::npos) << *out;
  }
  EXPECT_GT(taken, 2000) << "honest ones are taken";
  EXPECT_LT(taken, 9000) << "and damaged ones were among them";
}

TEST(Anchors, NoPlanOfTenThousandChangesTheProgram) {
  SplitMix64 random(2);
  int taken = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string text = kProgram;
    // Markers at the beginnings of lines, now and then something else as well.
    for (size_t n = random.below(4); n-- > 0;) {
      size_t at = random.below(text.size());
      at = random.below(8) == 0 ? at : text.rfind('\n', at) + 1;
      text.insert(at, n == 1 ? kBegins : n == 0 ? kEnds : random.below(2) ? "" : generated(random));
    }
    const auto block = marked_in(kProgram, text);
    if (!block.ok()) continue;
    ++taken;
    ASSERT_EQ(block->before + block->body + block->after, kProgram) << text;
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace solstice::agents
