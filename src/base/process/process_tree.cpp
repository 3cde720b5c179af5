#include "base/process/process_tree.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace solstice {
namespace {

// Fields of /proc/PID/stat follow the name, which may hold blanks and parentheses; 0 where the process is gone.
pid_t parent_of(const std::filesystem::path& process) {
  std::ifstream file(process / "stat");
  std::string text;
  std::getline(file, text, '\0');
  const size_t name_end = text.rfind(')');
  char state = 0;
  int parent = 0;
  if (name_end == std::string::npos || std::sscanf(text.c_str() + name_end + 1, " %c %d", &state, &parent) != 2)
    return 0;
  return parent;
}

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> out;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const int pid = std::atoi(it->path().filename().c_str());
    if (pid <= 0) continue;
    if (const pid_t parent = parent_of(it->path()); parent > 0) out.emplace(parent, pid);
  }
  return out;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
  const std::multimap<pid_t, pid_t> children = children_by_parent();
  std::vector<pid_t> out;
  const auto add = [&](pid_t parent) {
    for (auto [it, end] = children.equal_range(parent); it != end; ++it) out.push_back(it->second);
  };
  add(root);
  for (size_t i = 0; i < out.size(); ++i) add(out[i]);
  return out;
}

}  // namespace solstice
