#include "evaluate/findings/profile_build.h"

#include <fmt/format.h>

#include "toolchain/cubin.h"

namespace solstice::evaluate {

Result<std::string> profile_cubin(const Built& built, size_t module, toolchain::Compiler& compiler) {
  const families::Source& source = built.sources[module];
  toolchain::CompileRequest request{source.name, source.code, source.options, source.file};
  request.options.emplace_back("-lineinfo");
  SOLSTICE_TRY(toolchain::Compiled compiled, compiler.compile(std::move(request)));
  if (!compiled.ok()) {
    return fail(Code::candidate_failed,
                fmt::format("`{}` does not compile with line tables: {}", source.name, compiled.log));
  }
  SOLSTICE_TRY(const bool same, toolchain::has_same_code(built.compiled[module].cubin, compiled.cubin));
  if (same) return std::move(compiled.cubin);
  return fail(Code::candidate_failed,
              fmt::format("`{}` has other machine code with line tables than without", source.name));
}

}  // namespace solstice::evaluate
