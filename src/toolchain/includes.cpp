#include "toolchain/includes.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
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

// A header of CUDA's with what its includes lead to.
struct SystemHeader {
  std::string hash;
  std::vector<fs::path> files;
  std::vector<std::string> missing;
};

// Those of a list of folders. They are many and do not change while the program runs: each is read once, and each of
// its includes is looked for once.
class SystemHeaders {
 public:
  explicit SystemHeaders(std::vector<fs::path> folders) : folders_(std::move(folders)) {}

  static SystemHeaders& of(const std::vector<fs::path>& folders) {
    static std::mutex mutex;
    static std::map<std::vector<fs::path>, SystemHeaders> known;
    const std::lock_guard lock(mutex);
    return known.try_emplace(folders, folders).first->second;
  }

  // Where `name` leads to, from a file in the folder `beside` ("": from the candidate's text); nothing: nowhere.
  std::optional<fs::path> find(const std::string& name, const fs::path& beside) const {
    std::error_code ignored;
    if (!beside.empty() && fs::is_regular_file(beside / name, ignored)) return (beside / name).lexically_normal();
    for (const fs::path& folder : folders_) {
      if (fs::is_regular_file(folder / name, ignored)) return (folder / name).lexically_normal();
    }
    return std::nullopt;
  }

  Result<const SystemHeader*> read(const fs::path& file) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(file.string());
    if (found != known_.end()) return &found->second;
    SOLSTICE_TRY(const std::string text, read_file(file));
    SystemHeader header{hash_hex(text), {}, {}};
    for (const Includes::Name& name : scan_includes(text).names) {
      if (std::optional<fs::path> next = find(name.text, file.parent_path()))
        header.files.push_back(std::move(*next));
      else
        header.missing.push_back(name.text);
    }
    return &known_.emplace(file.string(), std::move(header)).first->second;
  }

 private:
  const std::vector<fs::path> folders_;
  std::mutex mutex_;
  std::map<std::string, SystemHeader> known_;
};

class Walker {
 public:
  Walker(const fs::path& kernels, const std::vector<fs::path>& folders)
      : kernels_(kernels), system_(SystemHeaders::of(folders)) {}

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
    if (!fs::is_regular_file(file, ignored)) return system(name);
    SOLSTICE_TRY(std::string text, read_file(file));
    const std::string& kept = closure.own[name] = std::move(text);
    return own(name, kept);
  }

  Status system(const std::string& name) {
    if (const std::optional<fs::path> file = system_.find(name, {})) return visit(*file);
    closure.missing.insert(name);
    return success();
  }

  Status visit(const fs::path& file) {
    if (closure.system.count(file.string())) return success();
    SOLSTICE_TRY(const SystemHeader* header, system_.read(file));
    closure.system.emplace(file.string(), header->hash);
    closure.missing.insert(header->missing.begin(), header->missing.end());
    for (const fs::path& next : header->files) SOLSTICE_CHECK(visit(next));
    return success();
  }

  fs::path kernels_;
  SystemHeaders& system_;
};

}  // namespace

Result<IncludeClosure> include_closure(std::string_view name, std::string_view source, const fs::path& kernels,
                                       const std::vector<fs::path>& include_folders) {
  Walker walker(kernels, include_folders);
  SOLSTICE_CHECK(walker.own(std::string(name), source));
  return std::move(walker.closure);
}

}  // namespace solstice::toolchain
