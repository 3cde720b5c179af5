// Finding NVRTC, nvcc, CUDA's headers and a disassembler.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/process/subprocess.h"
#include "toolchain/disassembler.h"
#include "toolchain/toolchain.h"

namespace solstice::toolchain {
namespace {

namespace fs = std::filesystem;
using Folders = std::vector<fs::path>;

void add_environment(const char* name, Folders& out) {
  const char* value = std::getenv(name);
  std::istringstream parts(value ? value : "");
  for (std::string part; std::getline(parts, part, ':');) {
    if (!part.empty()) out.emplace_back(part);
  }
}

// Entries of a folder whose name starts with `prefix`, newest version last; none where it cannot be read.
std::vector<fs::path> entries(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().rfind(prefix, 0) == 0) found.push_back(it->path());
  }
  // Versions compare as text once padded: so.13 after so.9.
  const auto rank = [](const fs::path& path) { return std::pair(path.string().size(), path.string()); };
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return found;
}

Folders toolkits() {
  Folders out;
  add_environment("CUDA_HOME", out);
  add_environment("CUDA_PATH", out);
  out.emplace_back("/usr/local/cuda");
  std::vector<fs::path> versions = entries("/usr/local", "cuda-");
  out.insert(out.end(), versions.rbegin(), versions.rend());
  return out;
}

// Folders of a Python that may hold pip's packages. A Python that does not run has none.
Folders site_packages(const fs::path& python) {
  Folders out;
  if (python.empty()) return out;
  const Result<CommandOutput> run =
      run_command({.argv = {python.string(), "-I", "-c", "import sys; print('\\n'.join(sys.path))"}, .in = Pipe::kNull},
                  Seconds(20));
  if (!run.ok() || !run->exit.ok()) return out;
  std::istringstream lines(run->out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("site-packages") != std::string::npos || line.find("dist-packages") != std::string::npos) {
      out.emplace_back(line);
    }
  }
  return out;
}

// Folders in the order of preference.
struct Places {
  Folders libraries;
  Folders includes;
  Folders programs;
  Folders disassemblers;
};

Places places_of(const ToolchainOptions& options) {
  Places at;
  at.includes = options.include_folders;
  if (!options.nvrtc.empty()) at.libraries.push_back(options.nvrtc);
  if (!options.search_system && options.python.empty()) return at;
  add_environment("SOLSTICE_NVRTC", at.libraries);
  for (const fs::path& root : options.search_system ? toolkits() : Folders{}) {
    at.libraries.push_back(root / "lib64");
    at.libraries.push_back(root / "targets/x86_64-linux/lib");
    at.programs.push_back(root / "bin");
    at.includes.push_back(root / "include");
    at.includes.push_back(root / "include/cccl");
  }
  fs::path python = options.python;
  if (python.empty()) {
    const Result<fs::path> found = python_path();
    if (found.ok()) python = *found;
  }
  for (const fs::path& site : site_packages(python)) {
    for (const char* below : {"nvidia/cu13/lib", "nvidia/cu14/lib", "nvidia/cuda_nvrtc/lib"}) {
      at.libraries.push_back(site / below);
    }
    for (const char* below : {"nvidia/cu13/include", "nvidia/cu13/include/cccl", "nvidia/cuda_runtime/include",
                              "nvidia/cuda_cccl/include", "cutlass_library/source/include"}) {
      at.includes.push_back(site / below);
    }
    // Triton brings them along.
    for (const char* below : {"nvidia/cu13/bin", "nvidia/cu14/bin", "triton/backends/nvidia/bin"})
      at.disassemblers.push_back(site / below);
  }
  if (options.search_system) {
    // A bundle brings CUTLASS along (tools/bundle.py).
    if (const auto bundled = data_folder("cutlass"); bundled.ok()) at.includes.push_back(*bundled / "include");
    add_environment("LD_LIBRARY_PATH", at.libraries);
    for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"})
      at.libraries.emplace_back(folder);
    add_environment("PATH", at.programs);
  }
  at.disassemblers.insert(at.disassemblers.begin(), at.programs.begin(), at.programs.end());
  return at;
}

// The first that holds the file `mark`; empty where none does.
fs::path first_with(const Folders& candidates, const char* mark) {
  std::error_code ignored;
  const auto has = [&](const fs::path& folder) { return fs::is_regular_file(folder / mark, ignored); };
  const auto found = std::find_if(candidates.begin(), candidates.end(), has);
  return found == candidates.end() ? fs::path() : *found;
}

// Headers of one CUDA version: CUDA's own from one place, CCCL and CUTLASS each from the first place that has them.
HeaderFolders headers_among(const Folders& candidates) {
  return {.cuda = first_with(candidates, "cuda_fp16.h"),
          .cccl = first_with(candidates, "cuda/std/cstdint"),
          .cutlass = first_with(candidates, "cutlass/cutlass.h")};
}

Folders pick_includes(const Folders& candidates, size_t given) {
  Folders out(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(given));
  const HeaderFolders headers = headers_among(candidates);
  for (const fs::path& found : {headers.cuda, headers.cccl, headers.cutlass}) {
    if (!found.empty() && !std::count(out.begin(), out.end(), found)) out.push_back(found);
  }
  return out;
}

// Hash of a file's content. These files are up to 150 MB, so the hash is kept next to the cache, by path, size and
// time.
Result<std::string> content_hash(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return fail(Code::no_compiler, fmt::format("cannot read {}: {}", file.string(), error.message()));
  const auto time = fs::last_write_time(real, error).time_since_epoch().count();
  const std::string id = Hasher()
                             .add(real.string())
                             .add(static_cast<int64_t>(fs::file_size(real, error)))
                             .add(static_cast<int64_t>(time))
                             .hex();
  const Result<fs::path> cache = cache_folder();
  const fs::path memo = cache.ok() ? *cache / "toolchain" / id : fs::path();
  if (const Result<std::string> known = read_file(memo); !memo.empty() && known.ok() && known->size() == 32)
    return *known;
  SOLSTICE_TRY(const std::string content, read_file(real));
  const std::string hash = hash_hex(content);
  // Only a memo: a cache folder that cannot be written shows when the first cubin is stored.
  if (!memo.empty()) (void)write_file(memo, hash);
  return hash;
}

Result<bool> take_nvrtc(const Folders& folders, Toolchain& out) {
  for (const fs::path& folder : folders) {
    const std::vector<fs::path> libraries = entries(folder, "libnvrtc.so.");
    if (libraries.empty()) continue;
    const std::vector<fs::path> builtins = entries(folder, "libnvrtc-builtins.so.");
    out.backend = Backend::kNvrtc;
    out.nvrtc = libraries.back();
    out.builtins = builtins.empty() ? fs::path() : builtins.back();
    out.version = fmt::format("NVRTC {}", out.nvrtc.string());
    SOLSTICE_TRY(const std::string library, content_hash(out.nvrtc));
    std::string rest;
    if (!builtins.empty()) {
      SOLSTICE_TRY(rest, content_hash(out.builtins));
    }
    out.identity = Hasher().add("nvrtc").add(library).add(rest).hex();
    return true;
  }
  return false;
}

Result<bool> take_nvcc(const Folders& folders, Toolchain& out) {
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    if (!fs::is_regular_file(folder / "nvcc", ignored)) continue;
    out.backend = Backend::kNvcc;
    out.nvcc = fs::canonical(folder / "nvcc", ignored);
    out.version = fmt::format("nvcc {}", out.nvcc.string());
    Hasher hasher;
    hasher.add("nvcc");
    // The driver program, the front end and the assembler; a wrapper script has only itself next to it.
    for (const char* part : {"nvcc", "ptxas", "../nvvm/bin/cicc"}) {
      const fs::path file = out.nvcc.parent_path() / part;
      if (!fs::is_regular_file(file, ignored)) continue;
      SOLSTICE_TRY(const std::string hash, content_hash(file));
      hasher.add(hash);
    }
    out.identity = hasher.hex();
    return true;
  }
  return false;
}

}  // namespace

fs::path find_disassembler() {
  std::error_code ignored;
  const Places at = places_of({});
  for (const char* name : {"nvdisasm", "cuobjdump"}) {
    for (const fs::path& folder : at.disassemblers) {
      if (fs::is_regular_file(folder / name, ignored)) return folder / name;
    }
  }
  return {};
}

HeaderFolders find_headers(const ToolchainOptions& options) { return headers_among(places_of(options).includes); }

Result<Toolchain> find_toolchain(const ToolchainOptions& options) {
  const Places at = places_of(options);
  Toolchain out;
  out.include_folders = pick_includes(at.includes, options.include_folders.size());
  for (const Folders* folders : {&at.libraries, &at.programs}) {
    for (const fs::path& folder : *folders) out.looked_at.push_back(folder.string());
  }
  bool found = false;
  if (options.allow_nvrtc) {
    SOLSTICE_TRY(found, take_nvrtc(at.libraries, out));
  }
  if (!found && options.allow_nvcc) {
    SOLSTICE_TRY(found, take_nvcc(at.programs, out));
  }
  if (found) return out;
  return fail(
      Code::no_compiler, fmt::format("neither libnvrtc nor nvcc was found in {}", fmt::join(out.looked_at, ", ")),
      fmt::format("install a CUDA toolkit, or `pip install {}`, or set SOLSTICE_NVRTC to the folder of libnvrtc.so",
                  is_installed() ? "'solstice[cuda]'" : "nvidia-cuda-nvrtc"));
}

std::vector<std::string> standard_options(const Toolchain& toolchain, std::string_view arch, bool ptx) {
  std::vector<std::string> options = {"--std=c++20"};
  const std::string compute = fmt::format("compute_{}", arch.substr(arch.find('_') + 1));
  if (toolchain.backend == Backend::kNvrtc) {
    options.push_back(fmt::format("--gpu-architecture={}", ptx ? compute : arch));
    options.push_back("--ptxas-options=-v");
  } else {
    // nvcc takes no real architecture with the `a` suffix in its short form.
    options.push_back(fmt::format("-gencode=arch={},code={}", compute, ptx ? compute : arch));
    options.push_back("-Xptxas=-v");
  }
  for (const fs::path& folder : toolchain.include_folders) options.push_back("-I" + folder.string());
  return options;
}

std::vector<std::string> given_options(const Toolchain& toolchain) {
  const bool nvrtc = toolchain.backend == Backend::kNvrtc;
  return {nvrtc ? "--device-as-default-execution-space" : "--expt-relaxed-constexpr", "-DNDEBUG"};
}

}  // namespace solstice::toolchain
