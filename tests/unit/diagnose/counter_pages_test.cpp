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
    EXPECT_FALSE(counter.question.empty()) << counter.name;
    EXPECT_FALSE(counter.unit.empty()) << counter.name;
  }
  EXPECT_GE(counter_metrics().size(), 40u);
  EXPECT_EQ(find_counter("dram__bytes_read.sum")->name, "DRAM bytes read");
  EXPECT_EQ(find_counter("no__such.sum"), nullptr);
  const std::vector<std::string> banks = counter_metrics({"bank conflicts"});
  EXPECT_EQ(banks.size(), 6u);
  for (const std::string& metric : banks) EXPECT_EQ(find_counter(metric)->question, "bank conflicts");
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
  const RawPage page = read_raw_page(recorded("raw.csv"), counter_metrics());
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
  const RawPage page = read_raw_page(replaced(recorded("raw.csv"), "\"8,390,656\"", "\"n/a\""), counter_metrics());
  EXPECT_FALSE(page.metrics.contains("dram__bytes_read.sum"));
  EXPECT_EQ(page.metrics.size(), counter_metrics().size() - 1);
  EXPECT_EQ(page.notes, std::vector<std::string>{"dram__bytes_read.sum: ncu says `n/a`"});
}

TEST(RawPage, WithoutARowOfUnitsTheyAreTheTables) {
  const std::string whole = recorded("raw.csv");
  const size_t names = whole.find('\n'), units = whole.find('\n', names + 1);
  const RawPage page = read_raw_page(whole.substr(0, names + 1) + whole.substr(units + 1), counter_metrics());
  EXPECT_EQ(page.metrics, read_raw_page(whole, counter_metrics()).metrics);
}

TEST(RawPage, TakesOtherUnitsAndAMissingColumn) {
  const std::string other = replaced(replaced(recorded("raw.csv"), "\"ns\"", "\"usecond\""), "\"5,792\"", "\"5.792\"");
  EXPECT_DOUBLE_EQ(read_raw_page(other, {"gpu__time_duration.sum"}).metrics.at("gpu__time_duration.sum"), 5.792e-6);
  const RawPage less =
      read_raw_page(replaced(other, "\"sm__cycles_elapsed.max\"", "\"sm__renamed.max\""), counter_metrics());
  EXPECT_FALSE(less.metrics.contains("sm__cycles_elapsed.max"));
  EXPECT_EQ(less.metrics.size(), counter_metrics().size() - 1);
  EXPECT_TRUE(any_has(less.notes, "sm__cycles_elapsed.max: not in ncu's report"));
}

TEST(RawPage, IsFoundAmongMessages) {
  const std::string page = "==PROF== Connected\r\n\r\n==WARNING== \"half a quote\n" + recorded("raw.csv");
  EXPECT_EQ(read_raw_page(page, {"sm__cycles_elapsed.max"}).metrics.at("sm__cycles_elapsed.max"), 12316);
}

TEST(RawPage, ThatIsNoneSaysSo) {
  EXPECT_TRUE(any_has(read_raw_page("", {"a.sum"}).notes, "no row of names"));
  EXPECT_TRUE(any_has(read_raw_page("not a table\n", {"a.sum"}).notes, "no row of names"));
  const std::string whole = recorded("raw.csv");
  EXPECT_TRUE(any_has(read_raw_page(whole.substr(0, whole.find('\n')), {"a.sum"}).notes, "no launch"));
  const RawPage cut = read_raw_page(whole.substr(0, whole.size() - 40), {"a.sum"});
  EXPECT_TRUE(any_has(cut.notes, "no launch"));
}

TEST(SourcePage, HasTheMostSampledPlacesFirst) {
  const SourcePage page = read_source_page(recorded("source.csv"), 3);
  EXPECT_EQ(page.notes, std::vector<std::string>{});
  ASSERT_EQ(page.hot.size(), 3u);
  EXPECT_EQ(page.hot[0].address, 0x100);
  EXPECT_EQ(page.hot[0].instruction, "FFMA R9, R2, 2, R5");
  EXPECT_EQ(page.hot[0].samples.at("long_scoreboard"), 328);
  EXPECT_EQ(page.hot[0].line, 0);
  EXPECT_EQ(page.hot[1].address, 0x90);
  EXPECT_EQ(page.samples.at("selected"), 10);
  EXPECT_EQ(page.samples.at("long_scoreboard"), read_raw_page(recorded("raw.csv"), {}).samples.at("long_scoreboard"));
}

TEST(SourcePage, DamagedRowsAreCounted) {
  const SourcePage page = read_source_page(replaced(recorded("source.csv"), "0x7fadef7a0100", "here"), 32);
  EXPECT_TRUE(any_has(page.notes, "1 rows of ncu's source page could not be read"));
  EXPECT_FALSE(page.samples.contains("long_scoreboard"));
  EXPECT_TRUE(any_has(read_source_page("\"Address\",\"Source\"\n\"0x10\",\"EXIT\"\n", 32).notes, "no stall reasons"));
  EXPECT_TRUE(any_has(read_source_page("", 32).notes, "no row of names"));
}

TEST(SourcePage, EndsWithItsFunction) {
  const std::string page = recorded("source.csv");
  EXPECT_EQ(read_source_page(page + page, 32).samples, read_source_page(page, 32).samples);
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
  }
}

}  // namespace
}  // namespace solstice::diagnose
