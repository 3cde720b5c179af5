// The content-addressed store of cubins: FOLDER/KEY.cubin and FOLDER/KEY.json, written to a temporary, flushed and
// renamed, the .json last, so that readers see a whole entry or none and a lost race is a success. An entry whose
// cubin does not match its hash is moved to FOLDER/quarantine and counts as a miss. Beyond the cap the entries that
// were not used for longest go.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "toolchain/compiled.h"

namespace solstice::toolchain {

struct CacheEntry {
  static constexpr const char* kSchema = "solstice.cubin/1";
  std::string key;
  std::string name;
  std::string created;  // UTC
  std::string hash;     // of the cubin
  std::string log;
  Seconds seconds;
  std::vector<KernelResources> kernels;
  std::vector<PtxasNote> notes;
  std::vector<KeyPart> parts;
  static auto fields() {
    return std::make_tuple(
        field("key", &CacheEntry::key, "hash over the parts"),
        field("name", &CacheEntry::name, "of the unit, for people"), field("created", &CacheEntry::created, "UTC"),
        field("hash", &CacheEntry::hash, "of the cubin's bytes"),
        field("log", &CacheEntry::log, "of compiler and ptxas"),
        field("seconds", &CacheEntry::seconds, "what compiling took"),
        field("kernels", &CacheEntry::kernels, "resources, one an entry"),
        field("notes", &CacheEntry::notes, "of ptxas"), field("parts", &CacheEntry::parts, "what the key hashes"));
  }
};

std::string key_of(const std::vector<KeyPart>& parts);

class CubinCache {
 public:
  CubinCache(std::filesystem::path folder, Bytes cap) : folder_(std::move(folder)), cap_(cap) {}

  std::optional<Compiled> find(const std::string& key);  // marks the entry as used
  Status store(const std::string& name, const Compiled& compiled);
  Status evict();  // down to the cap; store() calls it
  std::vector<CacheEntry> entries() const;

 private:
  void quarantine(const std::string& key, const std::string& why);

  std::filesystem::path folder_;
  Bytes cap_;
  std::mutex evicting_;
};

}  // namespace solstice::toolchain
