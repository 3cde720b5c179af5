#include "record/kernel_table.h"

#include <gtest/gtest.h>

namespace solstice {
namespace {

KernelTable table_of_two() {
  KernelTable out;
  out.rows.push_back({.kernel = "a", .family = "map", .computes = "elementwise"});
  out.rows.back().predicted = microseconds(10);
  out.rows.back().bound = microseconds(8);
  out.rows.push_back({.kernel = "b", .family = "map", .computes = "convolution 3x3"});
  out.rows.back().predicted = microseconds(88);
  out.rows.back().bound = microseconds(2);
  out.rows.back().missing = "convolution";
  out.rows.push_back({.kernel = kLaunchesRow, .family = ""});
  out.rows.back().predicted = out.rows.back().bound = microseconds(2);
  settle(out);
  return out;
}

TEST(KernelTable, IsSortedAndSummedWithShares) {
  const KernelTable table = table_of_two();
  EXPECT_EQ(table.rows[0].kernel, "b");
  EXPECT_DOUBLE_EQ(table.predicted->value, 100e-6);
  EXPECT_DOUBLE_EQ(table.bound->value, 12e-6);
  EXPECT_DOUBLE_EQ(table.rows[0].share, 0.88);
  EXPECT_DOUBLE_EQ(table.rows[0].over_bound, 44);
  EXPECT_FALSE(table.measured);
  EXPECT_EQ(reasons_of(table), (std::vector<std::string>{"`b`: convolution runs as `map`: 44x of the bound"}));
}

TEST(KernelTable, WhatMeasuredKernelsLeaveLiesBetweenThem) {
  KernelTable table = table_of_two();
  add_measured(table,
               {{"a", microseconds(20), std::nullopt, {}},
                {"b", microseconds(70), std::nullopt, {}},
                {"update.s", microseconds(4), std::nullopt, {}}},
               microseconds(100));
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_DOUBLE_EQ(table.measured->value, 100e-6);
  EXPECT_DOUBLE_EQ(table.rows[0].over_bound, 35);
  for (const KernelTableRow& row : table.rows) {
    if (row.kernel == kLaunchesRow) {
      EXPECT_NEAR(row.measured->value, 6e-6, 1e-12);
    }
  }
}

TEST(KernelTable, ALoneKernelTookTheWhole) {
  KernelTable table = table_of_two();
  table.rows.erase(table.rows.begin() + 1);
  add_measured(table, {}, microseconds(30));
  EXPECT_DOUBLE_EQ(table.rows[0].measured->value, 30e-6);
  EXPECT_DOUBLE_EQ(table.rows[0].share, 1);
}

TEST(KernelTable, OfSeveralKernelsWithoutATraceNothingIsMeasured) {
  KernelTable table = table_of_two();
  add_measured(table, {}, microseconds(30));
  EXPECT_FALSE(table.measured);
}

TEST(KernelTable, CellsEndWithTheTotal) {
  const auto cells = cells_of(table_of_two());
  ASSERT_EQ(cells.size(), 5U);
  EXPECT_EQ(cells[0], (std::vector<std::string>{"kernel", "family", "computes", "predicted", "bound", "over bound",
                                                "limited by", "share"}));
  EXPECT_EQ(cells[1], (std::vector<std::string>{"b", "map", "convolution 3x3", "88 us", "2 us", "44x", "-", "88.0 %"}));
  EXPECT_EQ(cells.back()[0], "total");
  EXPECT_EQ(cells.back()[3], "100 us");
}

TEST(KernelTable, ReadsBackFromATrial) {
  const Json record = Json::object().set("table", to_json(table_of_two()));
  const auto read = kernel_table_of(record, std::nullopt);
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_EQ(cells_of(**read), cells_of(table_of_two()));
  EXPECT_FALSE(*kernel_table_of(Json::object(), std::nullopt));  // an older record
  EXPECT_FALSE(kernel_table_of(Json::object().set("table", 1), std::nullopt).ok());
}

}  // namespace
}  // namespace solstice
