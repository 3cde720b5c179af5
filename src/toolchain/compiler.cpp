#include "toolchain/compiler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "base/hash.h"
#include "base/log.h"
#include "base/paths.h"
#include "toolchain/cache.h"
#include "toolchain/includes.h"
#include "toolchain/pool.h"

namespace solstice::toolchain {
namespace {

using Future = std::shared_future<Result<Compiled>>;

std::vector<KeyPart> parts_of(const CompileJob& job, const Toolchain& toolchain, const IncludeClosure& closure) {
  std::vector<KeyPart> parts = {{"toolchain", toolchain.identity},
                                {"options", hash_hex(fmt::format("{}", fmt::join(job.options, "\n")))},
                                {"source", hash_hex(job.code)}};
  for (const auto& [name, text] : closure.own) parts.push_back({"header " + name, hash_hex(text)});
  for (const auto& [path, hash] : closure.system) parts.push_back({"header " + path, hash});
  for (const std::string& name : closure.missing) parts.push_back({"missing " + name, ""});
  return parts;
}

class CachedCompiler : public Compiler {
 public:
  CachedCompiler(CompilerOptions options, Toolchain toolchain)
      : options_(std::move(options)),
        toolchain_(std::move(toolchain)),
        cache_(options_.cache, options_.cache_cap),
        pool_(options_.workers, [this] {
          return toolchain_.backend == Backend::kNvrtc ? make_worker_engine(options_, toolchain_)
                                                       : make_nvcc_engine(options_, toolchain_);
        }) {}

  Future submit(CompileRequest request) override;
  const Toolchain& toolchain() const override { return toolchain_; }
  int compiles() const override { return compiles_; }
  int hits() const override { return hits_; }

  Result<SandboxReport> sandbox() override {
    auto promise = std::make_shared<std::promise<Result<SandboxReport>>>();
    pool_.post([promise](Engine& engine) { promise->set_value(engine.start()); });
    return promise->get_future().get();
  }

 private:
  struct Prepared {
    CompileJob job;
    std::string key;
    std::vector<KeyPart> parts;
  };

  Result<Prepared> prepare(CompileRequest request) const;
  Result<Compiled> compile_now(const Prepared& prepared, Engine& engine);
  static Future ready(Result<Compiled> result);

  CompilerOptions options_;
  Toolchain toolchain_;
  CubinCache cache_;
  std::mutex mutex_;
  std::map<std::string, Future> in_flight_;
  std::atomic<int> compiles_ = 0;
  std::atomic<int> hits_ = 0;
  Pool pool_;  // last: its threads use the members above
};

Future CachedCompiler::ready(Result<Compiled> result) {
  std::promise<Result<Compiled>> promise;
  promise.set_value(std::move(result));
  return promise.get_future().share();
}

Result<CachedCompiler::Prepared> CachedCompiler::prepare(CompileRequest request) const {
  if (request.name.empty() || request.name.find_first_of("/\n") != std::string::npos) {
    return fail(Code::bad_argument, fmt::format("`{}` cannot name a compile unit", request.name));
  }
  const std::string file = request.file.empty() ? request.name + ".cu" : request.file;
  SOLSTICE_TRY(const IncludeClosure closure,
               include_closure(file, request.code, options_.kernels, toolchain_.include_folders));
  Prepared out;
  out.job.file = file;
  out.job.nvrtc = toolchain_.nvrtc.string();
  out.job.builtins = toolchain_.builtins.string();
  out.job.name = std::move(request.name);
  out.job.code = std::move(request.code);
  out.job.headers = closure.own;
  out.job.ptx = request.ptx;
  out.job.options = standard_options(toolchain_, options_.arch, request.ptx);
  out.job.options.insert(out.job.options.end(), request.options.begin(), request.options.end());
  const bool given = !request.file.empty();
  if (given) {
    const std::vector<std::string> more = given_options(toolchain_);
    out.job.options.insert(out.job.options.end(), more.begin(), more.end());
  }
  out.parts = parts_of(out.job, toolchain_, closure);
  if (given) out.parts.push_back({"file", hash_hex(request.file)});  // messages hold it
  if (request.ptx) out.parts.push_back({"output", hash_hex("ptx")});
  out.key = key_of(out.parts);
  return out;
}

Result<Compiled> CachedCompiler::compile_now(const Prepared& prepared, Engine& engine) {
  ++compiles_;
  SOLSTICE_TRY(RawOutput raw, engine.run(prepared.job, options_.deadline));
  Compiled out;
  out.outcome = raw.outcome;
  out.cubin = std::move(raw.cubin);
  out.kernels = parse_resources(raw.log);
  out.notes = parse_notes(raw.log);
  out.log = std::move(raw.log);
  out.seconds = raw.seconds;
  out.key = prepared.key;
  out.parts = prepared.parts;
  if (!out.ok()) return out;
  const Status stored = cache_.store(prepared.job.name, out);
  // The cubin is good; a full disk must not lose it.
  if (!stored.ok()) log_warning("a cubin could not be cached", Json::object().set("why", stored.error().text()));
  return out;
}

Future CachedCompiler::submit(CompileRequest request) {
  Result<Prepared> prepared = prepare(std::move(request));
  if (!prepared.ok()) return ready(std::move(prepared).error());
  const std::string key = prepared->key;
  const std::lock_guard lock(mutex_);
  if (const auto found = in_flight_.find(key); found != in_flight_.end()) return found->second;
  if (std::optional<Compiled> hit = cache_.find(key)) {
    ++hits_;
    return ready(*std::move(hit));
  }
  auto promise = std::make_shared<std::promise<Result<Compiled>>>();
  const Future future = promise->get_future().share();
  in_flight_.emplace(key, future);
  pool_.post([this, promise, key, work = std::move(prepared).value()](Engine& engine) {
    Result<Compiled> result = compile_now(work, engine);
    {
      const std::lock_guard forget(mutex_);
      in_flight_.erase(key);
    }
    promise->set_value(std::move(result));
  });
  return future;
}

}  // namespace

Result<std::unique_ptr<Compiler>> Compiler::create(CompilerOptions options) {
  SOLSTICE_TRY(Toolchain toolchain, find_toolchain(options.toolchain));
  if (options.kernels.empty()) {
    SOLSTICE_TRY(options.kernels, data_folder("kernels"));
  }
  if (options.cache.empty()) {
    SOLSTICE_TRY(options.cache, cache_folder());
    options.cache /= "jit";
  }
  if (options.workers <= 0) options.workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::unique_ptr<Compiler>(std::make_unique<CachedCompiler>(std::move(options), std::move(toolchain)));
}

}  // namespace solstice::toolchain
