// Compiler: CUDA C++ text to a cubin, in parallel, sandboxed, cached.
//
//   SOLSTICE_TRY(auto compiler, toolchain::Compiler::create({.arch = machine.arch}));
//   auto pending = compiler->submit({.name = "up", .code = text});
//   SOLSTICE_TRY(const toolchain::Compiled up, pending.get());
//   if (!up.ok()) ... up.log says why ...
//
// What candidate code does to the compiler is data: a compile that fails, hangs or kills its worker gives a Compiled
// whose outcome says so, and costs nothing else. A Result error means that the machine cannot compile at all
// (no_compiler, sandbox, process_failed, io_error), or that the source may not be compiled (bad_argument: an include
// that leaves kernels/ and the CUDA folders).
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/process/sandbox.h"
#include "base/units.h"
#include "record/fields.h"
#include "toolchain/ptxas.h"
#include "toolchain/toolchain.h"

namespace solstice::toolchain {

struct CompileRequest {
  std::string name;                       // of the unit
  std::string code;                       // headers of kernels/ are included by their path below it
  std::vector<std::string> options = {};  // beyond standard_options()
  std::string file = "";                  // what messages call it; "": NAME.cu
};

enum class Outcome { kOk, kFailed, kTimedOut, kCrashed };
std::vector<const char*> enum_names(Outcome);

// One thing that decides what a compile yields, and its hash: "toolchain", "options" (the architecture among them),
// "source", "file" (where it was given), "header ptx/types.h", "missing cmath" (an include that was not found).
struct KeyPart {
  std::string name;
  std::string hash;
  bool operator==(const KeyPart&) const = default;
  static auto fields() {
    return std::make_tuple(field("name", &KeyPart::name, "what it is"),
                           field("hash", &KeyPart::hash, "of its content"));
  }
};

struct Compiled {
  Outcome outcome = Outcome::kFailed;
  std::string cubin;                     // bytes
  std::string log;                       // of the compiler and of ptxas
  std::vector<KernelResources> kernels;  // one an entry
  std::vector<PtxasNote> notes;          // performance losses and warnings of ptxas
  std::vector<std::string> lasting;      // of given code: variables that keep values between launches (ptx.h)
  Seconds seconds;                       // what compiling took, when it was done
  bool cached = false;                   // this time it was read from the cache
  std::string key;
  std::vector<KeyPart> parts;

  bool ok() const { return outcome == Outcome::kOk; }
};

// Which part of a key differs from the nearest other entry of the cache.
struct Explanation {
  std::string key;
  std::string name;
  std::string nearest;               // key of the entry with most equal parts, "" where the cache holds none
  std::vector<std::string> changed;  // parts with another hash
  std::vector<std::string> added;    // parts that only this key has
  std::vector<std::string> removed;  // parts that only the nearest entry has
  std::string text() const;          // one sentence
};

struct CompilerOptions {
  std::string arch = "sm_90a";
  int workers = 0;                 // 0: one a core
  Seconds deadline = Seconds(60);  // of one compile
  std::filesystem::path kernels;   // empty: kernels/ of data_root()
  std::filesystem::path cache;     // empty: jit/ of cache_folder()
  Bytes cache_cap = Bytes(4e9);
  Bytes worker_memory = Bytes(16e9);     // address space of one worker
  bool require_sandbox = false;          // true: a kernel that lacks a part of it is an error
  std::vector<std::string> worker_argv;  // empty: this executable with --compile-worker
  ToolchainOptions toolchain;
};

class Compiler {
 public:
  static Result<std::unique_ptr<Compiler>> create(CompilerOptions options);
  virtual ~Compiler() = default;

  // Starts at once or when a worker is free. The same request while one is in flight shares its result.
  virtual std::shared_future<Result<Compiled>> submit(CompileRequest request) = 0;
  Result<Compiled> compile(CompileRequest request) { return submit(std::move(request)).get(); }

  virtual const Toolchain& toolchain() const = 0;
  // What the workers' sandbox enforces; starts a worker where none has run yet.
  virtual Result<SandboxReport> sandbox() = 0;
  // Compiles done and cache hits so far.
  virtual int compiles() const = 0;
  virtual int hits() const = 0;
};

// Why a key missed: needs only the cache folder (empty: jit/ of cache_folder()). Error not_found: no such key was
// ever compiled here, or it was evicted.
Result<Explanation> explain(std::string_view key, const std::filesystem::path& cache = {});

}  // namespace solstice::toolchain
