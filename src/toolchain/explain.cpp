#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/paths.h"
#include "toolchain/cache.h"
#include "toolchain/compiler.h"

namespace solstice::toolchain {
namespace {

using Parts = std::map<std::string, std::string>;

Parts parts_of(const CacheEntry& entry) {
  Parts parts;
  for (const KeyPart& part : entry.parts) parts[part.name] = part.hash;
  return parts;
}

// More equal parts are nearer; a unit of the same name breaks ties, then the younger one.
int likeness(const CacheEntry& entry, const Parts& wanted, const std::string& name) {
  int equal = 0;
  for (const KeyPart& part : entry.parts) {
    const auto found = wanted.find(part.name);
    equal += found != wanted.end() && found->second == part.hash ? 2 : 0;
  }
  return equal + (entry.name == name ? 1 : 0);
}

void compare(const Parts& wanted, const Parts& other, Explanation& out) {
  for (const auto& [part, hash] : wanted) {
    const auto found = other.find(part);
    if (found == other.end()) {
      out.added.push_back(part);
    } else if (found->second != hash) {
      out.changed.push_back(part);
    }
  }
  for (const auto& [part, hash] : other) {
    if (!wanted.count(part)) out.removed.push_back(part);
  }
}

}  // namespace

Result<Explanation> explain(std::string_view key, const std::filesystem::path& cache) {
  std::filesystem::path folder = cache;
  if (folder.empty()) {
    SOLSTICE_TRY(folder, cache_folder());
    folder /= "jit";
  }
  const std::vector<CacheEntry> all = CubinCache(folder, Bytes(0)).entries();
  const auto same = [&](const CacheEntry& entry) { return entry.key.rfind(key, 0) == 0; };
  const auto own = std::find_if(all.begin(), all.end(), same);
  if (own == all.end() || key.empty()) {
    return fail(Code::not_found,
                fmt::format("no compile with key `{}` is in {} ({} entries)", key, folder.string(), all.size()),
                "`solstice compile PROGRAM --json` prints the keys of its kernels");
  }
  Explanation out;
  out.key = own->key;
  out.name = own->name;
  const Parts wanted = parts_of(*own);
  const CacheEntry* nearest = nullptr;
  for (const CacheEntry& entry : all) {
    if (entry.key == own->key || entry.created > own->created)
      continue;  // only entries that existed when it was looked up
    if (!nearest || likeness(entry, wanted, own->name) >= likeness(*nearest, wanted, own->name)) nearest = &entry;
  }
  if (!nearest) return out;
  out.nearest = nearest->key;
  compare(wanted, parts_of(*nearest), out);
  return out;
}

std::string Explanation::text() const {
  if (nearest.empty()) return fmt::format("{} ({}) missed: the cache has no similar entry", key, name);
  std::vector<std::string> why;
  if (!changed.empty()) why.push_back(fmt::format("changed: {}", fmt::join(changed, ", ")));
  if (!added.empty()) why.push_back(fmt::format("added: {}", fmt::join(added, ", ")));
  if (!removed.empty()) why.push_back(fmt::format("removed: {}", fmt::join(removed, ", ")));
  return fmt::format("{} ({}) missed; compared with the most similar entry {}, {}", key, name, nearest,
                     fmt::join(why, "; "));
}

}  // namespace solstice::toolchain
