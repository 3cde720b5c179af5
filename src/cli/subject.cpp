#include "cli/subject.h"

#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "cli/named_module.h"
#include "flow/run/problem/written.h"
#include "lang/embed.h"

namespace solstice::cli {

Error in_its_file(Error error, const std::string& argument) {
  if (!flow::is_program(argument)) return error;
  const Result<std::string> text = read_file(argument);
  return text.ok() ? flow::in_program(std::move(error), *text, argument) : error;
}

Result<ir::BoundText> load_subject(const std::string& argument, const Invocation& in) {
  if (flow::is_program(argument)) {
    SOLSTICE_TRY(const std::string text, lang::read_program(argument));
    return ir::bound_text(text, argument);
  }
  SOLSTICE_TRY(const flow::ModuleOptions module, named_module(argument, in));
  SOLSTICE_TRY(run::OracleClient oracle, run::OracleClient::start({.device = "cpu"}));
  SOLSTICE_TRY(flow::Problem problem,
               flow::load_problem(oracle, module.file, module.class_name, module.mode, flow::graph_cache(), tell_mode));
  return ir::BoundText{std::move(problem.tree), std::move(problem.program)};
}

}  // namespace solstice::cli
