// The CUDA compilers of this machine: NVRTC, else nvcc; and the folders of CUDA's device headers.
//
// NVRTC is looked for in this order, the first that exists wins: the option, $SOLSTICE_NVRTC (a folder), CUDA toolkits
// ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /usr/local/cuda-*), pip's packages in the site-packages of a Python
// (nvidia/cu13/lib, nvidia/cuda_nvrtc/lib), the loader's path. Finding opens nothing: the library is loaded by the
// compile workers alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace solstice::toolchain {

enum class Backend { kNvrtc, kNvcc };

struct ToolchainOptions {
  std::filesystem::path nvrtc;                         // folder with libnvrtc.so.*; empty: search
  std::filesystem::path python;                        // its site-packages are searched; empty: python_path()
  std::vector<std::filesystem::path> include_folders;  // put before those that are found
  bool search_system = true;                           // false: only what the options name
  bool allow_nvrtc = true;
  bool allow_nvcc = true;
};

struct Toolchain {
  Backend backend = Backend::kNvrtc;
  std::filesystem::path nvrtc;                         // the library
  std::filesystem::path builtins;                      // opened before it; empty where the loader finds it
  std::filesystem::path nvcc;                          // the program
  std::vector<std::filesystem::path> include_folders;  // CUDA, CCCL and CUTLASS headers, in order; may be empty
  std::string version;                                 // "NVRTC /usr/local/cuda/lib64/libnvrtc.so.13", for people
  std::string identity;                // hash over the contents of compiler and builtins: part of every cache key
  std::vector<std::string> looked_at;  // folders that were searched, for `doctor`
};

// Error no_compiler: names what was looked at and what to install.
Result<Toolchain> find_toolchain(const ToolchainOptions& options = {});

// Include folders of CUDA's device headers, CCCL and CUTLASS, as a compile has them; empty where there is none.
struct HeaderFolders {
  std::filesystem::path cuda;
  std::filesystem::path cccl;
  std::filesystem::path cutlass;
};
HeaderFolders find_headers(const ToolchainOptions& options = {});

// The options of every compile. Everything that changes what comes out is here or in the request, and so in the key.
// `ptx`: of one that stops at PTX.
std::vector<std::string> standard_options(const Toolchain& toolchain, std::string_view arch, bool ptx = false);

// And those of given code: functions of CUTLASS that say nothing of where they run are the device's; `assert` is
// nothing.
std::vector<std::string> given_options(const Toolchain& toolchain);

// The machine code of a cubin as text, by nvdisasm or cuobjdump: the first that a CUDA toolkit, PATH or a Python has.
// Errors: those of disassembler.h, and of reading the file.
Result<std::string> disassemble(const std::filesystem::path& cubin);

}  // namespace solstice::toolchain
