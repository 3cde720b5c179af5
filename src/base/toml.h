// TOML files as a flat list of values, so that the parser's heavy header stays in one .cpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace solstice {

struct TomlEntry {
  std::string path;  // "pipes.tensor.f16.clock"
  Json value;        // a string, an integer, a real or a boolean; null for any other type
  int line = 0;
};

// All leaves in the order of the file. What is no TOML is an error of the given code with file and line.
Result<std::vector<TomlEntry>> parse_toml(std::string_view text, const std::filesystem::path& file, Code code);

}  // namespace solstice
