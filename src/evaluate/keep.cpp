#include "evaluate/keep.h"

#include <fmt/format.h>

#include <future>

#include "base/file.h"
#include "base/paths.h"
#include "base/process/subprocess.h"
#include "toolchain/standalone.h"

namespace solstice::evaluate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRuntime = "libsolstice_rt.so";
constexpr const char* kLauncher = "launch.cu";

class Keeper {
 public:
  Keeper(const Built& built, toolchain::Compiler& compiler, const fs::path& folder)
      : built_(built), compiler_(compiler), folder_(folder) {}

  Result<Kept> keep() {
    std::vector<std::shared_future<Result<toolchain::Compiled>>> texts;
    for (size_t i = 0; i < built_.sources.size(); ++i) {
      toolchain::CompileRequest request = request_of(i);
      request.ptx = true;
      texts.push_back(compiler_.submit(std::move(request)));
    }
    for (size_t i = 0; i < texts.size(); ++i) SOLSTICE_CHECK(keep_module(i, texts[i].get()));
    SOLSTICE_CHECK(keep_launcher());
    return std::move(kept_);
  }

 private:
  toolchain::CompileRequest request_of(size_t module) const {
    const families::Source& source = built_.sources[module];
    return {.name = source.name, .code = source.code, .options = source.options, .file = source.file};
  }

  Status write(const std::string& name, const std::string& text) {
    SOLSTICE_CHECK(write_file(folder_ / name, text));
    kept_.files.push_back(name);
    return success();
  }

  Status keep_module(size_t module, const Result<toolchain::Compiled>& text) {
    const std::string& name = built_.plan.modules[module].name;
    if (!text.ok()) return text.error();
    if (!text->ok()) return fail(Code::compile_failed, fmt::format("no PTX of {}:\n{}", name, text->log));
    SOLSTICE_CHECK(write(name + ".ptx", text->cubin));
    SOLSTICE_TRY(const fs::path kernels, data_folder("kernels"));
    toolchain::CompileRequest alone = request_of(module);
    alone.name = name;
    SOLSTICE_TRY(const std::string code,
                 toolchain::standalone(alone, built_.plan.target, kernels, compiler_.toolchain()));
    SOLSTICE_CHECK(write(name + ".alone.cu", code));
    return keep_sass(name);
  }

  Status keep_sass(const std::string& name) {
    const Result<std::string> sass = toolchain::disassemble(folder_ / (name + ".cubin"));
    if (sass.ok()) return write(name + ".sass", *sass);
    kept_.lacking.push_back({name + ".sass", sass.error().sentence()});
    return success();
  }

  Status keep_launcher() {
    SOLSTICE_TRY(const fs::path kernels, data_folder("kernels"));
    SOLSTICE_TRY(const std::string launcher, read_file(kernels / "profile" / kLauncher));
    SOLSTICE_CHECK(write(kLauncher, launcher));
    SOLSTICE_TRY(const fs::path runtime, companion(kRuntime));
    SOLSTICE_TRY(const std::string library, read_file(runtime));
    SOLSTICE_CHECK(write(kRuntime, library));
    kept_.build = "nvcc -std=c++17 -o launch launch.cu -L. -lsolstice_rt -Xlinker -rpath=.";
    kept_.profile = fmt::format("ncu --set full -f -o {} ./launch", built_.plan.program);
    return success();
  }

  const Built& built_;
  toolchain::Compiler& compiler_;
  const fs::path& folder_;
  Kept kept_;
};

}  // namespace

Result<Kept> keep_build(const Built& built, toolchain::Compiler& compiler, const fs::path& folder) {
  return Keeper(built, compiler, folder).keep();
}

}  // namespace solstice::evaluate
