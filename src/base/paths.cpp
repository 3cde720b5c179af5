#include "base/paths.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace solstice {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_root(const fs::path& folder) {
  std::error_code ignored;  // an unreadable folder is no root
  return fs::is_directory(folder / "kernels", ignored) && fs::is_directory(folder / "machines", ignored);
}

bool is_site(const fs::path& folder) {
  return folder.filename() == "site-packages" || folder.filename() == "dist-packages";
}

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

Result<fs::path> user_folder(const char* own, const char* xdg, const char* below_home) {
  if (const std::string set = environment(own); !set.empty()) return fs::path(set);
  if (const std::string set = environment(xdg); !set.empty()) return fs::path(set) / "solstice";
  if (const std::string home = environment("HOME"); !home.empty()) return fs::path(home) / below_home / "solstice";
  return fail(Code::not_found, fmt::format("neither {}, {} nor HOME is set", own, xdg),
              fmt::format("set {} to a folder", own));
}

}  // namespace

Result<fs::path> executable_path() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(Code::process_failed, fmt::format("cannot read /proc/self/exe: {}", error.message()));
  return path;
}

Result<fs::path> companion(std::string_view name) {
  SOLSTICE_TRY(const fs::path self, executable_path());
  std::error_code ignored;
  for (fs::path folder = self.parent_path(); folder != folder.root_path(); folder = folder.parent_path()) {
    for (const char* below : {".", "bin", "lib"}) {
      const fs::path candidate = (folder / below / name).lexically_normal();
      if (fs::is_regular_file(candidate, ignored)) return candidate;
    }
  }
  return fail(Code::not_found,
              fmt::format("`{}` is neither beside {} nor in bin/ or lib/ of a folder above it", name, self.string()),
              "build it (./x build), unpack the bundle whole, or install the wheel again");
}

Result<fs::path> data_root() {
  if (const std::string set = environment("SOLSTICE_ROOT"); !set.empty()) {
    if (is_root(set)) return fs::path(set);
    return fail(Code::not_found, fmt::format("SOLSTICE_ROOT is {}, which does not hold kernels/ and machines/", set));
  }
  SOLSTICE_TRY(const fs::path self, executable_path());
  for (fs::path folder = self.parent_path(); folder != folder.root_path(); folder = folder.parent_path()) {
    if (is_root(folder)) return folder;
  }
  return fail(Code::not_found, fmt::format("no folder above {} holds kernels/ and machines/", self.string()),
              "set SOLSTICE_ROOT to the one that does");
}

Result<fs::path> data_folder(std::string_view name) {
  SOLSTICE_TRY(const fs::path root, data_root());
  std::error_code ignored;
  if (fs::is_directory(root / name, ignored)) return root / name;
  return fail(Code::not_found, fmt::format("{} holds no folder {}/", root.string(), name));
}

Result<fs::path> package_folder() {
  SOLSTICE_TRY(const fs::path root, data_root());
  std::error_code ignored;
  if (fs::is_directory(root / "python/solstice", ignored)) return root / "python";
  const fs::path package = root.parent_path();  // of a wheel: solstice/_program
  if (package.filename() == "solstice" && fs::is_regular_file(package / "__init__.py", ignored))
    return package.parent_path();
  return fail(Code::not_found,
              fmt::format("{} holds no folder python/ and lies in no Python package `solstice`", root.string()));
}

bool is_installed() {
  const Result<fs::path> root = data_root();
  const Result<fs::path> package = package_folder();
  return root.ok() && package.ok() && *package != *root / "python";
}

Result<fs::path> cache_folder() { return user_folder("SOLSTICE_CACHE", "XDG_CACHE_HOME", ".cache"); }

Result<fs::path> home_folder() { return user_folder("SOLSTICE_HOME", "XDG_DATA_HOME", ".local/share"); }

Result<fs::path> find_program(std::string_view name) {
  const std::string path = environment("PATH");
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const fs::path candidate = fs::path(path.substr(begin, end - begin)) / name;
    if (end > begin && is_program(candidate)) return candidate;
    begin = end + 1;
  }
  return fail(Code::not_found, fmt::format("`{}` is not on PATH", name));
}

Result<fs::path> python_path() {
  if (const std::string set = environment("SOLSTICE_PYTHON"); !set.empty()) {
    if (is_program(set)) return fs::path(set);
    return fail(Code::no_python, fmt::format("SOLSTICE_PYTHON is {}, which is no executable file", set),
                "set it to the path of a Python with PyTorch, or unset it");
  }
  if (const auto root = data_root(); root.ok() && is_program(*root / ".venv/bin/python")) {
    return *root / ".venv/bin/python";
  }
  if (auto found = find_program("python3"); found.ok()) return found;
  return fail(Code::no_python, "no Python was found: neither .venv/bin/python nor python3 on PATH",
              "set SOLSTICE_PYTHON");
}

Result<std::map<std::string, std::string>> python_environment() {
  SOLSTICE_TRY(const fs::path ours, package_folder());
  std::map<std::string, std::string> out;
  if (const std::string set = environment("PYTHONPATH"); !is_site(ours))
    out["PYTHONPATH"] = set.empty() ? ours.string() : ours.string() + ":" + set;
  std::error_code failed;
  const Result<fs::path> cache = cache_folder();
  const fs::path absolute = cache.ok() ? fs::absolute(*cache, failed) : fs::path();
  if (cache.ok() && !failed) out["SOLSTICE_BYTECODE"] = (absolute / "bytecode").string();
  return out;
}

}  // namespace solstice
