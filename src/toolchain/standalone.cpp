#include "toolchain/standalone.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace solstice::toolchain {
namespace {

namespace fs = std::filesystem;

// The word of a preprocessor's line: "include" of `#  include "x"`; "" of any other line.
std::string_view directive_of(std::string_view line) {
  const auto skip = [&](const char* what) { line.remove_prefix(std::min(line.find_first_not_of(what), line.size())); };
  skip(" \t");
  if (!line.starts_with('#')) return "";
  line.remove_prefix(1);
  skip(" \t");
  return line.substr(0, line.find_first_of(" \t\"<("));
}

class Inliner {
 public:
  explicit Inliner(const IncludeClosure& closure) : closure_(closure) {}

  // `always`: this text is read whatever is defined.
  void add(std::string_view text, bool always) {
    std::map<int, std::string> names;
    for (const Includes::Name& name : scan_includes(text).names) names[name.line] = name.text;
    int depth = 0, number = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      add_line(text.substr(begin, end - begin), names[++number], always, depth);
      begin = end + 1;
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void add_line(std::string_view line, const std::string& include, bool always, int& depth) {
    const std::string_view word = directive_of(line);
    if (word.starts_with("if")) ++depth;
    if (word == "endif") --depth;
    if (word == "include" && closure_.own.contains(include)) return add_header(include, always && depth == 0);
    if (word == "pragma" && line.find("once") != std::string_view::npos) return;
    out_.append(line).append("\n");
  }

  // A header within a condition may have to stand a second time, behind it; its guard sees to what is read.
  void add_header(const std::string& name, bool always) {
    if (written_.contains(name) || !open_.insert(name).second) return;
    if (always) written_.insert(name);
    std::string guard = "SOLSTICE_HEADER_" + name;
    for (char& c : guard) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    out_ += fmt::format("#ifndef {0}  // {1}\n#define {0}\n", guard, name);
    add(closure_.own.at(name), always);
    out_ += fmt::format("#endif  // {}\n", name);
    open_.erase(name);
  }

  const IncludeClosure& closure_;
  std::set<std::string> written_, open_;
  std::string out_;
};

bool lies_in(const std::string& file, const fs::path& folder) { return file.starts_with(folder.string() + "/"); }

// nvcc has its own CUDA headers, with CCCL beside them.
bool is_toolkits(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "cuda_fp16.h", ignored) || folder.filename() == "cccl";
}

}  // namespace

std::string inlined(std::string_view text, const IncludeClosure& closure) {
  Inliner inliner(closure);
  inliner.add(text, true);
  return inliner.take();
}

std::vector<fs::path> foreign_folders(const IncludeClosure& closure, const std::vector<fs::path>& folders) {
  std::vector<fs::path> out;
  for (const fs::path& folder : folders) {
    const bool used = std::any_of(closure.system.begin(), closure.system.end(),
                                  [&](const auto& header) { return lies_in(header.first, folder); });
    if (used && !is_toolkits(folder)) out.push_back(folder);
  }
  return out;
}

Result<std::string> standalone(const CompileRequest& request, std::string_view arch, const fs::path& kernels,
                               const Toolchain& toolchain) {
  SOLSTICE_TRY(const IncludeClosure closure,
               include_closure(request.name, request.code, kernels, toolchain.include_folders));
  Toolchain nvcc;
  nvcc.backend = Backend::kNvcc;
  nvcc.include_folders = foreign_folders(closure, toolchain.include_folders);
  std::vector<std::string> options = standard_options(nvcc, arch);
  options.insert(options.end(), request.options.begin(), request.options.end());
  if (!request.file.empty()) {
    const std::vector<std::string> more = given_options(nvcc);
    options.insert(options.end(), more.begin(), more.end());
  }
  return fmt::format(
      "// {0} with the headers that it includes.\n//\n//   nvcc -cubin {1} -o {0}.cubin {0}.alone.cu\n{2}",
      request.name, fmt::join(options, " "), inlined(request.code, closure));
}

}  // namespace solstice::toolchain
