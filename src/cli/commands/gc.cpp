// solstice gc: sizes of what is kept on this machine, and removal of what is old.
#include <fmt/format.h>

#include "base/paths.h"
#include "cli/command.h"
#include "cli/named_store.h"
#include "cli/values.h"
#include "cli/view/table.h"
#include "flow/history/cleaning.h"

namespace solstice::cli {
namespace {

constexpr int kMostKept = 1000000;

Result<flow::CleaningWishes> cleaning_wishes(const Invocation& in) {
  flow::CleaningWishes wishes;
  if (in.has("--older-than")) {
    SOLSTICE_TRY(wishes.older_than, parse_age("--older-than", in.get("--older-than")));
  }
  if (in.has("--keep")) {
    SOLSTICE_TRY(wishes.keep, parse_int("--keep", in.get("--keep"), 0, kMostKept));
  }
  if (in.has("--cache-limit")) {
    SOLSTICE_TRY(wishes.cache_limit, parse_bytes("--cache-limit", in.get("--cache-limit")));
  }
  return wishes;
}

std::string cleaning_table(const flow::Cleaning& cleaning, bool done) {
  std::vector<std::vector<std::string>> rows = {
      {"part", "entries", "size", done ? "removed" : "to remove", "freed", "place"}};
  for (const flow::Stock& stock : cleaning.stocks) {
    rows.push_back({stock.name, std::to_string(stock.entries), show(stock.size), std::to_string(stock.going),
                    stock.going ? show(stock.going_size) : "-", stock.place.string()});
  }
  return table(rows);
}

Json cleaning_json(const flow::Cleaning& cleaning, bool done, const std::string& note) {
  Json parts = Json::array();
  for (const flow::Stock& stock : cleaning.stocks) {
    parts.push(Json::object()
                   .set("name", stock.name)
                   .set("place", stock.place.string())
                   .set("entries", stock.entries)
                   .set("bytes", stock.size.value)
                   .set("going", stock.going)
                   .set("going_bytes", stock.going_size.value));
  }
  return Json::object()
      .set("removed", done)
      .set("parts", parts)
      .set("runs", text_list(cleaning.runs))
      .set("note", note);
}

std::string what_next(const flow::Cleaning& cleaning, bool done) {
  if (cleaning.empty()) return "nothing to remove; --older-than, --keep and --cache-limit choose more";
  return done ? "" : "nothing was removed yet: add --yes";
}

Result<int> run_gc(const Invocation& in) {
  SOLSTICE_TRY(const flow::CleaningWishes wishes, cleaning_wishes(in));
  SOLSTICE_TRY(store::Store store, named_store(in));
  SOLSTICE_TRY(const std::filesystem::path cache, cache_folder());
  SOLSTICE_CHECK(store.close_abandoned());
  SOLSTICE_TRY(const flow::Cleaning cleaning, flow::plan_cleaning(store, cache, wishes));
  const bool done = in.flag("--yes") && !cleaning.empty();
  std::string note = what_next(cleaning, done);
  if (done) {
    SOLSTICE_CHECK(flow::clean(store, cleaning));
    const Status compacted = store.compact();
    if (!compacted.ok()) note = "the run store keeps its size for now: " + compacted.error().sentence();
  }
  if (in.json()) {
    fmt::print("{}\n", cleaning_json(cleaning, done, note).dump(2));
    return 0;
  }
  fmt::print("{}", cleaning_table(cleaning, done));
  if (!note.empty()) fmt::print("\n{}\n", note);
  return 0;
}

}  // namespace

extern const Command solstice_commands_gc;
const Command solstice_commands_gc = {
    .name = "gc",
    .summary = "Print the sizes of the run store and the caches, and remove what is old",
    .help =
        "Removes nothing without --yes. Without other options only leftovers go: damaged entries of caches, and what "
        "killed processes left half written. A running run stays; what memory learnt from a run stays when it goes, "
        "and so do folders of results, which are yours. Stages of a module that was cut go and stay with its run. "
        "While "
        "a run is running the store's file keeps its size. A cache entry that is removed is made anew when it is "
        "needed.",
    .example = "solstice gc --older-than 30d --keep 20 --cache-limit 2GB --yes",
    .parameters = {{"--older-than", "AGE", "remove runs that began longer ago: 12h, 30d, 8w", "", {}, false, false},
                   {"--keep", "N", "keep the newest N runs; alone, remove all others", "", {}, false, false},
                   {"--cache-limit",
                    "SIZE",
                    "remove the least recently used entries of all caches beyond this size: 2GB; 0 empties them; "
                    "bytecode counts as used when it was written",
                    "",
                    {},
                    false,
                    false},
                   {"--yes", "", "remove; without it only say what would go", "", {}, false, false},
                   {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
                   json_flag()},
    .run = run_gc,
};

}  // namespace solstice::cli
