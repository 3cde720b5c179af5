// A build as files for a person who reads, changes or profiles its kernels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evaluate/build.h"

namespace solstice::evaluate {

struct Lacking {
  std::string file, why;
};

struct Kept {
  std::vector<std::string> files;
  std::vector<Lacking> lacking;  // what could not be made, and why
  std::string build, profile;    // command lines, to be given in the folder
};

// Beside the files of write_build(), for every module NAME: NAME.ptx, NAME.sass (where nvdisasm or cuobjdump is found)
// and NAME.alone.cu, which nvcc compiles alone; and launch.cu with libsolstice_rt.so, which run the plan on random
// inputs. Errors: no_compiler, not_found, io_error, disk_full.
Result<Kept> keep_build(const Built& built, toolchain::Compiler& compiler, const std::filesystem::path& folder);

}  // namespace solstice::evaluate
