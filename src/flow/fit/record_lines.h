// Files of records, one JSON object a line; empty lines are passed over.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "record/fields.h"

namespace solstice::flow {

// Errors: those of the file; of a line that is no such record, with its number.
template <typename Record>
Result<std::vector<Record>> read_record_lines(const std::filesystem::path& file) {
  SOLSTICE_TRY(const std::string text, read_file(file));
  std::vector<Record> out;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    const Result<Json> json = parse_json(line);
    Result<Record> one = json.ok() ? from_json<Record>(*json) : Result<Record>(json.error());
    if (!one.ok()) return fail(one.error().code, fmt::format("{}:{}: {}", file.string(), number, one.error().message));
    out.push_back(std::move(one).value());
  }
  return out;
}

}  // namespace solstice::flow
