#include "flow/run/state/build_identity.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/hash.h"
#include "base/paths.h"

namespace solstice::flow {
namespace {

std::string identity_on_disk() {
  const Result<std::filesystem::path> self = executable_path();
  struct stat found {};
  if (!self.ok() || ::stat(self->c_str(), &found) != 0) return "";
  Hasher hasher;
  hasher.add(static_cast<int64_t>(found.st_size))
      .add(static_cast<int64_t>(found.st_mtim.tv_sec))
      .add(static_cast<int64_t>(found.st_mtim.tv_nsec));
  std::error_code ignored;  // without kernels nothing compiles, which others report
  if (const Result<std::filesystem::path> kernels = data_folder("kernels"); kernels.ok()) {
    int64_t newest = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(*kernels, ignored)) {
      newest = std::max(newest, static_cast<int64_t>(entry.last_write_time(ignored).time_since_epoch().count()));
    }
    hasher.add(newest);
  }
  return hasher.hex();
}

}  // namespace

const std::string& build_identity() {
  static const std::string identity = identity_on_disk();
  return identity;
}

}  // namespace solstice::flow
