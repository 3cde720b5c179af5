// Files: whole reads, atomic writes (temporary, fsync, rename), temporary folders. Errors io_error, disk_full, and
// bad_argument for a folder; of reading also not_found.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace solstice {

Result<std::string> read_file(const std::filesystem::path& path);
Status write_file(const std::filesystem::path& path, std::string_view bytes);  // see file.cpp; readers see old or new
std::string file_meant(const std::filesystem::path& path);  // the way out where there is none: a name nearly so
Status append_line(const std::filesystem::path& path, std::string_view line);
Status make_folder(const std::filesystem::path& path);

// A folder that is removed, with all in it, when this object dies.
class TempFolder {
 public:
  static Result<TempFolder> create(std::string_view prefix);
  TempFolder(TempFolder&& other) noexcept;
  TempFolder& operator=(TempFolder&&) = delete;
  ~TempFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TempFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace solstice
