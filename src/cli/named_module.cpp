#include "cli/named_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/file.h"
#include "base/paths.h"
#include "base/process/subprocess.h"
#include "flow/run/problem/written.h"

namespace solstice::cli {
namespace fs = std::filesystem;
namespace {

constexpr Seconds kLocating{30};  // a loaded machine starts Python in a second

struct FileAndName {
  std::string file, name;
};

bool is_file(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at is none
  return fs::is_regular_file(path, ignored);
}

FileAndName cut(const std::string& text) {
  std::error_code ignored;
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || fs::exists(text, ignored)) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// "package.module", and no path.
bool is_module_name(const std::string& text) {
  return !text.empty() && !text.ends_with(".py") && !text.starts_with('.') && !text.ends_with('.') &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c >= 0x80; });
}

// The file of a module of Python's; "" where there is none.
Result<std::string> locate(const std::string& module) {
  SOLSTICE_TRY(const fs::path python, python_path());
  SpawnOptions options;
  options.argv = {python.string(), "-m", "solstice.locate", module};
  SOLSTICE_TRY(options.environment, python_environment());
  SOLSTICE_TRY(const CommandOutput done, run_command(options, kLocating));
  return done.out.substr(0, done.out.find('\n'));
}

// "package:NAME" for "package.NAME" where the package is there, else "".
Result<std::string> with_colon(const std::string& named) {
  const size_t dot = named.rfind('.');
  if (dot == std::string::npos || dot == 0) return std::string();
  SOLSTICE_TRY(const std::string package, locate(named.substr(0, dot)));
  return package.empty() ? std::string() : named.substr(0, dot) + ":" + named.substr(dot + 1);
}

Error named_with_a_dot(const std::string& named, const std::string& meant) {
  return fail(Code::not_found, fmt::format("no file {}, and Python finds no module of this name", named),
              fmt::format("a name in a module stands behind a colon: {}", meant));
}

Error no_file(const std::string& file) {
  if (is_file(file + ".py"))
    return fail(Code::not_found, fmt::format("no file {}", file), fmt::format("did you mean {}.py?", file));
  const bool is_module = is_module_name(file) && file.find('/') == std::string::npos;
  return fail(Code::not_found,
              fmt::format("no file {}{}", file, is_module ? ", and Python finds no module of this name from here" : ""),
              is_module ? "give the path of a file FILE.py, or install the package where SOLSTICE_PYTHON points"
                        : file_meant(file));
}

// The last part of a package's path is missing; the user names something in it.
Error no_such_part(const std::string& named) {
  const size_t dot = named.rfind('.');
  return fail(
      Code::not_found,
      fmt::format("Python finds no module of this name: `{}`, though `{}` is there", named, named.substr(0, dot)),
      fmt::format("correct `{}`, or give the path of a file: FILE.py:NAME", named.substr(dot + 1)));
}

// `holds`: a name in the module follows.
Result<std::string> file_of(const std::string& named, bool holds) {
  std::error_code ignored;
  if (is_file(named)) return named;
  if (fs::is_directory(named, ignored))
    return fail(Code::bad_argument, fmt::format("{} is a folder, not a file", named),
                "name one of its files: FILE.py, or FILE.py:NAME");
  if (!is_module_name(named)) return no_file(named);
  SOLSTICE_TRY(std::string found, locate(named));
  if (found.empty()) {
    SOLSTICE_TRY(const std::string meant, with_colon(named));
    if (meant.empty()) return no_file(named);
    return holds ? no_such_part(named) : named_with_a_dot(named, meant);
  }
  return found;
}

}  // namespace

Parameter eval_flag() {
  return {"--eval", "", "put the module into evaluation mode, as for inference", "", {}, false, false};
}

Parameter train_flag() {
  return {"--train", "", "put it into training mode [default: the mode in which it is made]", "", {}, false, false};
}

Result<std::string> mode_of(const Invocation& in) {
  if (in.flag("--eval") && in.flag("--train")) return fail(Code::bad_argument, "give --eval or --train, not both");
  return std::string(in.flag("--eval") ? "eval" : in.flag("--train") ? "train" : "");
}

Result<flow::ModuleOptions> named_module(const std::string& text, const Invocation& in) {
  flow::ModuleOptions out;
  SOLSTICE_TRY(out.mode, mode_of(in));
  const FileAndName parts = cut(text);
  SOLSTICE_TRY(const std::string file, file_of(parts.file, !parts.name.empty()));
  if (flow::is_program(file))
    return fail(Code::bad_argument, fmt::format("{} is a program, not a module of PyTorch's", file),
                fmt::format("`solstice optimize {0}` searches kernels for its equations, `solstice run {0} --of "
                            "FILE.py` tries it as a candidate for its module",
                            file));
  out.file = file;
  out.class_name = parts.name;
  return out;
}

Result<flow::ModuleOptions> named_problem(const std::string& text, const Invocation& in) {
  if (!flow::is_program(text) && in.has("--of"))
    return fail(Code::bad_argument, fmt::format("--of names the module that a program computes, and {} is none", text),
                "leave --of out, or name a program: `PROGRAM.ucut --of FILE.py`");
  if (!flow::is_program(text)) return named_module(text, in);
  flow::ModuleOptions out;
  if (in.has("--of")) {
    SOLSTICE_TRY(out, named_module(in.get("--of"), in));
    out.of = std::move(out.file);
  }
  out.file = text;
  return out;
}

void tell_mode(const OracleSubject& subject) {
  if (!subject.mode_note.empty()) fmt::print(stderr, "note: {}\n", subject.mode_note);
}

}  // namespace solstice::cli
