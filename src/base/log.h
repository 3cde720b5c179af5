// The program's log: one line an event, on stderr and, once opened, as JSON lines in a file. Libraries log, they
// never print; what the user asked for is printed by src/cli alone.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace solstice {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

void set_log_level(LogLevel shown_on_stderr);
Status open_log(const std::filesystem::path& file);  // every level goes there
void log(LogLevel level, std::string_view message, const Json& fields = Json());
inline void log_warning(std::string_view message, const Json& fields = Json()) { log(LogLevel::kWarning, message, fields); }

}  // namespace solstice
