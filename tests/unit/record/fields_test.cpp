#include "record/fields.h"

#include <gtest/gtest.h>

#include "record/report.h"
#include "record/trial.h"

namespace solstice {
namespace {

enum class Colour { kRed, kBlue };
std::vector<const char*> enum_names(Colour) { return {"red", "blue"}; }

struct Inner {
  int count = 0;
  std::optional<double> ratio;
  static auto fields() {
    return std::make_tuple(field("count", &Inner::count, "how many"),
                           optional_field("ratio", &Inner::ratio, "if known"));
  }
};

struct Outer {
  static constexpr const char* kSchema = "solstice.test/1";
  std::string name;
  Colour colour = Colour::kBlue;
  DType dtype = DType::kF16;
  Seconds time;
  std::vector<Inner> inner;
  std::map<std::string, int64_t> table;
  std::array<int64_t, 2> pair = {1, 2};
  Json free;
  static auto fields() {
    return std::make_tuple(field("name", &Outer::name, ""), field("colour", &Outer::colour, ""),
                           field("dtype", &Outer::dtype, ""), field("time", &Outer::time, ""),
                           field("inner", &Outer::inner, ""), field("table", &Outer::table, ""),
                           field("pair", &Outer::pair, ""), optional_field("free", &Outer::free, ""));
  }
};

Outer sample() {
  Outer o;
  o.name = "n";
  o.time = microseconds(3);
  o.inner = {{1, 0.5}, {2, std::nullopt}};
  o.table = {{"k", 7}};
  o.free = Json::array().push(1);
  return o;
}

std::string failure(Json json) {
  const Result<Outer> read = from_json<Outer>(json);
  EXPECT_FALSE(read.ok());
  if (read.ok()) return "";
  EXPECT_EQ(read.error().code, Code::bad_record);
  return read.error().message;
}

TEST(Record, RoundTripsThroughText) {
  const Json json = to_json(sample());
  EXPECT_EQ(json.at("schema").as_string(), "solstice.test/1");
  const Result<Outer> back = from_json<Outer>(*parse_json(json.dump()));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(to_json(*back), json);
}

TEST(Record, UnknownKeysAreIgnored) { EXPECT_TRUE(from_json<Outer>(to_json(sample()).set("later", 1)).ok()); }

TEST(Record, OptionalFieldsKeepTheirInitialValue) {
  Inner inner = *from_json<Inner>(*parse_json(R"({"count": 3})"));
  EXPECT_FALSE(inner.ratio.has_value());
  inner = *from_json<Inner>(*parse_json(R"({"count": 3, "ratio": null})"));
  EXPECT_FALSE(inner.ratio.has_value());
}

template <typename T>
void expect_round_trip(const T& record) {
  const Json json = to_json(record);
  const Result<T> back = from_json<T>(*parse_json(json.dump()));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(to_json(*back), json);
}

TEST(Record, WhatIsNotKnownIsNull) {
  Report report;
  EXPECT_TRUE(to_json(report).at("headline").at("speedup").is_null());
  expect_round_trip(report);
  report.headline.speedup = 2.5;
  EXPECT_EQ(to_json(report).at("headline").at("speedup").as_double(), 2.5);
  const Result<Report> old = from_json<Report>(to_json(Report()).set("headline", Json::object().set("speedup", 0.0)));
  ASSERT_TRUE(old.ok());  // an earlier Solstice wrote 0
  EXPECT_EQ(old->headline.speedup, 0);
}

// Words of today for those of an earlier Solstice.
TEST(Record, AnOldRunIsRenewed) {
  RunRecord run;
  run.outcome = RunOutcome::kNotFaster;
  run.summary = Json::object().set("predicted", true).set("stop", "patience").set("speedup", 0.0);
  run.renew();
  EXPECT_EQ(run.outcome, RunOutcome::kPredicted);
  EXPECT_EQ(run.summary.at("stop").as_string(), "window");
  EXPECT_TRUE(run.summary.at("speedup").is_null());
  run.outcome = RunOutcome::kNotFaster;
  run.summary = Json::object().set("predicted", false).set("stop", "time").set("speedup", 0.8);
  run.renew();
  EXPECT_EQ(run.outcome, RunOutcome::kNotFaster);
  EXPECT_EQ(run.summary.at("speedup").as_double(), 0.8);
}

TEST(Record, ErrorsNameThePath) {
  EXPECT_NE(failure(*parse_json(R"({"schema": "solstice.test/1"})")).find("name"), std::string::npos);
  EXPECT_NE(failure(to_json(sample()).set("schema", "solstice.test/9")).find("solstice.test/9"), std::string::npos);
  EXPECT_NE(failure(to_json(sample()).set("name", 3)).find(".name"), std::string::npos);
  EXPECT_NE(failure(to_json(sample()).set("colour", "green")).find("red, blue"), std::string::npos);
  EXPECT_NE(failure(to_json(sample()).set("dtype", "f99")).find(".dtype"), std::string::npos);
  const Json bad = Json::array().push(Json::object().set("count", "many"));
  EXPECT_NE(failure(to_json(sample()).set("inner", bad)).find(".inner[0].count"), std::string::npos);
  EXPECT_NE(failure(to_json(sample()).set("pair", Json::array().push(1))).find(".pair"), std::string::npos);
}

TEST(Record, RunTrialAndReportRoundTrip) {
  RunRecord run;
  run.outcome = RunOutcome::kNotFaster;
  run.versions = {{"torch", "2.13.0"}};
  expect_round_trip(run);
  TrialRecord trial;
  trial.state = TrialState::kNotCompiled;
  trial.predicted = microseconds(4);
  expect_round_trip(trial);
  Report report;
  report.headline.original = Measured{Seconds(1), Seconds(0.9), Seconds(1.1), 20, Hertz(1.4e9)};
  report.bounds = {{"io", "", Seconds(0.1), {{"dram", Seconds(0.1), "x"}}}};
  report.original_peak_memory = Bytes(1e9);
  expect_round_trip(report);
}

}  // namespace
}  // namespace solstice
