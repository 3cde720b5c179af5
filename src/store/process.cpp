#include "store/process.h"

#include <fmt/format.h>

#include <sstream>

#include "base/file.h"

namespace solstice::store {

std::string process_start(int pid) {
  const Result<std::string> stat = read_file(fmt::format("/proc/{}/stat", pid));
  const Result<std::string> boot = read_file("/proc/sys/kernel/random/boot_id");
  if (!stat.ok()) return "";
  // The name in parentheses may hold anything; field 22 is the 20th after it.
  std::istringstream fields(stat->substr(stat->rfind(')') + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return field + "@" + (boot.ok() ? boot->substr(0, 36) : "");
}

}  // namespace solstice::store
