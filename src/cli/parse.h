// Command lines: from argv to a command and its values, or a bad_argument error that names the legal ones.
#pragma once

#include "cli/command.h"

namespace solstice::cli {

// The command that `words` begin with, the longest name first ("bench kernelbench"); bad_argument with the closest one.
Result<const Command*> find_command(const std::vector<std::string>& words);

// The commands whose names begin with the word `group` and have a second one ("bench"); none where it is no group.
std::vector<const Command*> commands_of(std::string_view group);

// `arguments` are the words after the command's name.
Result<Invocation> parse(const Command& command, const std::vector<std::string>& arguments);

std::string group_text(std::string_view group);  // `solstice GROUP --help`
std::string overview();                          // `solstice --help`
std::string help_text(const Command& command);   // `solstice COMMAND --help`

}  // namespace solstice::cli
