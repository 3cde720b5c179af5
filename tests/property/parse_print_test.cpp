// parse(print(tree)) is the tree, for any tree.
#include <gtest/gtest.h>

#include "lang/parse.h"
#include "lang/print.h"
#include "property/random_tree.h"

namespace solstice::lang {
namespace {

TEST(ParsePrint, ExpressionsComeBack) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const ExprRef tree = testing::RandomTree(seed).expression(6);
    const std::string text = print(tree);
    Diagnostics diagnostics;
    const ExprRef again = parse_expression(text, diagnostics);
    ASSERT_TRUE(again) << "seed " << seed << "\n" << text << "\n" << render_text(diagnostics, text, "printed");
    ASSERT_TRUE(same(tree, again)) << "seed " << seed << "\n" << text << "\n" << print(again);
  }
}

TEST(ParsePrint, ProgramsComeBack) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Program tree = testing::RandomTree(seed).program();
    const std::string text = print(tree);
    Diagnostics diagnostics;
    const Program again = parse(text, diagnostics);
    ASSERT_FALSE(diagnostics.has_errors()) << "seed " << seed << "\n" << text << "\n" << render_text(diagnostics, text, "printed");
    ASSERT_TRUE(same(tree, again)) << "seed " << seed << "\n" << text << "\n----\n" << print(again);
  }
}

}  // namespace
}  // namespace solstice::lang
