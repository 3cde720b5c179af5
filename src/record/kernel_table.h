// Where the time of a program goes: a row a kernel, with its bound. Made by evaluate/kernel_table.h, kept with each
// trial, and shown by `plan`, `run`, reports and the page of a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/fields.h"
#include "record/kernel_trace.h"

namespace solstice {

struct KernelTableRow {
  std::string kernel;  // name in the program; "launches": what lies between kernels
  std::string family;
  std::string math = {};                  // of its products: "fp16x3"
  std::string computes = {};              // "product 1024x8192x8192 + bias + gelu"
  std::optional<Seconds> predicted = {};  // by the cost model, without a launch
  std::optional<Seconds> measured = {};
  std::optional<Seconds> bound = {};  // its equations at measured ceilings, and no less than a kernel takes
  double over_bound = 0;              // measured, else predicted, over the bound; 0: not known
  std::string limited_by = {};        // by the cost model
  double share = 0;                   // of the whole; 0: not known
  std::string missing = {};           // what it does without a family for it: "convolution"
  static auto fields() {
    return std::make_tuple(
        field("kernel", &KernelTableRow::kernel, "name in the program, or `launches`"),
        field("family", &KernelTableRow::family, "what runs it"),
        optional_field("math", &KernelTableRow::math, "of its products"),
        optional_field("computes", &KernelTableRow::computes, "in a line"),
        optional_field("predicted", &KernelTableRow::predicted, "seconds by the cost model, without a launch"),
        optional_field("measured", &KernelTableRow::measured, "seconds, median"),
        optional_field("bound", &KernelTableRow::bound, "seconds, by its equations, and no less than a kernel takes"),
        known_field("over_bound", &KernelTableRow::over_bound, "measured, else predicted, over the bound"),
        optional_field("limited_by", &KernelTableRow::limited_by, "by the cost model"),
        known_field("share", &KernelTableRow::share, "of the whole, 0 to 1"),
        optional_field("missing", &KernelTableRow::missing, "what it does without a family for it"));
  }
};

struct KernelTable {
  std::vector<KernelTableRow> rows;  // the longest first
  std::optional<Seconds> predicted;  // sum of the rows
  std::optional<Seconds> measured;   // the whole, where it was measured by kernel
  std::optional<Seconds> bound;      // sum of the rows that have one
  static auto fields() {
    return std::make_tuple(field("rows", &KernelTable::rows, "the longest first"),
                           optional_field("predicted", &KernelTable::predicted, "seconds, the rows' sum"),
                           optional_field("measured", &KernelTable::measured, "seconds of the whole"),
                           optional_field("bound", &KernelTable::bound, "seconds, the rows' sum"));
  }
};

inline constexpr const char* kLaunchesRow = "launches";

// Sums, ratios and shares from the rows' times, and their order; of measured times alone where there are any.
void settle(KernelTable& table);

// Takes measured times of kernels, in a program whose whole took `whole`: what they leave of it lies between them. A
// step that belongs to no kernel gets a row. Without times by kernel a lone kernel took the whole.
void add_measured(KernelTable& table, const std::vector<TracedKernel>& kernels, Seconds whole);

// The table of a trial (Measurement::record), with its trace where it was measured to take `whole`. None where an
// older Solstice wrote the record, or its candidate was refused. Error bad_record where it is damaged.
Result<std::optional<KernelTable>> kernel_table_of(const Json& record, std::optional<Seconds> whole);

// Header, rows, total. Cells of times that no row has are left out.
std::vector<std::vector<std::string>> cells_of(const KernelTable& table);
// "`map1`: convolution runs as `map`, 66x of the bound", a line a kernel that a missing family explains.
std::vector<std::string> reasons_of(const KernelTable& table);

}  // namespace solstice
