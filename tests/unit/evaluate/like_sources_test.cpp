// Sources that differ in names alone.
#include "evaluate/like_sources.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>

#include "base/file.h"
#include "ir/bind.h"

namespace solstice::evaluate {
namespace {

// With tensors a, b and p_b.
ir::Program program() {
  Diagnostics diagnostics;
  auto bound = ir::load_program(
      "program p\ninput a : f32[8]\ninput b : f32[8]\ninput p_b : f32[8]\noutput y : f32[8]\ny[i] = a[i]\n", "p.ucut",
      diagnostics);
  EXPECT_TRUE(bound.ok()) << bound.error().text();
  return std::move(bound).value();
}

families::Source source(const std::string& name, const std::string& code) { return {name, code, {}, ""}; }

TEST(LikeSources, NamesOfFunctionsAndPointersDoNotCount) {
  LikeSources like(program());
  EXPECT_FALSE(like.find_or_keep(source("k", "void k(float* p_a, int* rows_p_a) {}"), {"k"}));
  const auto found = like.find_or_keep(source("l", "void l(float* p_b, int* rows_p_b) {}"), {"l"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->module, "k");
  EXPECT_EQ(found->entries, std::vector<std::string>{"k"});
}

TEST(LikeSources, EverythingElseDoes) {
  for (const char* other :
       {"void l(float* p_b) { p_b[1]; }", "void l(float* p_c) { p_c[0]; }", "void m(float* p_b) { p_b[0]; }",
        "void l(float* p_b) { a_p_b[0]; }", "void l(float* p_b) { xp_b[0]; }"}) {
    LikeSources like(program());
    EXPECT_FALSE(like.find_or_keep(source("k", "void k(float* p_a) { p_a[0]; }"), {"k"}));
    EXPECT_FALSE(like.find_or_keep(source("l", other), {"l"})) << other;
  }
}

TEST(LikeSources, TwoNamesAreNotOne) {
  LikeSources like(program());
  EXPECT_FALSE(like.find_or_keep(source("k", "p_a p_b"), {}));
  EXPECT_FALSE(like.find_or_keep(source("l", "p_a p_a"), {}));
  EXPECT_FALSE(like.find_or_keep(source("m", "p_a p_b p_a"), {}));
  EXPECT_TRUE(like.find_or_keep(source("n", "p_b p_p_b"), {}));
}

TEST(LikeSources, FunctionsArePairedInTheirOrder) {
  LikeSources like(program());
  EXPECT_FALSE(like.find_or_keep(source("k", "void k(); void k_fold();"), {"k", "k_fold"}));
  EXPECT_FALSE(like.find_or_keep(source("l", "void l(); void l_fold();"), {"l_fold", "l"}));
  EXPECT_FALSE(like.find_or_keep(source("m", "void m(); void m_fold();"), {"m"}));
  const auto found = like.find_or_keep(source("n", "void n(); void n_fold();"), {"n", "n_fold"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->entries, (std::vector<std::string>{"k", "k_fold"}));
}

TEST(LikeSources, OptionsCountAndGivenCodeStaysItself) {
  LikeSources like(program());
  EXPECT_FALSE(like.find_or_keep({"k", "code", {}, ""}, {}));
  EXPECT_FALSE(like.find_or_keep({"l", "code", {"-G"}, ""}, {}));
  EXPECT_FALSE(like.find_or_keep({"m", "code", {}, "m.cu"}, {}));
  EXPECT_FALSE(like.find_or_keep({"n", "code", {}, "m.cu"}, {}));
}

// A header's name that looked like a pointer's could be taken for one.
TEST(LikeSources, NoHeaderHasSuchNames) {
  const auto is_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(SOLSTICE_SOURCE_DIR) / "kernels")) {
    if (entry.path().extension() != ".h") continue;
    const auto text = read_file(entry.path());
    ASSERT_TRUE(text.ok());
    for (size_t at = text->find("p_"); at != text->npos; at = text->find("p_", at + 1)) {
      const bool begins = at == 0 || !is_of_word((*text)[at - 1]) || (*text)[at - 1] == '_';
      EXPECT_FALSE(begins) << entry.path() << ": " << text->substr(at, 20);
    }
  }
}

}  // namespace
}  // namespace solstice::evaluate
