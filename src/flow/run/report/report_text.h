// Pieces of Markdown for reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/report.h"

namespace solstice::flow {

// Cells are escaped; the first row is the header.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);
std::string code(std::string_view text);                       // `text`, "" for ""
std::string interval_text(const Measured& measured);           // "12.1 to 12.5 us", "-" where there is none
std::string clock_text(Hertz clock);                           // "1.41 GHz", "-" where it was not read
std::string bytes_text(Bytes bytes);                           // "1.50 GiB"
std::string shell_text(const std::vector<std::string>& argv);  // quoted for a POSIX shell
// The same, to be given anywhere: it goes to `folder` first, unless that is "".
std::string shell_text(const std::string& folder, const std::vector<std::string>& argv);

}  // namespace solstice::flow
