#include "host_kernels/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace solstice::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFlags = "-std=c++20 -O0 -fPIC";

// The headers that generated code includes, compiled once a process: parsing them is most of a kernel's build.
const std::string& precompiled() {
  static const std::string header = [] {
    const std::string path = fmt::format("{}/solstice_host_{}_prelude.h", fs::temp_directory_path().string(), getpid());
    std::ofstream(path)
        << "#include \"math/special.h\"\n#include \"math/vector.h\"\n#include "
           "\"reduction/correct.h\"\n#include \"reduction/reduce.h\"\n"
           "#include \"pipeline/bulk_ring.h\"\n#include \"pipeline/thread_slots.h\"\n#include \"scan/scan.h\"\n";
    const int status = std::system(
        fmt::format("g++ {} -x c++-header -I{}/kernels -o {}.gch {}", kFlags, SOLSTICE_SOURCE_DIR, path, path).c_str());
    // Without it the plain header is read instead.
    if (status != 0) fmt::print(stderr, "no precompiled header: g++ ended with {}\n", status);
    static const struct Cleaner {
      std::string path;
      ~Cleaner() {
        std::error_code ignored;
        fs::remove(path, ignored);
        fs::remove(path + ".gch", ignored);
      }
    } cleaner{path};
    return path;
  }();
  return header;
}

// A digest of the compiler and of all device headers.
const std::string& environment() {
  static const std::string digest = [] {
    std::vector<fs::path> headers;
    for (const auto& entry : fs::recursive_directory_iterator(SOLSTICE_SOURCE_DIR "/kernels"))
      if (entry.is_regular_file()) headers.push_back(entry.path());
    std::sort(headers.begin(), headers.end());
    Hasher hasher;
    hasher.add(kFlags).add(__VERSION__);
    for (const fs::path& header : headers) hasher.add(header.string()).add(read_file(header).value());
    return hasher.hex();
  }();
  return digest;
}

// The library that g++ made of this text with these headers, or is to make: it is kept below the build, since g++ takes
// most of the time of these tests.
fs::path kept(const std::string& code) {
  return fs::path(SOLSTICE_BINARY_DIR) / "host-kernels" / (Hasher().add(environment()).add(code).hex() + ".so");
}

// Leaves `file` at `place`, whole or not at all. Only the next run's time depends on it: a failure is no error here.
void keep(const fs::path& file, const fs::path& place) {
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  const fs::path fresh = fmt::format("{}.{}", place.string(), file.filename().string());
  fs::copy_file(file, fresh, error);
  if (!error) fs::rename(fresh, place, error);
  if (error) fs::remove(fresh, error);
}

}  // namespace

Result<HostLibrary> HostLibrary::compile(const std::string& code, const std::string& name) {
  static std::atomic<int> count = 0;
  const std::string base = fmt::format("{}/solstice_host_{}_{}", fs::temp_directory_path().string(), getpid(), count++);
  const fs::path known = kept(code), own = base + ".so";
  std::error_code missing;
  // A copy: a library that is opened twice would share its variables.
  if (!fs::copy_file(known, own, missing)) {
    std::ofstream(base + ".cpp") << code;
    const std::string command = fmt::format("g++ {} -shared -include {} -I{}/kernels -o {}.so {}.cpp >{}.log 2>&1",
                                            kFlags, precompiled(), SOLSTICE_SOURCE_DIR, base, base, base);
    if (std::system(command.c_str()) != 0) {
      std::ifstream log(base + ".log");
      return fail(Code::compile_failed, fmt::format("kernel `{}`:\n{}\n{}", name,
                                                    std::string(std::istreambuf_iterator<char>(log), {}), code));
    }
    keep(own, known);
  }
  void* library = dlopen(own.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* suffix : {".cpp", ".so", ".log"}) fs::remove(base + suffix);
  if (!library) return fail(Code::compile_failed, dlerror());
  return HostLibrary(library);
}

HostLibrary::Entry HostLibrary::entry(const std::string& function) const {
  return reinterpret_cast<Entry>(dlsym(handle_, function.c_str()));
}

}  // namespace solstice::testing
