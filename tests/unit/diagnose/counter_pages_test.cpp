// ncu's pages as facts: whole ones, damaged ones, those of other versions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/random.h"
#include "diagnose/counters/counter_table.h"
#include "diagnose/counters/ncu_csv.h"
#include "diagnose/counters/ncu_pages.h"
#include "diagnose/counters/stall_reasons.h"

namespace solstice::diagnose {
namespace {

std::string recorded(const char* file) {
  const auto text = read_file(std::filesystem::path(SOLSTICE_SOURCE_DIR) / "tests/support/ncu" / file);
  EXPECT_TRUE(text.ok()) << text.error().text();
  return text.ok() ? *text : "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

bool any_has(const std::vector<std::string>& notes, const std::string& what) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const auto& note) { return note.find(what) != std::string::npos; });
}

// The first launch of the page, with all notes.
RawLaunch first_launch(std::string_view csv, const std::vector<std::string>& wanted) {
  const RawPage page = read_raw_page(csv, wanted);
  RawLaunch out = page.launches.empty() ? RawLaunch() : page.launches[0];
  out.notes.insert(out.notes.end(), page.notes.begin(), page.notes.end());
  return out;
}

SourceListing first_listing(std::string_view csv, size_t most_hot) {
  const SourcePage page = read_source_page(csv, most_hot);
  SourceListing out = page.launches.empty() ? SourceListing() : page.launches[0];
  out.notes.insert(out.notes.end(), page.notes.begin(), page.notes.end());
  return out;
}

TEST(NcuNumbers, AreReadWithAndWithoutSeparators) {
  EXPECT_EQ(read_number("75,433"), 75433);
  EXPECT_EQ(read_number("1,234,567.25"), 1234567.25);
  EXPECT_EQ(read_number("1.5e+06"), 1.5e6);
  EXPECT_EQ(read_number(" -3 "), -3);
  EXPECT_EQ(read_number("0"), 0);
}

TEST(NcuNumbers, WhatIsNoNumberIsNone) {
  for (const char* text : {"", "n/a", "N/A", "nan", "-nan", "inf", "(!) n/a", "1,23", "12,3456", ",123", "1.234,567",
                           "12 (1; 2)", "0x10", "1e999", "-"}) {
    EXPECT_FALSE(read_number(text).has_value()) << text;
  }
}

TEST(NcuUnits, LeadToBaseUnits) {
  EXPECT_DOUBLE_EQ(unit_scale("ns"), 1e-9);
  EXPECT_DOUBLE_EQ(unit_scale("nsecond"), 1e-9);
  EXPECT_DOUBLE_EQ(unit_scale("usecond"), 1e-6);
  EXPECT_DOUBLE_EQ(unit_scale("msecond"), 1e-3);
  EXPECT_DOUBLE_EQ(unit_scale("second"), 1);
  EXPECT_DOUBLE_EQ(unit_scale("%"), 0.01);
  EXPECT_DOUBLE_EQ(unit_scale("Mbyte"), 1e6);
  EXPECT_DOUBLE_EQ(unit_scale("byte/ns"), 1e9);
  EXPECT_DOUBLE_EQ(unit_scale("Gbyte/second"), 1e9);
  for (const char* unit : {"", "inst", "cycle", "sector/request", "warp", "T"})
    EXPECT_DOUBLE_EQ(unit_scale(unit), 1) << unit;
}

TEST(CounterTable, HasWhatTheRawArmNeedsOnce) {
  std::set<std::string_view> metrics, names;
  for (const Counter& counter : counter_table()) {
    EXPECT_TRUE(metrics.insert(counter.metric).second) << counter.metric;
    EXPECT_TRUE(names.insert(counter.name).second) << counter.name;
    EXPECT_FALSE(counter.unit.empty()) << counter.name;
  }
  EXPECT_GE(counter_metrics().size(), 40u);
  EXPECT_EQ(find_counter("dram__bytes_read.sum")->name, "DRAM bytes read");
  EXPECT_EQ(find_counter("no__such.sum"), nullptr);
}

// metrics.csv: what ncu 2024.1.1 lists for gh100.
TEST(CounterTable, NamesAreNcus) {
  const CsvTable listed = read_csv(recorded("metrics.csv"));
  for (const Counter& counter : counter_table()) {
    const auto found =
        std::find_if(listed.rows.begin(), listed.rows.end(), [&](const auto& row) { return row[0] == counter.metric; });
    ASSERT_NE(found, listed.rows.end()) << counter.metric;
    EXPECT_EQ(counter.unit == "share", (*found)[2] == "%") << counter.metric;
    EXPECT_EQ(counter.unit == "s", (*found)[2] == "nsecond") << counter.metric;
  }
}

TEST(StallReasons, OfEachSpellingAreOne) {
  for (const StallReason& reason : stall_reasons()) {
    EXPECT_NE(find_counter(stall_metric(reason.name)), nullptr) << reason.name;
    EXPECT_EQ(sampled_reason("stall_" + std::string(reason.column)), reason.name);
    const std::string sampler = "smsp__pcsamp_warps_issue_stalled_" + std::string(reason.sampler);
    EXPECT_EQ(sampled_reason(sampler), reason.name);
    EXPECT_EQ(sampled_reason(sampler + "_not_issued"), "");
    EXPECT_NE(sampling_section().find("\"" + sampler + "\""), std::string::npos);
  }
  EXPECT_EQ(sampled_reason("stall_gmma (Not Issued)"), "");
  EXPECT_EQ(sampled_reason("stall_of_another_gpu"), "of_another_gpu");
  EXPECT_EQ(sampled_reason("# Samples"), "");
}

TEST(RawPage, IsInBaseUnits) {
  const RawLaunch page = first_launch(recorded("raw.csv"), counter_metrics());
  EXPECT_DOUBLE_EQ(page.metrics.at("gpu__time_duration.sum"), 5792e-9);
  EXPECT_EQ(page.metrics.at("dram__bytes_read.sum"), 8390656);
  EXPECT_EQ(page.metrics.at("sm__cycles_elapsed.max"), 12316);
  EXPECT_DOUBLE_EQ(page.metrics.at("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"), 0.3027);
  EXPECT_EQ(page.samples.at("long_scoreboard"), 328);
  EXPECT_EQ(page.samples.at("no_instruction"), 15);
  EXPECT_EQ(page.metrics.size(), counter_metrics().size());
  EXPECT_EQ(page.notes, std::vector<std::string>{});
}

TEST(RawPage, AValueThatNcuCannotGiveCostsItself) {
  const RawLaunch page = first_launch(replaced(recorded("raw.csv"), "\"8,390,656\"", "\"n/a\""), counter_metrics());
  EXPECT_FALSE(page.metrics.contains("dram__bytes_read.sum"));
  EXPECT_EQ(page.metrics.size(), counter_metrics().size() - 1);
  EXPECT_EQ(page.notes, std::vector<std::string>{"dram__bytes_read.sum: ncu says `n/a`"});
}

TEST(RawPage, WithoutARowOfUnitsTheyAreTheTables) {
  const std::string whole = recorded("raw.csv");
  const size_t names = whole.find('\n'), units = whole.find('\n', names + 1);
  const RawLaunch page = first_launch(whole.substr(0, names + 1) + whole.substr(units + 1), counter_metrics());
  EXPECT_EQ(page.metrics, first_launch(whole, counter_metrics()).metrics);
}

TEST(RawPage, TakesOtherUnitsAndAMissingColumn) {
  const std::string other = replaced(replaced(recorded("raw.csv"), "\"ns\"", "\"usecond\""), "\"5,792\"", "\"5.792\"");
  EXPECT_DOUBLE_EQ(first_launch(other, {"gpu__time_duration.sum"}).metrics.at("gpu__time_duration.sum"), 5.792e-6);
  const RawLaunch less =
      first_launch(replaced(other, "\"sm__cycles_elapsed.max\"", "\"sm__renamed.max\""), counter_metrics());
  EXPECT_FALSE(less.metrics.contains("sm__cycles_elapsed.max"));
  EXPECT_EQ(less.metrics.size(), counter_metrics().size() - 1);
  EXPECT_TRUE(any_has(less.notes, "sm__cycles_elapsed.max: not in ncu's report"));
}

TEST(RawPage, IsFoundAmongMessages) {
  const std::string page = "==PROF== Connected\r\n\r\n==WARNING== \"half a quote\n" + recorded("raw.csv");
  EXPECT_EQ(first_launch(page, {"sm__cycles_elapsed.max"}).metrics.at("sm__cycles_elapsed.max"), 12316);
}

TEST(RawPage, ThatIsNoneSaysSo) {
  EXPECT_TRUE(any_has(first_launch("", {"a.sum"}).notes, "no row of names"));
  EXPECT_TRUE(any_has(first_launch("not a table\n", {"a.sum"}).notes, "no row of names"));
  const std::string whole = recorded("raw.csv");
  EXPECT_TRUE(any_has(first_launch(whole.substr(0, whole.find('\n')), {"a.sum"}).notes, "no launch"));
  const RawLaunch cut = first_launch(whole.substr(0, whole.size() - 40), {"a.sum"});
  EXPECT_TRUE(any_has(cut.notes, "no launch"));
}

TEST(SourcePage, HasTheMostSampledPlacesFirst) {
  const SourceListing page = first_listing(recorded("source.csv"), 3);
  EXPECT_EQ(page.notes, std::vector<std::string>{});
  ASSERT_EQ(page.hot.size(), 3u);
  EXPECT_EQ(page.hot[0].address, 0x100);
  EXPECT_EQ(page.hot[0].instruction, "FFMA R9, R2, 2, R5");
  EXPECT_EQ(page.hot[0].samples.at("long_scoreboard"), 328);
  EXPECT_EQ(page.hot[0].line, 0);
  EXPECT_EQ(page.hot[1].address, 0x90);
  EXPECT_EQ(page.samples.at("selected"), 10);
  EXPECT_EQ(page.samples.at("long_scoreboard"), first_launch(recorded("raw.csv"), {}).samples.at("long_scoreboard"));
}

TEST(SourcePage, DamagedRowsAreCounted) {
  const SourceListing page = first_listing(replaced(recorded("source.csv"), "0x7fadef7a0100", "here"), 32);
  EXPECT_TRUE(any_has(page.notes, "1 rows of ncu's source page could not be read"));
  EXPECT_FALSE(page.samples.contains("long_scoreboard"));
  EXPECT_TRUE(any_has(first_listing("\"Address\",\"Source\"\n\"0x10\",\"EXIT\"\n", 32).notes, "no stall reasons"));
  EXPECT_TRUE(any_has(first_listing("", 32).notes, "is empty"));
}

TEST(RawPage, HasARowForEachLaunchByItsNumber) {
  const std::string whole = recorded("raw.csv");
  const size_t row = whole.find("\"0\",\"574\"");
  std::string second = replaced(whole.substr(row), "\"0\",\"574\"", "\"1\",\"574\"");
  second =
      replaced(replaced(second, "\"(1024, 1, 1)\",\"(1024, 1, 1)\"", "\"(64, 2, 1)\",\"(8, 1, 3)\""), "5,792", "6,000");
  if (second.back() != '\n') second += '\n';
  const RawPage page = read_raw_page(whole.substr(0, row) + second + whole.substr(row), {"gpu__time_duration.sum"});
  ASSERT_EQ(page.launches.size(), 2u);
  EXPECT_EQ(page.launches[0].kernel, "honest");
  EXPECT_EQ(page.launches[0].grid, (Extents{1024, 1, 1}));
  EXPECT_DOUBLE_EQ(page.launches[0].metrics.at("gpu__time_duration.sum"), 5792e-9);
  EXPECT_EQ(page.launches[1].block, (Extents{64, 2, 1}));
  EXPECT_EQ(page.launches[1].grid, (Extents{8, 1, 3}));
  EXPECT_DOUBLE_EQ(page.launches[1].metrics.at("gpu__time_duration.sum"), 6000e-9);
  EXPECT_FALSE(first_launch(replaced(whole, "\"(1024, 1, 1)\",\"(1024", "\"(1024, 1\",\"(1024"), {}).block);
}

TEST(SourcePage, HasAListingForEachLaunch) {
  const std::string page = recorded("source.csv");
  const SourcePage two = read_source_page(page + page, 32);
  ASSERT_EQ(two.launches.size(), 2u);
  for (const SourceListing& listing : two.launches) {
    EXPECT_EQ(listing.kernel, "honest");
    EXPECT_EQ(listing.samples, first_listing(page, 32).samples);
    EXPECT_EQ(listing.hot[0].address, 0x100);
  }
  EXPECT_EQ(read_source_page(page.substr(page.find('\n') + 1), 32).launches[0].kernel, "") << "it does not say";
}

TEST(NcuLog, HasThePassesOfEachLaunch) {
  EXPECT_EQ(passes_of_log("==PROF== Connected to process 1\n"
                          "==PROF== Profiling \"up\" - 0: 0%....50%....100% - 43 passes\n"
                          "==PROF== Profiling \"down\" - 1: 0%....50%....100% - 1 pass\n"
                          "==PROF== Profiling \"lost\" - 2: 0%....\n"),
            (std::vector<int64_t>{43, 1, 0}));
  EXPECT_TRUE(passes_of_log("").empty());
}

// Whatever bytes come, something is read or named.
TEST(NcuPages, SurviveAnyDamage) {
  const std::string raw = recorded("raw.csv"), source = recorded("source.csv");
  SplitMix64 random(7);
  const std::string bytes = std::string("\",\n\r=x9-.\xff") + '\0';
  for (int i = 0; i < 3000; ++i) {
    std::string text = i % 2 == 0 ? raw : source;
    for (size_t n = 1 + random.below(8); n > 0; --n) {
      const size_t at = random.below(text.size());
      switch (random.below(3)) {
        case 0:
          text[at] = bytes[random.below(bytes.size())];
          break;
        case 1:
          text.erase(at, random.below(40));
          break;
        default:
          text.insert(at, text.substr(random.below(text.size()), random.below(40)));
      }
    }
    (void)read_raw_page(text, counter_metrics());
    (void)read_source_page(text, 4);
    (void)passes_of_log(text);
  }
}

}  // namespace
}  // namespace solstice::diagnose
