// solstice jit explain: why a kernel had to be compiled again.
#include <fmt/format.h>

#include "cli/command.h"
#include "toolchain/compiler.h"

namespace solstice::cli {
namespace {

Result<int> run_jit_explain(const Invocation& in) {
  SOLSTICE_TRY(const toolchain::Explanation why, toolchain::explain(in.get("KEY"), in.get("--cache")));
  if (!in.json()) {
    fmt::print("{}\n", why.text());
    return 0;
  }
  Json body = Json::object().set("key", why.key).set("name", why.name);
  body.set("nearest", why.nearest).set("changed", text_list(why.changed)).set("added", text_list(why.added));
  fmt::print("{}\n", body.set("removed", text_list(why.removed)).dump(2));
  return 0;
}

}  // namespace

extern const Command solstice_commands_jit_explain;
const Command solstice_commands_jit_explain = {
    .name = "jit explain",
    .summary = "Explain why a kernel was compiled instead of read from the cache",
    .help =
        "Compares the cache key with that of the most similar entry: toolchain, options, source, and the content "
        "of every header.",
    .example = "solstice jit explain 4f0c2b9d1e5a78634f0c2b9d1e5a7863",
    .parameters =
        {{"KEY", "", "cache key of a compilation, as `solstice compile` and trials print it", "", {}, true, false},
         {"--cache", "DIR", "compilation cache [default: yours]", "", {}, false, false},
         json_flag()},
    .run = run_jit_explain,
};

}  // namespace solstice::cli
