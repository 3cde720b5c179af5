#include "flow/run/problem/written.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "flow/run/problem/unscheduled.h"
#include "ir/opaque.h"
#include "ir/rewrite/driver.h"
#include "lang/print.h"

namespace solstice::flow {
namespace {

// What a kernel hides from the others may be in the way of their equations: an index by the name of its local.
Error not_one_problem(const Error& error, const std::string& file) {
  std::string first = error.listing.substr(0, error.listing.find('\n'));
  if (const size_t code = first.find("]: "); code != std::string::npos)
    first.erase(0, code + 3);  // no place of the file
  return fail(Code::bad_argument,
              fmt::format("the equations of {}'s kernels do not stand together as one problem: {}", file, first),
              "give every tensor and index a name of its own, or write the equations without kernels");
}

Result<ir::BoundText> equations_of(ir::BoundText given, const std::string& file) {
  if (given.program.is_problem()) return given;
  Result<ir::BoundText> out = ir::bound_text(lang::print(unscheduled(std::move(given.tree))), "its equations");
  if (!out.ok()) return not_one_problem(out.error(), file);
  return out;
}

bool has_calls(const lang::Program& tree) {
  return std::any_of(tree.items.begin(), tree.items.end(),
                     [](const lang::Item& item) { return std::holds_alternative<lang::Call>(item.node); });
}

// Why the program's schedules are not tried as they are; "": they are, or there are none.
std::string why_untried(const ir::BoundText& given) {
  const ir::Program& program = given.program;
  if (program.is_problem()) return "";
  const auto is_loose = [](const ir::Item& item) { return item.equation >= 0; };
  const auto has_set = [](const ir::Kernel& kernel) { return ir::is_space(kernel.knobs); };
  if (std::any_of(program.items.begin(), program.items.end(), is_loose)) return "it has equations outside kernels";
  if (std::any_of(program.kernels.begin(), program.kernels.end(), has_set)) return "it has sets of settings";
  return has_calls(given.tree) ? "it calls definitions, which the problem writes out" : "";
}

Status can_be_searched(const ir::Program& program, const std::string& file) {
  if (program.equations.empty() && program.opaques.empty())
    return fail(Code::bad_argument, fmt::format("{} has no equations: there is nothing to search kernels for", file),
                "`solstice grammar` shows how they are written");
  if (program.not_yet.empty()) return success();
  const ir::NotYet& first = program.not_yet.front();
  Error error = fail(Code::not_yet, fmt::format("not yet: {}", first.what), "write it by other equations");
  error.offset = first.span.begin;
  return error;
}

}  // namespace

bool is_program(const std::filesystem::path& file) { return file.extension() == ".ucut"; }

Result<Written> written_problem(const std::string& text, const std::string& file) {
  SOLSTICE_TRY(ir::BoundText given, ir::bound_text(text, file));
  if (Status able = can_be_searched(given.program, file); !able.ok()) return in_program(able.error(), text, file);
  Written out;
  const bool as_it_is = given.program.is_problem() && !has_calls(given.tree);
  out.untried = why_untried(given);
  if (!given.program.is_problem() && out.untried.empty()) out.schedule = text;
  SOLSTICE_TRY(ir::BoundText equations, equations_of(std::move(given), file));
  SOLSTICE_TRY(equations, ir::rewritable(std::move(equations)));
  out.problem.imported.text = as_it_is ? text : lang::print(equations.tree);
  out.problem.tree = std::move(equations.tree);
  out.problem.program = std::move(equations.program);
  return out;
}

Error in_program(Error error, const std::string& text, const std::string& file) {
  if (const size_t way = error.hint.find(ir::kRunByPyTorch); way != std::string::npos)
    error.hint.replace(way, std::string::npos,
                       "write it by other equations, or optimise a module that holds it: `solstice optimize FILE.py` "
                       "leaves to PyTorch what no family runs");
  if (error.offset < 0) return error;
  const std::string_view before = std::string_view(text).substr(0, static_cast<size_t>(error.offset));
  error.file = file;
  error.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  return error;
}

}  // namespace solstice::flow
