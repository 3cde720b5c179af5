// Files that earlier versions wrote (tests/corpus) keep loading.
#include <gtest/gtest.h>

#include "base/file.h"
#include "record/bench.h"

namespace solstice {
namespace {

std::string corpus(const char* name) {
  Result<std::string> text = read_file(std::filesystem::path(SOLSTICE_SOURCE_DIR) / "tests/corpus" / name);
  return text.ok() ? std::move(text).value() : "";
}

TEST(Corpus, TheFirstBenchIsReadAsOneOfOnePolicy) {
  const Result<Bench> bench = read_bench(*parse_json(corpus("bench_1.json")));
  ASSERT_TRUE(bench.ok()) << bench.error().message;
  ASSERT_EQ(bench->rows.size(), 4u);
  const BenchRow& first = bench->rows[0];
  ASSERT_EQ(first.variants.size(), 1u);
  EXPECT_EQ(first.variants[0].numerics, "reference");
  EXPECT_EQ(first.variants[0].outcome, RunOutcome::kFaster);
  EXPECT_GT(first.variants[0].speedup, 1);
  EXPECT_GT(first.variants[0].original, first.variants[0].replacement);
  EXPECT_EQ(first.made_with.at("device"), "NVIDIA H200");
  EXPECT_FALSE(first.variants[0].folder.empty());
  EXPECT_FALSE(first.flaws.measured);
  EXPECT_EQ(bench->rows[2].variants[0].outcome, RunOutcome::kUnsupported);
  EXPECT_TRUE(bench->rows[3].failed());
}

TEST(Corpus, WhatIsWrittenIsOfThisSchemaAndReadBack) {
  const Result<Bench> old = read_bench(*parse_json(corpus("bench_1.json")));
  ASSERT_TRUE(old.ok());
  const Json json = to_json(*old);
  EXPECT_EQ(json.at("schema").as_string(), "solstice.bench/2");
  const Result<Bench> again = read_bench(json);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(to_json(*again), json);
}

TEST(Corpus, AnotherSchemaIsRefused) {
  EXPECT_EQ(read_bench(*parse_json(R"({"schema": "solstice.bench/9"})")).error().code, Code::bad_record);
  EXPECT_EQ(read_bench(*parse_json("[1]")).error().code, Code::bad_record);
}

}  // namespace
}  // namespace solstice
