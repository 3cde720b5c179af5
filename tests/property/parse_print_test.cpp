// parse(print(tree)) is the tree, for any tree; what is printed is what the grammar of docs/language.md derives; what
// that grammar writes is parsed.
#include <gtest/gtest.h>

#include "base/file.h"
#include "lang/lexer.h"
#include "lang/parse.h"
#include "lang/print.h"
#include "property/ebnf.h"
#include "property/random_tree.h"

namespace solstice::lang {
namespace {

constexpr size_t kMostTokens = 150;  // deriving takes time and memory of the grammar's size for each

testing::Grammar grammar_of_the_page() {
  const auto page = read_file(SOLSTICE_SOURCE_DIR "/docs/language.md");
  EXPECT_TRUE(page.ok());
  return testing::read_grammar(testing::ebnf_of(*page));
}

// What the printer never writes: it has `by map()` for `by map`, and one tied name as an untied one.
const std::set<std::string>& other_forms() {
  static const std::set<std::string> words = {"kernel: option 0", "knob: repetition 0"};
  return words;
}

TEST(ParsePrint, ExpressionsComeBack) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const ExprRef tree = testing::RandomTree(seed).expression(6);
    const std::string text = print(tree);
    Diagnostics diagnostics;
    const ExprRef again = parse_expression(text, diagnostics);
    ASSERT_TRUE(again) << "seed " << seed << "\n" << text << "\n" << render_text(diagnostics, text, "printed");
    ASSERT_TRUE(same(tree, again)) << "seed " << seed << "\n" << text << "\n" << print(again);
    ASSERT_EQ(print(again), text) << "seed " << seed;
  }
}

TEST(ParsePrint, ProgramsComeBack) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Program tree = testing::RandomTree(seed).program();
    const std::string text = print(tree);
    Diagnostics diagnostics;
    const Program again = parse(text, diagnostics);
    ASSERT_FALSE(diagnostics.has_errors()) << "seed " << seed << "\n"
                                           << text << "\n"
                                           << render_text(diagnostics, text, "printed");
    ASSERT_TRUE(same(tree, again)) << "seed " << seed << "\n" << text << "\n----\n" << print(again);
    ASSERT_EQ(print(again), text) << "seed " << seed;
  }
}

// So the two tests above meet every production.
TEST(ParsePrint, GeneratedTreesTakeEveryWayOfTheGrammar) {
  const testing::Grammar grammar = grammar_of_the_page();
  ASSERT_GT(grammar.rules.size(), 40u);
  std::set<testing::Way> taken;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string text = print(testing::RandomTree(seed).program());
    Diagnostics diagnostics;
    const std::vector<Token> tokens = lex(text, diagnostics);
    if (tokens.size() > kMostTokens) continue;
    ASSERT_TRUE(testing::derive(grammar, tokens, taken)) << "seed " << seed << "\n" << text;
  }
  for (const auto& [way, words] : testing::all_ways(grammar)) {
    EXPECT_TRUE(taken.count(way) || other_forms().count(words)) << words << " was never taken";
  }
}

TEST(ParsePrint, WhatTheGrammarWritesIsParsed) {
  const testing::Grammar grammar = grammar_of_the_page();
  std::mt19937_64 random(1);
  std::set<testing::Way> taken;
  for (int i = 0; i < 1500; ++i) {
    const std::string text = testing::sentence(grammar, 12 + i % 20, random);
    Diagnostics diagnostics;
    const Program tree = parse(text, diagnostics);
    ASSERT_FALSE(diagnostics.has_errors()) << text << "\n" << render_text(diagnostics, text, "written");
    const std::string printed = print(tree);
    const Program again = parse(printed, diagnostics);
    ASSERT_FALSE(diagnostics.has_errors()) << printed << "\n" << render_text(diagnostics, printed, "printed");
    ASSERT_TRUE(same(tree, again)) << text << "\n----\n" << printed;
    ASSERT_EQ(print(again), printed);
    const std::vector<Token> tokens = lex(text, diagnostics);
    if (i < 300 && tokens.size() <= kMostTokens) {
      ASSERT_TRUE(testing::derive(grammar, tokens, taken)) << text;
    }
  }
  for (const auto& [way, words] : testing::all_ways(grammar)) {
    EXPECT_TRUE(taken.count(way) || !other_forms().count(words)) << words << " was never taken";
  }
}

}  // namespace
}  // namespace solstice::lang
