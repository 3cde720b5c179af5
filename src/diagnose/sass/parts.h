// Parts of a generated kernel ("producer", "main loop", "epilogue") that its device headers name in their own text:
//
//   // part: epilogue        on a line of its own: what follows, up to the next such line; without a name: no part
//   parts.produce();  // part: producer       at the end of a line: what is called there
//
// Line tables of profile builds have file and line of every call on the way to an instruction, so marks in comments
// are enough: machine code does not know of them. An instruction is of the innermost part that is marked.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace solstice::diagnose::sass {

// By line, from 1; element 0 is "".
std::vector<std::string> parts_of_header(std::string_view text);

class PartMarks {
 public:
  PartMarks() = default;  // of no headers
  // Those of headers FOLDER/NAME/NAME (kernels/), each read when it is first asked for.
  explicit PartMarks(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // `file`: of a line table, which may have any folders before NAME/NAME. "": no part, or no header of ours.
  std::string_view at(std::string_view file, int line);

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::vector<std::string>, std::less<>> headers_;  // by NAME/NAME
};

// Over the headers' text: what is read with their marks depends on it.
std::string hash_of_headers(const std::filesystem::path& folder);

}  // namespace solstice::diagnose::sass
