#include "flow/history/cleaning.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <system_error>

namespace solstice::flow {
namespace {

namespace fs = std::filesystem;

// A write takes seconds: a temporary file of this age is nobody's.
constexpr std::chrono::hours kWriting{1};

struct CacheKind {
  const char* name;
  const char* folder;
  std::set<std::string> endings;  // of whole files; another one is a temporary. Empty: any
};

const std::vector<CacheKind>& cache_kinds() {
  static const std::vector<CacheKind> kinds = {{"compiled kernels", "jit", {".cubin", ".json"}},
                                               {"traced graphs", "graphs", {".json"}},
                                               {"bytecode", "bytecode", {}},
                                               {"hashes of compilers", "toolchain", {}},
                                               {"index of code", "codesearch", {}}};
  return kinds;
}

// Files that belong together: a cubin and its record.
struct CacheItem {
  size_t stock = 0;
  std::vector<fs::path> files;
  double bytes = 0;
  fs::file_time_type used = fs::file_time_type::min();
};

void add_file(const fs::directory_entry& file, CacheItem& item) {
  std::error_code gone;  // by another process
  const double bytes = static_cast<double>(file.file_size(gone));
  const fs::file_time_type used = file.last_write_time(gone);
  if (gone) return;
  item.files.push_back(file.path());
  item.bytes += bytes;
  item.used = std::max(item.used, used);
}

// All files below a folder; none where it is not there.
std::vector<fs::directory_entry> files_below(const fs::path& folder) {
  std::vector<fs::directory_entry> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (it->is_regular_file(gone)) files.push_back(*it);
  }
  return files;
}

class Planner {
 public:
  explicit Planner(const CleaningWishes& wishes) : wishes_(wishes) {}

  Status add_runs(store::Store& store) {
    Stock stock{.name = "runs", .place = store.folder() / "runs.db"};
    SOLSTICE_TRY(const std::vector<store::RunSize> runs, store.sizes());
    const std::set<std::string> going = going_runs(runs);
    for (const store::RunSize& run : runs) {
      stock.entries += run.part ? 0 : 1;
      stock.size += run.size;
      if (!going.contains(run.id)) continue;
      stock.going += run.part ? 0 : 1;
      stock.going_size += run.size;
      plan_.runs.push_back(run.id);
    }
    plan_.stocks.push_back(std::move(stock));
    return success();
  }

  void add_caches(const fs::path& cache) {
    for (const CacheKind& kind : cache_kinds()) add_cache(kind, cache / kind.folder);
    leftovers_.place = cache;
    plan_.stocks.push_back(leftovers_);
    drop_least_used();
  }

  Cleaning take() { return std::move(plan_); }

 private:
  // Runs of modules, and of their parts with them. A part whose module's run is gone goes where runs are to go.
  std::set<std::string> going_runs(const std::vector<store::RunSize>& runs) const {
    std::set<std::string> known, going;
    size_t newer = static_cast<size_t>(std::count_if(runs.begin(), runs.end(), [](const auto& r) { return !r.part; }));
    for (const store::RunSize& run : runs) {
      if (run.part) continue;
      known.insert(run.id);
      if (goes(run, newer--)) going.insert(run.id);
    }
    std::string before;  // the latest run of a module, whose a part is that names none
    for (const store::RunSize& run : runs) {
      if (!run.part) before = run.id;
      if (!run.part || run.running) continue;
      const std::string& parent = run.parent.empty() ? before : run.parent;
      const bool orphan = !known.contains(parent);
      if (orphan ? goes(run, std::numeric_limits<size_t>::max()) : going.contains(parent)) going.insert(run.id);
    }
    return going;
  }

  // `newer`: how many runs began no earlier, itself included.
  bool goes(const store::RunSize& run, size_t newer) const {
    if (run.running || (!wishes_.older_than && !wishes_.keep)) return false;
    const bool old = !wishes_.older_than || run.age > *wishes_.older_than;
    return old && newer > static_cast<size_t>(wishes_.keep.value_or(0));
  }

  void add_cache(const CacheKind& kind, const fs::path& folder) {
    const size_t stock = plan_.stocks.size();
    plan_.stocks.push_back({.name = kind.name, .place = folder});
    std::map<std::string, CacheItem> items;
    for (const fs::directory_entry& file : files_below(folder)) {
      const bool apart = file.path().parent_path().filename() == "quarantine";
      const bool whole = kind.endings.empty() || kind.endings.contains(file.path().extension().string());
      if (apart || !whole) {
        add_leftover(file, apart);
        continue;
      }
      const fs::path id = kind.endings.empty() ? file.path() : file.path().parent_path() / file.path().stem();
      add_file(file, items[id.string()]);
    }
    for (auto& [id, item] : items) {
      item.stock = stock;
      ++plan_.stocks[stock].entries;
      plan_.stocks[stock].size += Bytes(item.bytes);
      items_.push_back(std::move(item));
    }
  }

  void add_leftover(const fs::directory_entry& file, bool apart) {
    CacheItem item;
    add_file(file, item);
    if (!apart && item.used + kWriting > fs::file_time_type::clock::now()) return;
    for (int* count : {&leftovers_.entries, &leftovers_.going}) ++*count;
    for (Bytes* size : {&leftovers_.size, &leftovers_.going_size}) *size += Bytes(item.bytes);
    plan_.files.insert(plan_.files.end(), item.files.begin(), item.files.end());
  }

  void drop_least_used() {
    if (!wishes_.cache_limit) return;
    double total = 0;
    for (const CacheItem& item : items_) total += item.bytes;
    std::sort(items_.begin(), items_.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
    for (const CacheItem& item : items_) {
      if (total <= wishes_.cache_limit->value) return;
      total -= item.bytes;
      ++plan_.stocks[item.stock].going;
      plan_.stocks[item.stock].going_size += Bytes(item.bytes);
      plan_.files.insert(plan_.files.end(), item.files.begin(), item.files.end());
    }
  }

  const CleaningWishes& wishes_;
  Cleaning plan_;
  Stock leftovers_{.name = "leftovers", .place = {}};
  std::vector<CacheItem> items_;
};

}  // namespace

Result<Cleaning> plan_cleaning(store::Store& store, const fs::path& cache, const CleaningWishes& wishes) {
  Planner planner(wishes);
  SOLSTICE_CHECK(planner.add_runs(store));
  planner.add_caches(cache);
  return planner.take();
}

Status clean(store::Store& store, const Cleaning& cleaning) {
  // Also without runs: programs that none of them has any more go too.
  if (const Result<int> removed = store.remove_runs(cleaning.runs); !removed.ok()) return removed.error();
  for (const fs::path& file : cleaning.files) {
    std::error_code error;
    fs::remove(file, error);
    if (error) return fail(Code::io_error, fmt::format("cannot remove {}: {}", file.string(), error.message()));
  }
  return success();
}

}  // namespace solstice::flow
