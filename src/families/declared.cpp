#include "families/declared.h"

#include <fmt/format.h>

namespace solstice::families {
namespace {

std::string explanation(const ir::Kernel& kernel) {
  std::string built;
  for (const Family* family : all_families()) {
    if (family->available) built += fmt::format("{}`{}`", built.empty() ? "" : ", ", family->name);
  }
  return fmt::format("kernel `{}`: family `{}` is not built yet; built are {}", kernel.name, kernel.family, built);
}

}  // namespace

Match declared_match(const ir::Program&, const ir::Kernel& kernel) { return {true, explanation(kernel), false}; }

Result<Cost> declared_cost(const Context&, const ir::Kernel& kernel) {
  return fail(Code::not_yet, explanation(kernel));
}

Result<std::vector<Proposed>> declared_propose(const Context&, const ir::Kernel& kernel) {
  return fail(Code::not_yet, explanation(kernel));
}

Result<Emission> declared_generate(const Context&, const ir::Kernel& kernel) {
  return fail(Code::not_yet, explanation(kernel));
}

}  // namespace solstice::families
