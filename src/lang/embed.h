// Programs in files: device code in files next to them is taken in, so that the text is whole by itself.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace solstice::lang {

// The text of a program; behind it, as `source` items, the files that its kernels name (`by cuda("k.cu")`) and that it
// does not hold itself. Places in the text are those of the file. A file is taken by its path below the program's
// folder alone: absolute paths, `..` and links that lead out of it are left to the checks, as is a file that does not
// exist. Errors: io_error; bad_argument for a file that cannot stand in a program (larger than 1 MiB, a zero byte, a
// line `"""`).
Result<std::string> read_program(const std::filesystem::path& file);

}  // namespace solstice::lang
