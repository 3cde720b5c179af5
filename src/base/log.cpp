#include "base/log.h"

#include <cstdio>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/file.h"

namespace solstice {
namespace {

struct LogState {
  std::mutex mutex;
  LogLevel shown = LogLevel::kWarning;
  std::filesystem::path file;
};

LogState& state() {
  static LogState instance;
  return instance;
}

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "error";
}

}  // namespace

void set_log_level(LogLevel shown_on_stderr) {
  const std::lock_guard lock(state().mutex);
  state().shown = shown_on_stderr;
}

Status open_log(const std::filesystem::path& file) {
  SOLSTICE_CHECK(append_line(file, Json::object().set("time", utc_now()).set("message", "log opened").dump()));
  const std::lock_guard lock(state().mutex);
  state().file = file;
  return success();
}

void log(LogLevel level, std::string_view message, const Json& fields) {
  const std::lock_guard lock(state().mutex);
  if (level >= state().shown) {
    std::string line = std::string("solstice: ") + level_name(level) + ": " + std::string(message);
    if (!fields.is_null()) line += " " + fields.dump();
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  if (state().file.empty()) return;
  Json entry = Json::object();
  entry.set("time", utc_now()).set("level", level_name(level)).set("message", message);
  if (!fields.is_null()) entry.set("fields", fields);
  if (Status written = append_line(state().file, entry.dump()); !written.ok()) {
    std::fprintf(stderr, "solstice: warning: log file given up: %s\n", written.error().message.c_str());
    state().file.clear();
  }
}

}  // namespace solstice
