#include "import/graph/module_path.h"

namespace solstice::importer {

std::optional<std::string> relative_path(const std::string& path, const std::string& to) {
  if (to.empty()) return path.empty() ? std::nullopt : std::optional(path);
  if (path.size() <= to.size() + 1 || path.compare(0, to.size(), to) != 0 || path[to.size()] != '.')
    return std::nullopt;
  return path.substr(to.size() + 1);
}

}  // namespace solstice::importer
