// Where a member of a record stands in its file.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace solstice {

struct TextPlace {
  int line = 0;  // 0: it is not there
  int column = 0;
  int width = 0;  // bytes on that line
};

// Of the value at `path` (".kernels[3].name"; "": all of it) in a text that parse_json() takes.
TextPlace place_in_json(std::string_view text, std::string_view path);

// An error of the record in this file of the user's: with the place of the member that it names, or of the record where
// that is missing, and `way_out` as its hint where it has none. `first_line`: of the text in the file.
Error in_json_file(Error error, std::string_view text, const std::filesystem::path& file, std::string_view way_out,
                   int first_line = 1);

}  // namespace solstice
