// Folders of the program: its own data, and files that outlive a run.
//
// Data (kernels/, machines/, prompts/) lies in the source tree during development, next to the binary in a bundle, and
// in solstice/_program of site-packages where pip installed it. All are found the same way: the nearest folder above
// the running executable that holds kernels/ and machines/. SOLSTICE_ROOT overrides it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace solstice {

// The running executable, symbolic links resolved. Error process_failed where /proc is not mounted.
Result<std::filesystem::path> executable_path();

// A program that is built with this one ("solstice-runner", "libsolstice_rt.so"): in the executable's folder, or in
// bin/ and lib/ of a folder above it, so that tests find it too. Error not_found, naming where it was looked for.
Result<std::filesystem::path> companion(std::string_view name);

// The folder with kernels/ and machines/; not_found names the way out (SOLSTICE_ROOT).
Result<std::filesystem::path> data_root();
Result<std::filesystem::path> data_folder(std::string_view name);  // below data_root(); not_found where it is missing

// The folder that holds the Python package `solstice`: python/ of data_root(), or where pip installed it. Error
// not_found.
Result<std::filesystem::path> package_folder();

// Whether pip installed this program. The way out of a missing part is another one there.
bool is_installed();

// SOLSTICE_CACHE, else XDG_CACHE_HOME/solstice, else ~/.cache/solstice: may be deleted at any time.
Result<std::filesystem::path> cache_folder();

// SOLSTICE_HOME, else XDG_DATA_HOME/solstice, else ~/.local/share/solstice: the run store.
Result<std::filesystem::path> home_folder();

// The Python that runs the oracle: SOLSTICE_PYTHON, else .venv/bin/python of data_root(), else python3 on PATH.
// The caller finds out if it has PyTorch. Error no_python.
Result<std::filesystem::path> python_path();

// Environment of a Python process of ours. PYTHONPATH: our package first, then what the variable holds already; it
// stays as it is where pip installed the package, whose folder would put all that lies there first. SOLSTICE_BYTECODE:
// where it keeps PyTorch's bytecode if none is installed (python/solstice/bytecode.py), below cache_folder(); absent
// where there is none. Error not_found.
Result<std::map<std::string, std::string>> python_environment();

// An executable on PATH; not_found.
Result<std::filesystem::path> find_program(std::string_view name);

}  // namespace solstice
