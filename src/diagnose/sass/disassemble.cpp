#include "diagnose/sass/disassemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/version.h"
#include "diagnose/sass/parts.h"

namespace solstice::diagnose {
namespace sass {
namespace {

namespace fs = std::filesystem;

// Whose text was compared (docs/machine-code.md).
constexpr int kOldestMajor = 12, kNewestMajor = 13;
constexpr Bytes kMostCached{64e6};

struct CachedSass {
  static constexpr const char* kSchema = "solstice.sass/1";
  std::string key;
  std::string disassembler;
  std::map<std::string, SassFacts> kernels;
  static auto fields() {
    return std::make_tuple(field("key", &CachedSass::key, "hash over cubin, disassembler and reader"),
                           field("disassembler", &CachedSass::disassembler, "its version"),
                           field("kernels", &CachedSass::kernels, "facts by entry"));
  }
};

Result<toolchain::Disassembler> known_disassembler(const fs::path& program) {
  SOLSTICE_TRY(toolchain::Disassembler by, toolchain::disassembler(program));
  if (by.major >= kOldestMajor && by.major <= kNewestMajor) return by;
  return fail(
      Code::not_found,
      fmt::format("{} is of CUDA {}; text of {} to {} is understood", by.program.string(), by.version, kOldestMajor,
                  kNewestMajor),
      fmt::format("`pip install 'nvidia-cuda-nvdisasm=={}.*'`, or a CUDA toolkit of that version", kNewestMajor));
}

Result<std::string> print_code(const toolchain::Disassembler& by, std::string_view cubin, const SassOptions& options) {
  if (by.is_cuobjdump()) return toolchain::disassemble(by, cubin, {"-sass"}, options.limits);
  // Without its analysis of indirect branches nvdisasm takes two thirds of the time; few kernels have such branches.
  const std::vector<std::string> usual = {"-hex", "-c", "-gi"};
  std::vector<std::string> fast = usual;
  fast.emplace_back("-ndf");
  SOLSTICE_TRY(std::string text, toolchain::disassemble(by, cubin, fast, options.limits));
  if (text.find(" BRX") == std::string::npos && text.find(" JMX") == std::string::npos) return text;
  return toolchain::disassemble(by, cubin, usual, options.limits);
}

std::string key_of_facts(std::string_view cubin, const toolchain::Disassembler& by, const SassOptions& options) {
  Hasher hasher;
  for (const SourceLine& line : options.source.lines)
    hasher.add(static_cast<int64_t>(line.equation)).add(static_cast<int64_t>(line.results)).add(line.part);
  return hasher.add(cubin)
      .add(by.is_cuobjdump() ? "cuobjdump" : "nvdisasm")
      .add(by.version)
      .add(options.source.file)
      .add(options.headers.empty() ? "" : hash_of_headers(options.headers))
      .add(version())
      .add(static_cast<int64_t>(kSassRevision))
      .hex();
}

class SassCache {
 public:
  SassCache(fs::path folder, std::string key)
      : folder_(std::move(folder)), file_(folder_ / (key + ".json")), key_(key) {}

  std::optional<std::map<std::string, SassFacts>> find() const {
    std::error_code error;
    if (!fs::exists(file_, error)) return std::nullopt;
    Result<CachedSass> entry = read();
    if (!entry.ok()) {
      log_warning("damaged facts about machine code are made anew",
                  Json::object().set("file", file_.string()).set("why", entry.error().text()));
      return std::nullopt;
    }
    fs::last_write_time(file_, fs::file_time_type::clock::now(), error);  // a read-only cache still serves
    return std::move(entry->kernels);
  }

  // The facts are good; a full disk must not lose them.
  void store(const std::string& disassembler, const std::map<std::string, SassFacts>& kernels) const {
    const CachedSass entry{key_, disassembler, kernels};
    const Status written = write_file(file_, to_json(entry).dump());
    if (written.ok()) return evict();
    log_warning("facts about machine code could not be cached", Json::object().set("why", written.error().text()));
  }

 private:
  Result<CachedSass> read() const {
    SOLSTICE_TRY(const std::string text, read_file(file_));
    SOLSTICE_TRY(const Json json, parse_json(text));
    SOLSTICE_TRY(CachedSass entry, from_json<CachedSass>(json));
    if (entry.key != key_) return fail(Code::bad_record, fmt::format("it holds the facts of {}", entry.key));
    return entry;
  }

  void evict() const {
    struct Stored {
      fs::file_time_type used;
      fs::path path;
      double bytes;
    };
    std::vector<Stored> files;
    std::error_code error;
    double total = 0;
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
      std::error_code gone;  // another process may evict at the same time
      const Stored file{it->last_write_time(gone), it->path(), static_cast<double>(it->file_size(gone))};
      if (gone) continue;
      total += file.bytes;
      files.push_back(file);
    }
    std::sort(files.begin(), files.end(), [](const Stored& a, const Stored& b) { return a.used < b.used; });
    for (const Stored& file : files) {
      if (total <= kMostCached.value) break;
      fs::remove(file.path, error);
      total -= file.bytes;
    }
  }

  fs::path folder_, file_;
  std::string key_;
};

}  // namespace
}  // namespace sass

Result<std::string> disassemble(std::string_view cubin, const SassOptions& options) {
  SOLSTICE_TRY(const toolchain::Disassembler by, sass::known_disassembler(options.program));
  return sass::print_code(by, cubin, options);
}

Result<std::map<std::string, SassFacts>> sass_of_cubin(std::string_view cubin, const SassOptions& options) {
  SOLSTICE_TRY(const toolchain::Disassembler by, sass::known_disassembler(options.program));
  std::filesystem::path folder = options.cache;
  if (folder.empty()) {
    SOLSTICE_TRY(folder, cache_folder());
    folder /= "sass";
  }
  const sass::SassCache cache(folder, sass::key_of_facts(cubin, by, options));
  if (auto known = cache.find()) return *std::move(known);
  SOLSTICE_TRY(const std::string text, sass::print_code(by, cubin, options));
  Result<std::map<std::string, SassFacts>> facts = sass_of(text, options.source, options.headers);
  if (facts.ok()) cache.store(by.version, *facts);
  return facts;
}

}  // namespace solstice::diagnose
