#include "diagnose/sass/parts.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/hash.h"

namespace solstice::diagnose::sass {
namespace {

constexpr std::string_view kMark = "// part:";

std::string name_after(std::string_view line, size_t mark) {
  std::string_view name = line.substr(mark + kMark.size());
  const size_t begin = std::min(name.find_first_not_of(" \t\r"), name.size());
  name.remove_prefix(begin);
  return std::string(name.substr(0, name.find_last_not_of(" \t\r") + 1));
}

// "epilogue/staged.h" of "/tmp/x/epilogue/staged.h"; "" where the path cannot be one of a header of ours. The path
// comes from an untrusted cubin.
std::string_view last_two(std::string_view file) {
  const size_t last = file.rfind('/');
  if (last == std::string_view::npos || last == 0) return {};
  const size_t before = file.rfind('/', last - 1);
  const std::string_view name = before == std::string_view::npos ? file : file.substr(before + 1);
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyz0123456789_/.";
  const bool plain = name.find_first_not_of(kPlain) == std::string_view::npos && name.find("..") == name.npos;
  return plain && name.ends_with(".h") ? name : std::string_view();
}

}  // namespace

std::vector<std::string> parts_of_header(std::string_view text) {
  std::vector<std::string> out = {""};
  std::string part;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const size_t mark = line.find(kMark);
    const bool whole = mark != std::string_view::npos && line.find_first_not_of(" \t") == mark;
    if (whole) part = name_after(line, mark);
    out.push_back(mark == std::string_view::npos || whole ? part : name_after(line, mark));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return out;
}

std::string_view PartMarks::at(std::string_view file, int line) {
  const std::string_view name = folder_.empty() ? std::string_view() : last_two(file);
  if (name.empty() || line < 1) return {};
  auto found = headers_.find(name);
  if (found == headers_.end()) {
    const Result<std::string> text = read_file(folder_ / name);  // a header of someone else names no part
    found = headers_.emplace(std::string(name), text.ok() ? parts_of_header(*text) : std::vector<std::string>()).first;
  }
  const std::vector<std::string>& parts = found->second;
  return static_cast<size_t>(line) < parts.size() ? std::string_view(parts[static_cast<size_t>(line)]) : "";
}

std::string hash_of_headers(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error) && it->path().extension() == ".h") files.insert(it->path());
  }
  Hasher hasher;
  for (const std::filesystem::path& file : files) {
    if (const Result<std::string> text = read_file(file); text.ok()) hasher.add(file.filename().string()).add(*text);
  }
  return hasher.hex();
}

}  // namespace solstice::diagnose::sass
