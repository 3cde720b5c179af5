#include "diagnose/counters/ncu_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "diagnose/counters/counter_table.h"
#include "diagnose/counters/ncu_csv.h"
#include "diagnose/counters/stall_reasons.h"

namespace solstice::diagnose {
namespace {

using Row = std::vector<std::string>;
constexpr size_t kNowhere = std::string::npos;
constexpr double kMostSamples = 1e9;  // the sampler's buffer holds millions

size_t column_of(const Row& row, std::string_view name) {
  const auto found = std::find(row.begin(), row.end(), name);
  return found == row.end() ? kNowhere : static_cast<size_t>(found - row.begin());
}

void note_damage(const CsvTable& table, const char* page, std::vector<std::string>& notes) {
  if (table.damaged > 0) notes.push_back(fmt::format("{} damaged lines of ncu's {} page", table.damaged, page));
}

std::optional<int64_t> read_count(std::string_view text) {
  const std::optional<double> number = read_number(text);
  if (!number || *number < 0 || *number > kMostSamples) return std::nullopt;
  return static_cast<int64_t>(*number);
}

struct RawRows {
  const Row* names = nullptr;
  const Row* units = nullptr;
  std::vector<const Row*> values;  // by the launch's number
};

// The row of units has no launch's number.
RawRows find_rows(const CsvTable& table) {
  RawRows out;
  size_t id = kNowhere;
  for (const Row& row : table.rows) {
    if (!out.names) {
      id = column_of(row, "ID");
      if (id != kNowhere && column_of(row, "Kernel Name") != kNowhere) out.names = &row;
    } else if (row.size() != out.names->size()) {
      continue;
    } else if (row[id].empty() && !out.units) {
      out.units = &row;
    } else if (read_number(row[id])) {
      out.values.push_back(&row);
    }
  }
  std::stable_sort(out.values.begin(), out.values.end(),
                   [&](const Row* a, const Row* b) { return *read_number((*a)[id]) < *read_number((*b)[id]); });
  return out;
}

// Without ncu's word the unit is the one that it prints under --print-units base.
double scale_of(const RawRows& rows, size_t column, std::string_view metric) {
  if (rows.units) return unit_scale((*rows.units)[column]);
  const Counter* counter = find_counter(metric);
  if (!counter) return 1;
  return counter->unit == "share" ? 0.01 : counter->unit == "s" ? 1e-9 : 1;
}

void take_metric(const RawRows& rows, const Row& values, const std::string& metric, RawLaunch& out) {
  const size_t column = column_of(*rows.names, metric);
  if (column == kNowhere) {
    out.notes.push_back(fmt::format("{}: not in ncu's report", metric));
    return;
  }
  const std::string& text = values[column];
  if (const auto number = read_number(text)) {
    out.metrics[metric] = *number * scale_of(rows, column, metric);
  } else {
    out.notes.push_back(fmt::format("{}: ncu says `{}`", metric, text.substr(0, 40)));
  }
}

void take_samples(const RawRows& rows, const Row& values, RawLaunch& out) {
  for (size_t i = 0; i < rows.names->size(); ++i) {
    const std::string& name = (*rows.names)[i];
    const std::string reason = sampled_reason(name);
    if (reason.empty()) continue;
    if (const auto count = read_count(values[i])) {
      out.samples[reason] += *count;
    } else {
      out.notes.push_back(fmt::format("{}: ncu says `{}`", name, values[i].substr(0, 40)));
    }
  }
}

// "(1024, 1, 1)".
std::optional<Extents> read_extents(std::string_view text) {
  Extents out = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int64_t& extent : out) {
    while (at != end && (*at == '(' || *at == ',' || *at == ' ')) ++at;
    const auto [stop, error] = std::from_chars(at, end, extent);
    if (error != std::errc()) return std::nullopt;
    at = stop;
  }
  return std::string_view(at, static_cast<size_t>(end - at)) == ")" ? std::optional(out) : std::nullopt;
}

std::optional<Extents> extents_in(const RawRows& rows, const Row& values, std::string_view name) {
  const size_t column = column_of(*rows.names, name);
  return column == kNowhere ? std::nullopt : read_extents(values[column]);
}

RawLaunch read_launch(const RawRows& rows, const Row& values, const std::vector<std::string>& wanted) {
  RawLaunch out;
  out.kernel = values[column_of(*rows.names, "Kernel Name")];
  out.grid = extents_in(rows, values, "Grid Size");
  out.block = extents_in(rows, values, "Block Size");
  for (const std::string& metric : wanted) take_metric(rows, values, metric, out);
  take_samples(rows, values, out);
  const size_t passes = column_of(*rows.names, "profiler__replayer_passes");
  if (passes != kNowhere) out.passes = read_count(values[passes]).value_or(0);
  return out;
}

std::optional<int64_t> read_address(std::string_view text) {
  const int base = text.substr(0, 2) == "0x" ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || stop != text.data() + text.size() || value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct SourceColumns {
  size_t address = kNowhere, source = kNowhere, count = 0;
  std::vector<std::pair<size_t, std::string>> reasons;
};

std::optional<SourceColumns> source_columns(const Row& row) {
  SourceColumns out;
  out.address = column_of(row, "Address");
  out.source = column_of(row, "Source");
  out.count = row.size();
  if (out.address == kNowhere || out.source == kNowhere) return std::nullopt;
  for (size_t i = 0; i < row.size(); ++i) {
    if (std::string reason = sampled_reason(row[i]); !reason.empty()) out.reasons.emplace_back(i, std::move(reason));
  }
  return out;
}

// An instruction that was never found is left empty by some versions.
std::optional<int64_t> read_samples(const std::string& text) {
  return text.empty() || text == "-" ? std::optional<int64_t>(0) : read_count(text);
}

// Nothing where the row is no instruction, or one of its numbers cannot be read.
std::optional<HotSpot> read_instruction(const Row& row, const SourceColumns& columns) {
  if (row.size() != columns.count) return std::nullopt;
  const std::optional<int64_t> address = read_address(row[columns.address]);
  if (!address) return std::nullopt;
  HotSpot out;
  out.address = *address;
  out.instruction = trimmed(row[columns.source]);
  for (const auto& [column, reason] : columns.reasons) {
    const std::optional<int64_t> count = read_samples(row[column]);
    if (!count) return std::nullopt;
    if (*count > 0) out.samples[reason] += *count;
  }
  return out;
}

int64_t total_of(const HotSpot& spot) {
  int64_t out = 0;
  for (const auto& [reason, count] : spot.samples) out += count;
  return out;
}

// Addresses within the function; the most sampled first.
std::vector<HotSpot> hottest(std::vector<HotSpot> spots, size_t most) {
  if (spots.empty()) return spots;
  const auto by_address = [](const HotSpot& a, const HotSpot& b) { return a.address < b.address; };
  const int64_t begin = std::min_element(spots.begin(), spots.end(), by_address)->address;
  for (HotSpot& spot : spots) spot.address -= begin;
  std::erase_if(spots, [](const HotSpot& spot) { return spot.samples.empty(); });
  std::sort(spots.begin(), spots.end(), [](const HotSpot& a, const HotSpot& b) {
    const int64_t of_a = total_of(a), of_b = total_of(b);
    return of_a != of_b ? of_a > of_b : a.address < b.address;
  });
  if (spots.size() > most) spots.resize(most);
  return spots;
}

}  // namespace

RawPage read_raw_page(std::string_view csv, const std::vector<std::string>& wanted) {
  const CsvTable table = read_csv(csv);
  RawPage out;
  note_damage(table, "raw", out.notes);
  const RawRows rows = find_rows(table);
  if (rows.values.empty())
    out.notes.push_back(rows.names ? "ncu's raw page has no launch" : "ncu's raw page has no row of names");
  for (const Row* values : rows.values) out.launches.push_back(read_launch(rows, *values, wanted));
  return out;
}

namespace {

// Rows of one launch: its function comes first, others that it calls may follow.
struct ListingRows {
  std::string kernel;
  std::vector<const Row*> rows;
};

std::vector<ListingRows> split_listings(const CsvTable& table) {
  std::vector<ListingRows> out;
  for (const Row& row : table.rows) {
    const bool begins = row[0] == "Kernel Name";
    if (begins || out.empty()) out.push_back({begins && row.size() > 1 ? row[1] : "", {}});
    if (!begins) out.back().rows.push_back(&row);
  }
  return out;
}

SourceListing read_listing(const ListingRows& from, size_t most_hot) {
  SourceListing out;
  out.kernel = from.kernel;
  std::optional<SourceColumns> columns;
  std::vector<HotSpot> spots;
  size_t unread = 0;
  for (const Row* row : from.rows) {
    auto header = source_columns(*row);
    if (columns && header) break;  // of the next function
    if (header) {
      columns = std::move(header);
    } else if (columns) {
      if (auto spot = read_instruction(*row, *columns)) {
        spots.push_back(*std::move(spot));
      } else {
        ++unread;
      }
    }
  }
  if (!columns) out.notes.push_back("ncu's source page has no row of names");
  if (columns && columns->reasons.empty()) out.notes.push_back("ncu's source page has no stall reasons");
  if (unread > 0) out.notes.push_back(fmt::format("{} rows of ncu's source page could not be read", unread));
  for (const HotSpot& spot : spots) {
    for (const auto& [reason, count] : spot.samples) out.samples[reason] += count;
  }
  out.hot = hottest(std::move(spots), most_hot);
  return out;
}

}  // namespace

SourcePage read_source_page(std::string_view csv, size_t most_hot) {
  const CsvTable table = read_csv(csv);
  SourcePage out;
  note_damage(table, "source", out.notes);
  const std::vector<ListingRows> listings = split_listings(table);
  if (listings.empty()) out.notes.push_back("ncu's source page is empty");
  for (const ListingRows& listing : listings) out.launches.push_back(read_listing(listing, most_hot));
  return out;
}

std::vector<int64_t> passes_of_log(std::string_view log) {
  constexpr std::string_view kLine = "==PROF== Profiling ", kBefore = "% - ";
  std::vector<int64_t> out;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.substr(0, kLine.size()) != kLine) continue;
    const size_t at = line.rfind(kBefore);
    std::string_view count = at == std::string_view::npos ? "" : line.substr(at + kBefore.size());
    count = count.substr(0, count.find(' '));
    out.push_back(read_count(count).value_or(0));
  }
  return out;
}

}  // namespace solstice::diagnose
