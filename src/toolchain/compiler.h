// Compiler: CUDA C++ text to a cubin, in parallel, sandboxed, cached.
//
//   SOLSTICE_TRY(auto compiler, toolchain::Compiler::create({.arch = machine.arch}));
//   auto pending = compiler->submit({.name = "up", .code = text});
//   SOLSTICE_TRY(const toolchain::Compiled up, pending.get());
//   if (!up.ok()) ... up.log says why ...
//
// Failures that candidate code causes in the compiler are data: a compile that fails, hangs or kills its worker gives a
// Compiled whose outcome says so, and costs nothing else. A Result error means that the machine cannot compile at all
// (no_compiler, sandbox, process_failed, io_error), or that the source may not be compiled (bad_argument: an include
// that leaves kernels/ and the CUDA folders).
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/process/sandbox.h"
#include "toolchain/compiled.h"
#include "toolchain/compiler_options.h"

namespace solstice::toolchain {

struct CompileRequest {
  std::string name;                       // of the unit
  std::string code;                       // headers of kernels/ are included by their path below it
  std::vector<std::string> options = {};  // beyond standard_options()
  std::string file = "";                  // its name in messages; "": NAME.cu
  bool ptx = false;                       // PTX's text, in the place of a cubin
};

// The difference of a key from the nearest other entry of the cache.
struct Explanation {
  std::string key;
  std::string name;
  std::string nearest;               // key of the entry with most equal parts, "" where the cache holds none
  std::vector<std::string> changed;  // parts with another hash
  std::vector<std::string> added;    // parts that only this key has
  std::vector<std::string> removed;  // parts that only the nearest entry has
  std::string text() const;          // one sentence
};

class Compiler {
 public:
  static Result<std::unique_ptr<Compiler>> create(CompilerOptions options);
  virtual ~Compiler() = default;

  // Starts at once or when a worker is free. The same request while one is in flight shares its result.
  virtual std::shared_future<Result<Compiled>> submit(CompileRequest request) = 0;
  Result<Compiled> compile(CompileRequest request) { return submit(std::move(request)).get(); }

  virtual const Toolchain& toolchain() const = 0;
  // The workers' sandbox as enforced; starts a worker where none has run yet.
  virtual Result<SandboxReport> sandbox() = 0;
  // Compiles done and cache hits so far.
  virtual int compiles() const = 0;
  virtual int hits() const = 0;
};

// Explains why a key missed: needs only the cache folder (empty: jit/ of cache_folder()). Error not_found: no such key
// was ever compiled here, or it was evicted.
Result<Explanation> explain(std::string_view key, const std::filesystem::path& cache = {});

}  // namespace solstice::toolchain
