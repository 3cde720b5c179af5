#include "toolchain/cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"

namespace solstice::toolchain {
namespace {

namespace fs = std::filesystem;

Result<CacheEntry> read_entry(const fs::path& file) {
  SOLSTICE_TRY(const std::string text, read_file(file));
  SOLSTICE_TRY(const Json json, parse_json(text));
  return from_json<CacheEntry>(json);
}

struct StoredFile {
  std::string key;
  fs::path path;
  double bytes = 0;
  fs::file_time_type used;
};

// The entries with their sizes, least recently used first.
std::vector<StoredFile> by_age(const fs::path& folder) {
  std::vector<StoredFile> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".json") continue;
    std::error_code gone;  // another process may evict at the same time
    fs::path cubin = it->path();
    cubin.replace_extension(".cubin");
    const double bytes = static_cast<double>(it->file_size(gone)) + static_cast<double>(fs::file_size(cubin, gone));
    const fs::file_time_type used = it->last_write_time(gone);
    if (!gone) files.push_back({it->path().stem().string(), it->path(), bytes, used});
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  return files;
}

}  // namespace

std::string key_of(const std::vector<KeyPart>& parts) {
  Hasher hasher;
  for (const KeyPart& part : parts) hasher.add(part.name).add(part.hash);
  return hasher.hex();
}

std::optional<Compiled> CubinCache::find(const std::string& key) {
  const fs::path meta = folder_ / (key + ".json");
  std::error_code error;
  if (!fs::exists(meta, error)) return std::nullopt;
  Result<CacheEntry> entry = read_entry(meta);
  if (!entry.ok()) {
    quarantine(key, entry.error().message);
    return std::nullopt;
  }
  Result<std::string> cubin = read_file(folder_ / (key + ".cubin"));
  if (!cubin.ok() || hash_hex(*cubin) != entry->hash || key_of(entry->parts) != key) {
    quarantine(key, cubin.ok() ? "content does not match its hash" : cubin.error().message);
    return std::nullopt;
  }
  fs::last_write_time(meta, fs::file_time_type::clock::now(), error);  // a read-only cache still serves
  Compiled out;
  out.outcome = Outcome::kOk;
  out.cubin = std::move(cubin).value();
  out.log = std::move(entry->log);
  out.kernels = std::move(entry->kernels);
  out.notes = std::move(entry->notes);
  out.seconds = entry->seconds;
  out.cached = true;
  out.key = key;
  out.parts = std::move(entry->parts);
  return out;
}

Status CubinCache::store(const std::string& name, const Compiled& compiled) {
  CacheEntry entry{.key = compiled.key,
                   .name = name,
                   .created = utc_now(),
                   .hash = hash_hex(compiled.cubin),
                   .log = compiled.log,
                   .seconds = compiled.seconds,
                   .kernels = compiled.kernels,
                   .notes = compiled.notes,
                   .parts = compiled.parts};
  SOLSTICE_CHECK(write_file(folder_ / (compiled.key + ".cubin"), compiled.cubin));
  SOLSTICE_CHECK(write_file(folder_ / (compiled.key + ".json"), to_json(entry).dump()));
  return evict();
}

Status CubinCache::evict() {
  const std::lock_guard lock(evicting_);
  const std::vector<StoredFile> files = by_age(folder_);
  double total = 0;
  for (const StoredFile& file : files) total += file.bytes;
  for (const StoredFile& file : files) {
    if (total <= cap_.value) break;
    std::error_code ignored;  // another process may have been faster
    fs::remove(file.path, ignored);
    fs::remove(folder_ / (file.key + ".cubin"), ignored);
    total -= file.bytes;
  }
  return success();
}

std::vector<CacheEntry> CubinCache::entries() const {
  std::vector<CacheEntry> out;
  for (const StoredFile& file : by_age(folder_)) {
    Result<CacheEntry> entry = read_entry(file.path);
    if (entry.ok()) out.push_back(std::move(entry).value());
  }
  return out;
}

void CubinCache::quarantine(const std::string& key, const std::string& why) {
  log_warning("a damaged cache entry was set aside", Json::object().set("key", key).set("why", why));
  std::error_code ignored;  // at worst the entry stays and is set aside again
  fs::create_directories(folder_ / "quarantine", ignored);
  for (const char* kind : {".json", ".cubin"}) {
    fs::rename(folder_ / (key + kind), folder_ / "quarantine" / (key + kind), ignored);
  }
}

}  // namespace solstice::toolchain
