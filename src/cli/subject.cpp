#include "cli/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "cli/named_module.h"
#include "flow/run/problem/problem.h"
#include "lang/embed.h"

namespace solstice::cli {

Error in_its_file(Error error, const std::string& argument) {
  if (error.offset < 0 || std::filesystem::path(argument).extension() != ".ucut") return error;
  const Result<std::string> text = read_file(argument);
  if (!text.ok()) return error;
  const std::string_view before = std::string_view(*text).substr(0, static_cast<size_t>(error.offset));
  error.file = argument;
  error.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  return error;
}

Result<ir::BoundText> load_subject(const std::string& argument, const Invocation& in) {
  if (std::filesystem::path(argument).extension() == ".ucut") {
    SOLSTICE_TRY(const std::string text, lang::read_program(argument));
    return ir::bound_text(text, argument);
  }
  SOLSTICE_TRY(const flow::ModuleOptions module, named_module(argument, in));
  SOLSTICE_TRY(run::OracleClient oracle, run::OracleClient::start({.device = "cpu"}));
  SOLSTICE_TRY(flow::Problem problem,
               flow::load_problem(oracle, module.file, module.class_name, module.mode, flow::graph_cache()));
  if (!problem.subject.mode_note.empty()) fmt::print(stderr, "note: {}\n", problem.subject.mode_note);
  return ir::BoundText{std::move(problem.tree), std::move(problem.program)};
}

}  // namespace solstice::cli
