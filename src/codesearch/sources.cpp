#include "codesearch/sources.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "base/paths.h"
#include "toolchain/toolchain.h"

namespace solstice::codesearch {
namespace {

namespace fs = std::filesystem;

// Headers of the C++ library have no ending (cuda/std/span, kernels/std/cmath).
bool is_source(std::string_view name) {
  constexpr std::array kEndings = {".h", ".hpp", ".cuh", ".cu", ".inl", ".cpp", ".py", ".md", ".ucut"};
  if (name.find('.') == std::string_view::npos) return true;
  return std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return name.ends_with(ending); });
}

// A toolkit's include folder also holds libraries of the host, profilers and graphics.
constexpr std::array kDeviceHeaders = {
    "cuda",    "cuComplex", "curand",   "sm_",           "mma.h",    "cooperative_groups",
    "vector_", "math_",     "device_",  "texture_",      "surface_", "common_functions",
    "host_",   "driver_",   "library_", "builtin_types", "crt"};
constexpr std::array kHostHeaders = {"cudaGL",       "cudaEGL", "cudaVDPAU", "cudaProfiler", "cuda_profiler",
                                     "cudaTypedefs", "cuda_gl", "cuda_egl",  "cuda_vdpau",   "cuda_stdint"};

template <size_t N>
bool begins_with_one(std::string_view name, const std::array<const char*, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) { return name.starts_with(prefix); });
}

bool is_device_header(std::string_view name) {
  return begins_with_one(name, kDeviceHeaders) && !begins_with_one(name, kHostHeaders);
}

constexpr std::string_view kCudaPrefix = "cuda";
constexpr std::array kCcclFolders = {"cub", "cuda", "thrust", "nv"};

void add_if_there(const fs::path& folder, const std::string& prefix, std::vector<Root>& out) {
  std::error_code ignored;
  if (!folder.empty() && fs::is_directory(folder, ignored)) out.push_back({prefix, folder});
}

// CCCL may lie in CUDA's include folder.
bool is_cccl_folder(std::string_view name) {
  return name == "cccl" || std::find(kCcclFolders.begin(), kCcclFolders.end(), name) != kCcclFolders.end();
}

class Lister {
 public:
  explicit Lister(const Root& root) : root_(root), cuda_(root.prefix == kCudaPrefix) {}

  Status list(std::vector<SourceFile>& out) {
    std::error_code error;
    fs::recursive_directory_iterator it(root_.folder, fs::directory_options::follow_directory_symlink, error), end;
    for (; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      const bool top = it.depth() == 0;
      if (it->is_directory(error)) {
        if (skips_folder(name, top)) it.disable_recursion_pending();
        continue;
      }
      if (!is_source(name) || (cuda_ && top && !is_device_header(name))) continue;
      add(it->path(), out);
    }
    if (!error) return success();
    return fail(Code::io_error, fmt::format("cannot list {}: {}", root_.folder.string(), error.message()));
  }

 private:
  bool skips_folder(std::string_view name, bool top) const {
    if (name.starts_with('.') || name == "__pycache__") return true;
    return cuda_ && top && (is_cccl_folder(name) || !is_device_header(name));
  }

  // A file that went meanwhile is none.
  void add(const fs::path& file, std::vector<SourceFile>& out) const {
    struct stat found = {};
    if (::stat(file.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return;
    const std::string below = file.string().substr(root_.folder.string().size());
    const size_t first = std::min(below.find_first_not_of('/'), below.size());
    out.push_back({.path = root_.prefix + "/" + below.substr(first),
                   .file = file,
                   .size = static_cast<int64_t>(found.st_size),
                   .time = int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec});
  }

  const Root& root_;
  bool cuda_;
};

}  // namespace

Result<std::vector<Root>> installed_roots() {
  std::vector<Root> out;
  const toolchain::HeaderFolders headers = toolchain::find_headers();
  if (!headers.cutlass.empty()) {
    const fs::path source = headers.cutlass.parent_path();
    add_if_there(headers.cutlass, "cutlass/include", out);
    add_if_there(source / "examples", "cutlass/examples", out);
    add_if_there(source / "tools/util/include", "cutlass/tools/util/include", out);
  }
  for (const char* folder : kCcclFolders) {
    if (!headers.cccl.empty()) add_if_there(headers.cccl / folder, fmt::format("cccl/{}", folder), out);
  }
  add_if_there(headers.cuda, std::string(kCudaPrefix), out);
  SOLSTICE_TRY(const fs::path own, data_root());
  add_if_there(own / "kernels", "kernels", out);
  add_if_there(own / "examples", "examples", out);
  return out;
}

Result<std::vector<SourceFile>> list_sources(const std::vector<Root>& roots) {
  std::vector<SourceFile> out;
  for (const Root& root : roots) SOLSTICE_CHECK(Lister(root).list(out));
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return out;
}

}  // namespace solstice::codesearch
