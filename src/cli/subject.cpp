#include "cli/subject.h"

#include <filesystem>

#include "cli/values.h"
#include "flow/run/problem/problem.h"
#include "lang/embed.h"

namespace solstice::cli {

Result<ir::BoundText> load_subject(const std::string& argument) {
  if (std::filesystem::path(argument).extension() == ".ucut") {
    SOLSTICE_TRY(const std::string text, lang::read_program(argument));
    return ir::bound_text(text, argument);
  }
  SOLSTICE_TRY(const FileAndClass subject, parse_file_and_class(argument));
  SOLSTICE_TRY(run::OracleClient oracle, run::OracleClient::start({.device = "cpu"}));
  SOLSTICE_TRY(flow::Problem problem,
               flow::load_problem(oracle, subject.file, subject.class_name, flow::graph_cache()));
  return ir::BoundText{std::move(problem.tree), std::move(problem.program)};
}

}  // namespace solstice::cli
