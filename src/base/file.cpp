#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace solstice {
namespace fs = std::filesystem;
namespace {

Error file_error(const fs::path& path, std::string_view doing, int error) {
  const Code code = error == ENOSPC || error == EDQUOT || error == EFBIG ? Code::disk_full
                    : error == ENOENT                                    ? Code::not_found
                                                                         : Code::io_error;
  return fail(code, fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(error)));
}

std::string way_out_of_writing(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free space there, or name a place on another disk";
    case EFBIG:
      return "the limit is `ulimit -f`, or the file system's own";
    case ENOTDIR:
    case EEXIST:
      return "a part of this path is a file: name a folder";
    case ELOOP:
      return "its links lead in a circle";
    default:
      return "name a place that you may write to";
  }
}

Error reading_error(const fs::path& path, std::string_view doing, int error) {
  Error out = file_error(path, doing, error);
  if (error == EACCES) out.hint = "make it readable, or name another file";
  return out;
}

// A file to write need not exist: a folder that cannot be made is no wrong name.
Error writing_error(const fs::path& path, std::string_view doing, int error) {
  Error out = file_error(path, doing, error);
  if (out.code == Code::not_found) out.code = Code::io_error;
  out.hint = way_out_of_writing(error);
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

// Target of a write to a path: the file behind all links, with the permissions it has.
struct Target {
  fs::path path;
  bool in_place = false;       // a device, a pipe, an open file: nothing that can be replaced
  std::optional<mode_t> mode;  // none: it is new
};

// A link below /proc is an open file, not the name of one; /dev/stdout leads there.
bool is_open_file(const fs::path& link) {
  std::error_code ignored;  // a path that cannot be resolved is not in /proc
  const fs::path folder = fs::canonical(link.parent_path().empty() ? "." : link.parent_path(), ignored);
  return folder.begin() != folder.end() && std::next(folder.begin()) != folder.end() &&
         *std::next(folder.begin()) == "proc";
}

Result<Target> target_of(fs::path path) {
  constexpr int kMostLinks = 40;  // as the kernel has it
  for (int links = 0; links < kMostLinks; ++links) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) return Target{path, false, std::nullopt};  // new, or making it will tell
    const mode_t mode = found.st_mode & 0777;
    if (S_ISDIR(found.st_mode))
      return fail(Code::bad_argument, fmt::format("cannot write {}: it is a folder, not a file", path.string()));
    if (!S_ISLNK(found.st_mode)) return Target{path, !S_ISREG(found.st_mode), mode};
    if (is_open_file(path)) return Target{path, true, mode};
    std::error_code error;
    const fs::path next = fs::read_symlink(path, error);
    if (error) return writing_error(path, "follow", error.value());
    path = path.parent_path() / next;
  }
  return writing_error(path, "follow", ELOOP);
}

Status write_in_place(const fs::path& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return writing_error(path, "open", errno);
  const Status written = write_all(fd, path, bytes);
  ::close(fd);
  return written;
}

// Next to `path`, with a name that nothing has.
Result<int> create_beside(const fs::path& path, std::string& name) {
  std::random_device random;
  for (int tries = 0; tries < 100; ++tries) {
    name = fmt::format("{}.{:06x}", path.string(), random() & 0xffffff);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);  // less the umask
    if (fd >= 0) return fd;
    if (errno != EEXIST) break;
  }
  return writing_error(path, "create a temporary file for", errno);
}

}  // namespace

std::string file_meant(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code ignored;  // a folder that cannot be listed holds no near name
  constexpr size_t kMostNames = 1000;
  const fs::path folder = path.parent_path();
  for (fs::directory_iterator at(folder.empty() ? "." : folder, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    if (names.size() < kMostNames) names.push_back(at->path().filename().string());
  }
  const std::string near = closest(path.filename().string(), names);
  return near.empty() ? "give the path of a file that exists"
                      : fmt::format("did you mean {}?", (folder / near).string());
}

Result<std::string> read_file(const fs::path& path) {
  std::error_code ignored;  // opening it will tell
  if (fs::is_directory(path, ignored))
    return fail(Code::bad_argument, fmt::format("cannot read {}: it is a folder, not a file", path.string()));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in && errno == ENOENT) return fail(Code::not_found, fmt::format("no file {}", path.string()), file_meant(path));
  if (!in) return reading_error(path, "open", errno);
  std::ostringstream out;
  out << in.rdbuf();
  if (in.bad()) return reading_error(path, "read", errno);
  return out.str();
}

Status make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return writing_error(path, "make the folder", error.value());
  return success();
}

// A device, a pipe or an open file is written as it is; a file keeps its links and permissions, a new one gets the
// umask's.
Status write_file(const fs::path& path, std::string_view bytes) {
  SOLSTICE_TRY(const Target target, target_of(path));
  if (target.in_place) return write_in_place(path, bytes);
  if (target.path.has_parent_path()) SOLSTICE_CHECK(make_folder(target.path.parent_path()));
  std::string temporary;
  SOLSTICE_TRY(const int fd, create_beside(target.path, temporary));
  Status written = success();
  if (target.mode && ::fchmod(fd, *target.mode) != 0) written = writing_error(path, "keep the permissions of", errno);
  if (written.ok()) written = write_all(fd, path, bytes);
  if (written.ok() && ::fsync(fd) != 0) written = writing_error(path, "flush", errno);
  ::close(fd);
  if (written.ok() && ::rename(temporary.c_str(), target.path.c_str()) != 0)
    written = writing_error(path, "replace", errno);
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
