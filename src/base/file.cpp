#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace solstice {
namespace fs = std::filesystem;
namespace {

Error file_error(const fs::path& path, std::string_view doing, int error) {
  const Code code = error == ENOSPC || error == EDQUOT || error == EFBIG ? Code::disk_full
                    : error == ENOENT                                    ? Code::not_found
                                                                         : Code::io_error;
  return fail(code, fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(error)));
}

// What is to be written need not be there: a folder that cannot be made is no wrong name.
Error writing_error(const fs::path& path, std::string_view doing, int error) {
  Error out = file_error(path, doing, error);
  if (out.code == Code::not_found) out.code = Code::io_error;
  return out;
}

Status write_all(int fd, const fs::path& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return writing_error(path, "write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return success();
}

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  std::error_code ignored;  // opening it will tell
  if (fs::is_directory(path, ignored))
    return fail(Code::bad_argument, fmt::format("cannot read {}: it is a folder, not a file", path.string()));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return file_error(path, "open", errno);
  std::ostringstream out;
  out << in.rdbuf();
  if (in.bad()) return file_error(path, "read", errno);
  return out.str();
}

Status make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return writing_error(path, "make the folder", error.value());
  return success();
}

Status write_file(const fs::path& path, std::string_view bytes) {
  if (path.has_parent_path()) SOLSTICE_CHECK(make_folder(path.parent_path()));
  std::string temporary = path.string() + ".XXXXXX";
  const int fd = ::mkstemp(temporary.data());
  if (fd < 0) return writing_error(path, "create a temporary file for", errno);
  Status written = write_all(fd, path, bytes);
  if (written.ok() && ::fsync(fd) != 0) written = writing_error(path, "flush", errno);
  ::fchmod(fd, 0644);
  ::close(fd);
  if (written.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) written = writing_error(path, "replace", errno);
  if (!written.ok()) ::unlink(temporary.c_str());
  return written;
}

Status append_line(const fs::path& path, std::string_view line) {
  if (path.has_parent_path()) SOLSTICE_CHECK(make_folder(path.parent_path()));
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return writing_error(path, "open", errno);
  Status written = write_all(fd, path, std::string(line) + "\n");
  ::close(fd);
  return written;
}

Result<TempFolder> TempFolder::create(std::string_view prefix) {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error) return writing_error("the temporary folder", "find", error.value());
  std::string name = (base / (std::string(prefix) + "XXXXXX")).string();
  if (!::mkdtemp(name.data())) return writing_error(name, "make the folder", errno);
  return TempFolder(fs::path(name));
}

TempFolder::TempFolder(TempFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }

TempFolder::~TempFolder() {
  std::error_code ignored;  // a folder that is already gone is what we wanted
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace solstice
