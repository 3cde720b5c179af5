#include "toolchain/includes.h"

#include <fmt/format.h>

#include <mutex>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"

namespace solstice::toolchain {
namespace {

namespace fs = std::filesystem;

bool leaves(const std::string& name) {
  const fs::path path(name);
  if (path.is_absolute()) return true;
  for (const fs::path& part : path) {
    if (part == "..") return true;
  }
  return false;
}

// Contents of CUDA's headers: they are many and do not change while the program runs.
struct SystemHeader {
  std::string hash;
  Includes includes;
};

Result<const SystemHeader*> system_header(const fs::path& file) {
  static std::mutex mutex;
  static std::map<std::string, SystemHeader> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(file.string());
  if (found != known.end()) return &found->second;
  SOLSTICE_TRY(const std::string text, read_file(file));
  return &known.emplace(file.string(), SystemHeader{hash_hex(text), scan_includes(text)}).first->second;
}

class Walker {
 public:
  Walker(const fs::path& kernels, const std::vector<fs::path>& folders) : kernels_(kernels), folders_(folders) {}

  // Text of the candidate or of kernels/.
  Status own(const std::string& file, std::string_view text) {
    const Includes includes = scan_includes(text);
    if (includes.flaw_line) return refuse(file, includes.flaw_line, std::string(includes.flaw));
    for (const Includes::Name& name : includes.names) {
      if (leaves(name.text)) {
        return refuse(file, name.line,
                      fmt::format("`{}` leaves kernels/ and the CUDA folders; name headers by their "
                                  "path below kernels/",
                                  name.text));
      }
      SOLSTICE_CHECK(own_include(name.text));
    }
    return success();
  }

  IncludeClosure closure;

 private:
  static Error refuse(const std::string& file, int line, std::string message) {
    Error error = fail(Code::bad_argument, std::move(message));
    error.file = file;
    error.line = line;
    return error;
  }

  Status own_include(const std::string& name) {
    if (closure.own.count(name)) return success();
    std::error_code ignored;
    fs::path file = kernels_ / name;
    if (!fs::is_regular_file(file, ignored)) file = kernels_ / "std" / name;
    if (!fs::is_regular_file(file, ignored)) return system(name, {});
    SOLSTICE_TRY(std::string text, read_file(file));
    const std::string& kept = closure.own[name] = std::move(text);
    return own(name, kept);
  }

  Status system(const std::string& name, const fs::path& includer) {
    std::error_code ignored;
    std::vector<fs::path> candidates;
    if (!includer.empty()) candidates.push_back(includer.parent_path() / name);
    for (const fs::path& folder : folders_) candidates.push_back(folder / name);
    for (const fs::path& candidate : candidates) {
      if (fs::is_regular_file(candidate, ignored)) return visit(candidate.lexically_normal());
    }
    closure.missing.insert(name);
    return success();
  }

  Status visit(const fs::path& file) {
    if (closure.system.count(file.string())) return success();
    SOLSTICE_TRY(const SystemHeader* header, system_header(file));
    closure.system.emplace(file.string(), header->hash);
    for (const Includes::Name& name : header->includes.names) SOLSTICE_CHECK(system(name.text, file));
    return success();
  }

  fs::path kernels_;
  const std::vector<fs::path>& folders_;
};

}  // namespace

Result<IncludeClosure> include_closure(std::string_view name, std::string_view source, const fs::path& kernels,
                                       const std::vector<fs::path>& include_folders) {
  Walker walker(kernels, include_folders);
  SOLSTICE_CHECK(walker.own(std::string(name), source));
  return std::move(walker.closure);
}

}  // namespace solstice::toolchain
