#include "toolchain/includes.h"

#include <fmt/format.h>

#include <mutex>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"

namespace solstice::toolchain {
namespace {

namespace fs = std::filesystem;

// The end of the raw string that starts at `at` (R"x(...)x"), `at` where none does.
size_t raw_string_end(std::string_view text, size_t at) {
  if (text.substr(at, 2) != "R\"") return at;
  const size_t open = text.find('(', at);
  if (open == std::string_view::npos || open - at > 18) return at;
  const std::string close = fmt::format("){}\"", text.substr(at + 2, open - at - 2));
  const size_t end = text.find(close, open);
  return end == std::string_view::npos ? at : end + close.size();
}

// Joins continued lines (keeping the line count by moving the newlines behind the joined line) and blanks comments.
std::string plain_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  size_t owed = 0;
  enum class In { kCode, kLine, kBlock, kString, kCharacter } in = In::kCode;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text.substr(i + 1, 2) == "\r\n")) {
      i += text[i + 1] == '\n' ? 1 : 2;
      ++owed;
      continue;
    }
    if (const size_t end = in == In::kCode ? raw_string_end(text, i) : i; end > i) {
      for (char each : text.substr(i, end - i)) out += each == '\n' ? '\n' : ' ';
      i = end - 1;
      continue;
    }
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\n') {
      out.append(owed + 1, '\n');
      owed = 0;
      if (in != In::kBlock) in = In::kCode;
    } else if (in == In::kCode && c == '/' && (next == '/' || next == '*')) {
      in = next == '/' ? In::kLine : In::kBlock;
      out += ' ';
      ++i;
    } else if (in == In::kBlock && c == '*' && next == '/') {
      in = In::kCode;
      ++i;
    } else if (in == In::kCode || in == In::kString || in == In::kCharacter) {
      out += c;
      if (in != In::kCode && c == '\\' && next != '\n') {
        out += next;
        ++i;
      } else if (c == '"' && in != In::kCharacter) {
        in = in == In::kCode ? In::kString : In::kCode;
      } else if (c == '\'' && in != In::kString) {
        in = in == In::kCode ? In::kCharacter : In::kCode;
      }
    }
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\v\f");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

bool eat(std::string_view& text, std::string_view word) {
  if (text.rfind(word, 0) != 0) return false;
  text = trimmed(text.substr(word.size()));
  return true;
}

void scan_line(std::string_view line, int number, Includes& out) {
  line = trimmed(line);
  if (!eat(line, "#") && !eat(line, "%:")) return;
  if (!eat(line, "include_next") && !eat(line, "include") && !eat(line, "import") && !eat(line, "embed")) return;
  const char close = line.empty() ? '\0' : (line[0] == '"' ? '"' : line[0] == '<' ? '>' : '\0');
  const size_t end = close ? line.find(close, 1) : std::string_view::npos;
  if (end == std::string_view::npos) {
    if (!out.computed_line) out.computed_line = number;
  } else {
    out.names.push_back({std::string(line.substr(1, end - 1)), number});
  }
}

bool leaves(const std::string& name) {
  const fs::path path(name);
  if (path.is_absolute()) return true;
  for (const fs::path& part : path) {
    if (part == "..") return true;
  }
  return false;
}

// Contents of CUDA's headers: they are many and do not change while the program runs.
struct SystemHeader {
  std::string hash;
  Includes includes;
};

Result<const SystemHeader*> system_header(const fs::path& file) {
  static std::mutex mutex;
  static std::map<std::string, SystemHeader> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(file.string());
  if (found != known.end()) return &found->second;
  SOLSTICE_TRY(const std::string text, read_file(file));
  return &known.emplace(file.string(), SystemHeader{hash_hex(text), scan_includes(text)}).first->second;
}

class Walker {
 public:
  Walker(const fs::path& kernels, const std::vector<fs::path>& folders) : kernels_(kernels), folders_(folders) {}

  // Text of the candidate or of kernels/.
  Status own(const std::string& file, std::string_view text) {
    const Includes includes = scan_includes(text);
    if (includes.computed_line) {
      return refuse(file, includes.computed_line, "an include needs its name in quotes or angle brackets");
    }
    for (const Includes::Name& name : includes.names) {
      if (leaves(name.text)) {
        return refuse(file, name.line,
                      fmt::format("`{}` leaves kernels/ and the CUDA folders; name headers by their "
                                  "path below kernels/",
                                  name.text));
      }
      SOLSTICE_CHECK(own_include(name.text));
    }
    return success();
  }

  IncludeClosure closure;

 private:
  static Error refuse(const std::string& file, int line, std::string message) {
    Error error = fail(Code::bad_argument, std::move(message));
    error.file = file;
    error.line = line;
    return error;
  }

  Status own_include(const std::string& name) {
    if (closure.own.count(name)) return success();
    std::error_code ignored;
    fs::path file = kernels_ / name;
    if (!fs::is_regular_file(file, ignored)) file = kernels_ / "std" / name;
    if (!fs::is_regular_file(file, ignored)) return system(name, {});
    SOLSTICE_TRY(std::string text, read_file(file));
    const std::string& kept = closure.own[name] = std::move(text);
    return own(name, kept);
  }

  Status system(const std::string& name, const fs::path& includer) {
    std::error_code ignored;
    std::vector<fs::path> candidates;
    if (!includer.empty()) candidates.push_back(includer.parent_path() / name);
    for (const fs::path& folder : folders_) candidates.push_back(folder / name);
    for (const fs::path& candidate : candidates) {
      if (fs::is_regular_file(candidate, ignored)) return visit(candidate.lexically_normal());
    }
    closure.missing.insert(name);
    return success();
  }

  Status visit(const fs::path& file) {
    if (closure.system.count(file.string())) return success();
    SOLSTICE_TRY(const SystemHeader* header, system_header(file));
    closure.system.emplace(file.string(), header->hash);
    for (const Includes::Name& name : header->includes.names) SOLSTICE_CHECK(system(name.text, file));
    return success();
  }

  fs::path kernels_;
  const std::vector<fs::path>& folders_;
};

}  // namespace

Includes scan_includes(std::string_view text) {
  Includes out;
  const std::string plain = plain_text(text);
  std::string_view rest = plain;
  for (int line = 1; !rest.empty(); ++line) {
    const size_t end = rest.find('\n');
    scan_line(rest.substr(0, end), line, out);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return out;
}

Result<IncludeClosure> include_closure(std::string_view name, std::string_view source, const fs::path& kernels,
                                       const std::vector<fs::path>& include_folders) {
  Walker walker(kernels, include_folders);
  SOLSTICE_CHECK(walker.own(std::string(name), source));
  return std::move(walker.closure);
}

}  // namespace solstice::toolchain
