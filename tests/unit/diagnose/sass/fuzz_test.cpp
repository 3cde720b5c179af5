// Whatever a disassembler prints, reading it ends, with facts that hold together. SOLSTICE_SASS_MUTATIONS=1000000 for
// more of them than in the usual run; SOLSTICE_RANDOM_SEED for others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "base/clock.h"
#include "unit/diagnose/sass/texts.h"

namespace solstice::diagnose {
namespace {

using testing::sass_text;

int number_of(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value ? std::atoi(value) : otherwise;
}

// Lines of golden files in groups of a few hundred, so that a run is short and most of what changes is code.
std::vector<std::string> seeds() {
  constexpr size_t kLines = 120;
  std::vector<std::string> out;
  for (const char* name : {"loops", "math", "memory", "wgmma", "loops.cuobjdump", "gemm"}) {
    const std::string text = sass_text(name);
    std::string header = ".section .text.k,\"ax\"\n.other k,@\"STO_CUDA_ENTRY\"\n";
    std::string part = header;
    size_t lines = 0;
    for (size_t at = 0; at < text.size(); ++lines) {
      const size_t end = std::min(text.find('\n', at), text.size() - 1);
      part += text.substr(at, end - at + 1);
      at = end + 1;
      if (lines % kLines != kLines - 1) continue;
      out.push_back(std::exchange(part, header));
    }
    out.push_back(part);
  }
  return out;
}

class TextMutator {
 public:
  TextMutator(std::mt19937& random, const std::vector<std::string>& others) : random_(random), others_(others) {}

  std::string run(std::string text) {
    for (size_t i = below(6) + 1; i > 0; --i) change(text);
    return text;
  }

 private:
  size_t below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }

  // Begin and length of some line.
  std::pair<size_t, size_t> line(const std::string& text) {
    const size_t at = below(text.size());
    const size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return {begin, std::min(text.find('\n', begin), text.size() - 1) - begin + 1};
  }

  void change(std::string& text) {
    constexpr std::string_view kPieces[] = {"R1",
                                            "UR63",
                                            "R255",
                                            "R9999",
                                            ".64",
                                            "[",
                                            "]",
                                            "`(",
                                            ")",
                                            ",",
                                            "@!P0 ",
                                            ";",
                                            "/*",
                                            "*/",
                                            "\n",
                                            "0x",
                                            "`(.L_x",
                                            ".L_x_1:",
                                            "BRA `(.L_x_1) ;",
                                            "CALL.REL.NOINC `(k) ;",
                                            "//## File \"",
                                            "line 99999999999",
                                            "BRX R2 -0x1 (*\"BRANCH_TARGETS ",
                                            "\0",
                                            "FFFFFFFFFFFFFFFFF"};
    if (text.empty()) text = " ";
    const auto [begin, length] = line(text);
    switch (below(8)) {
      case 0:
        text[below(text.size())] = static_cast<char>(below(256));
        break;
      case 1:
        text.insert(below(text.size()), kPieces[below(std::size(kPieces))]);
        break;
      case 2:
        text.erase(below(text.size()), below(40));
        break;
      case 3:
        text.erase(begin, length);
        break;
      case 4:
        text.insert(line(text).first, text.substr(begin, length));
        break;
      case 5:
        text.resize(below(text.size()) + 1);
        break;
      case 6: {
        const std::string& other = others_[below(others_.size())];
        const auto [from, count] = line(other);
        text.insert(begin, other.substr(from, count));
        break;
      }
      default:
        swap_labels(text);
    }
  }

  // A branch goes somewhere else: the shape of the code changes and little else.
  void swap_labels(std::string& text) {
    const size_t at = text.find(".L_x_", below(text.size()));
    if (at == std::string::npos || at + 5 >= text.size()) return;
    text[at + 5] = static_cast<char>('0' + below(10));
  }

  std::mt19937& random_;
  const std::vector<std::string>& others_;
};

void expect_sound(const SassFacts& facts) {
  const auto written = parse_json(to_json(facts).dump());  // names are whatever bytes stood there
  ASSERT_TRUE(written.ok()) << written.error().text();
  ASSERT_TRUE(from_json<SassFacts>(*written).ok());
  int64_t counted = 0;
  for (const auto& [kind, count] : facts.mix.counts) counted += count;
  ASSERT_EQ(counted, facts.mix.instructions);
  ASSERT_GE(facts.unknown, 0);
  ASSERT_LE(facts.unknown, 1);
  for (size_t i = 0; i < facts.loops.size(); ++i) {
    const SassLoop& loop = facts.loops[i];
    ASSERT_LT(loop.parent, static_cast<int>(i));
    ASSERT_EQ(loop.depth, loop.parent < 0 ? 1 : facts.loops[static_cast<size_t>(loop.parent)].depth + 1);
    ASSERT_LE(loop.first, loop.last);
    ASSERT_LE(loop.mix.instructions, facts.mix.instructions);
    ASSERT_GT(loop.mix.instructions, 0);
  }
}

TEST(SassFuzz, ChangedTextIsReadInBoundedTime) {
  const int runs = number_of("SOLSTICE_SASS_MUTATIONS", 2000);
  std::mt19937 random(static_cast<unsigned>(number_of("SOLSTICE_RANDOM_SEED", 1)));
  const std::vector<std::string> texts = seeds();
  TextMutator mutator(random, texts);
  int with_facts = 0;
  double longest = 0;
  for (int i = 0; i < runs; ++i) {
    const std::string text = mutator.run(texts[static_cast<size_t>(i) % texts.size()]);
    const Seconds begin = monotonic_now();
    const auto facts = sass_of(text);
    longest = std::max(longest, (monotonic_now() - begin).value);
    if (!facts.ok()) continue;
    ++with_facts;
    for (const auto& [entry, of] : *facts) ASSERT_NO_FATAL_FAILURE(expect_sound(of)) << "run " << i;
  }
  EXPECT_GT(with_facts, runs / 2);
  EXPECT_LT(longest, 2);  // under sanitizers on a busy machine; otherwise 2 ms
  RecordProperty("longest_ms", static_cast<int>(longest * 1e3));
}

double seconds_of(const std::string& text) {
  const Seconds begin = monotonic_now();
  (void)sass_of(text);
  return (monotonic_now() - begin).value;
}

// Code that would take a naive reader time or memory in the square of its length.
TEST(SassFuzz, HostileShapesTakeNoLongerThanTheirLength) {
  constexpr int kCount = 30'000;
  std::string nested, loops, ladder, labels;
  for (std::string* text : {&nested, &loops, &ladder, &labels})
    *text = ".section .text.k\n.other k,@\"STO_CUDA_ENTRY\"\n";
  const auto add = [](std::string& text, int at, const std::string& code) {
    char number[32];
    std::snprintf(number, sizeof number, "/*%08x*/ ", static_cast<unsigned>(at * 16));
    text += number + code + " ;\n";
  };
  for (int i = 0; i < kCount; ++i) {
    const std::string label = ".L_" + std::to_string(i);
    nested += label + ":\n";
    add(nested, i, "FADD R1, R2, R3");
    loops += label + ":\n";
    add(loops, i, "@P0 BRA `(" + label + ")");
    ladder += label + ":\n";
    add(ladder, i, "@P0 BRA `(.L_" + std::to_string((i * 7919LL) % kCount) + ")");
    labels += label + ":\n";
  }
  for (int i = 0; i < kCount; ++i) add(nested, kCount + i, "@P0 BRA `(.L_" + std::to_string(kCount - 1 - i) + ")");
  std::string targets = "BRX R2 -0x10 (*\"BRANCH_TARGETS ";
  for (int i = 0; i < kCount; ++i) targets += ".L_" + std::to_string(i) + ",";
  add(labels, 0, targets + "\"*)");
  for (const std::string* text : {&nested, &loops, &ladder, &labels}) EXPECT_LT(seconds_of(*text), 20);
  EXPECT_EQ(sass_of(nested)->at("k").in_part, "too many jumps to look for loops");
  EXPECT_EQ(sass_of(loops)->at("k").in_part, "more than 10000 loops");
}

TEST(SassFuzz, MoreThanACompilerMakesIsAnError) {
  std::string text = ".section .text.k\n.other k,@\"STO_CUDA_ENTRY\"\n/*0000*/ EXIT ;\n";
  for (int i = 0; i < 2'000'001; ++i) text += "a:\n";
  const auto facts = sass_of(text);
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.error().message, "the disassembly has more than 2000000 instructions, labels and lines");
}

}  // namespace
}  // namespace solstice::diagnose
