#include "host_kernels/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace solstice::testing {
namespace {

constexpr const char* kFlags = "-std=c++20 -O0 -fPIC";

// The headers that generated code includes, compiled once a process: parsing them is most of a kernel's build.
const std::string& precompiled() {
  static const std::string header = [] {
    const std::string path =
        fmt::format("{}/solstice_host_{}_prelude.h", std::filesystem::temp_directory_path().string(), getpid());
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
        std::filesystem::remove(path, ignored);
        std::filesystem::remove(path + ".gch", ignored);
      }
    } cleaner{path};
    return path;
  }();
  return header;
}

}  // namespace

Result<HostLibrary> HostLibrary::compile(const std::string& code, const std::string& name) {
  static std::atomic<int> count = 0;
  const std::string base =
      fmt::format("{}/solstice_host_{}_{}", std::filesystem::temp_directory_path().string(), getpid(), count++);
  std::ofstream(base + ".cpp") << code;
  const std::string command = fmt::format("g++ {} -shared -include {} -I{}/kernels -o {}.so {}.cpp >{}.log 2>&1",
                                          kFlags, precompiled(), SOLSTICE_SOURCE_DIR, base, base, base);
  if (std::system(command.c_str()) != 0) {
    std::ifstream log(base + ".log");
    return fail(Code::compile_failed,
                fmt::format("kernel `{}`:\n{}\n{}", name, std::string(std::istreambuf_iterator<char>(log), {}), code));
  }
  void* library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* suffix : {".cpp", ".so", ".log"}) std::filesystem::remove(base + suffix);
  if (!library) return fail(Code::compile_failed, dlerror());
  return HostLibrary(library);
}

HostLibrary::Entry HostLibrary::entry(const std::string& function) const {
  return reinterpret_cast<Entry>(dlsym(handle_, function.c_str()));
}

}  // namespace solstice::testing
