// Folders of machine files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <set>
#include <system_error>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/paths.h"
#include "machine/machine.h"

namespace solstice::machine {
namespace {

namespace fs = std::filesystem;

fs::path user_folder() {
  if (const char* set = std::getenv("XDG_CONFIG_HOME"); set && *set) return fs::path(set) / "solstice" / "machines";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".config/solstice/machines";
  return {};
}

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || (name.size() > 5 && name.substr(name.size() - 5) == ".toml");
}

Result<Machine> load_file(const fs::path& file) {
  SOLSTICE_TRY(const std::string text, read_file(file));
  return parse_machine(text, file);
}

}  // namespace

std::vector<fs::path> machine_folders() {
  std::vector<fs::path> folders;
  if (const fs::path user = user_folder(); !user.empty()) folders.push_back(user);
  if (const Result<fs::path> root = data_root(); root.ok()) folders.push_back(*root / "machines");
  return folders;
}

fs::path calibrated_path(std::string_view name) { return user_folder() / fmt::format("{}.toml", name); }

Result<std::vector<std::string>> list_machines() {
  std::set<std::string> names;
  for (const fs::path& folder : machine_folders()) {
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    if (error) continue;  // the user's folder need not exist
    for (const fs::directory_entry& entry : entries) {
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
    }
  }
  if (names.empty()) SOLSTICE_CHECK(data_root());  // says why nothing was found
  return std::vector<std::string>(names.begin(), names.end());
}

Result<Machine> load_machine(std::string_view name) {
  if (is_path(name)) return load_file(fs::path(name));
  for (const fs::path& folder : machine_folders()) {
    std::error_code ignored;
    const fs::path file = folder / fmt::format("{}.toml", name);
    if (fs::exists(file, ignored)) return load_file(file);
  }
  SOLSTICE_TRY(const std::vector<std::string> names, list_machines());
  return fail(Code::not_found, fmt::format("no machine is called `{}`", name),
              instead_of(name, names) + "; a machine file is given by its path");
}

Result<Machine> machine_of_device(std::string_view device) {
  SOLSTICE_TRY(const std::vector<std::string> names, list_machines());
  for (const std::string& name : names) {
    SOLSTICE_TRY(Machine machine, load_machine(name));
    if (machine.device == device) return machine;
  }
  return fail(Code::not_found, fmt::format("no machine file describes `{}`", device),
              fmt::format("write one (machines/README.md says how), or name the closest with --machine: there are {}",
                          fmt::join(names, ", ")));
}

}  // namespace solstice::machine
