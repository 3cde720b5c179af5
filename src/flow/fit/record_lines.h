// Files of records, one JSON object a line; empty lines are passed over.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "record/fields.h"

namespace solstice::flow {

// Errors: those of the file; of a line that is no such record, with its number, and `way_out` as their hint.
template <typename Record>
Result<std::vector<Record>> read_record_lines(const std::filesystem::path& file, std::string_view way_out) {
  SOLSTICE_TRY(const std::string text, read_file(file));
  std::vector<Record> out;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    SOLSTICE_TRY(Record one, from_json_file<Record>(line, file, way_out, number));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace solstice::flow
