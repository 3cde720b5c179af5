#include "toolchain/disassembler.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <mutex>

#include "base/file.h"
#include "base/process/subprocess.h"
#include "toolchain/toolchain.h"

namespace solstice::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInstallHint = "install a CUDA toolkit, or `pip install nvidia-cuda-nvdisasm`";
constexpr Seconds kVersionTime{20};
constexpr size_t kMostComplaint = 500;

SandboxPolicy disassembler_sandbox(const fs::path& program, const fs::path& scratch, const DisassembleLimits& limits) {
  SandboxPolicy policy;
  policy.readable = {"/lib", "/lib64", "/usr", "/bin", "/etc/ld.so.cache", "/proc/self", program.parent_path(),
                     scratch};
  policy.writable = {scratch};
  policy.devices = {"/dev/null", "/dev/zero", "/dev/urandom"};
  policy.limits.address_space = static_cast<uint64_t>(limits.memory.value);
  policy.limits.file_size = static_cast<uint64_t>(limits.output.value);
  policy.limits.cpu_seconds = static_cast<uint64_t>(std::ceil(limits.time.value)) + 1;
  policy.limits.core_size = 0;
  policy.allow_processes = program.filename() == "cuobjdump";  // which starts nvdisasm
  return policy;
}

// A complaint of the program at the length of a message.
std::string shortened(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() > kMostComplaint) text = text.substr(0, kMostComplaint) + " ..";
  return text;
}

Result<std::string> run_disassembler(const fs::path& program, std::vector<std::string> arguments,
                                     const fs::path& scratch, const DisassembleLimits& limits) {
  SpawnOptions spawn;
  spawn.argv = {program.string()};
  spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
  spawn.folder = scratch;
  spawn.in = Pipe::kNull;
  spawn.clear_environment = true;
  spawn.environment = {{"PATH", program.parent_path().string() + ":/usr/local/bin:/usr/bin:/bin"},
                       {"LC_ALL", "C"},
                       {"TMPDIR", scratch.string()}};
  spawn.sandbox = disassembler_sandbox(program, scratch, limits);
  Result<CommandOutput> done = run_command(spawn, limits.time, {}, static_cast<size_t>(limits.output.value));
  if (!done.ok() && done.error().code == Code::deadline) {
    return fail(Code::deadline,
                fmt::format("{} took longer than {:g} s and was ended", program.string(), limits.time.value));
  }
  if (!done.ok()) return std::move(done).error();
  if (done->exit.ok()) return std::move(done->out);
  return fail(Code::process_failed,
              fmt::format("{} {}: {}", program.string(), done->exit.text(), shortened(done->err)));
}

// "release 13.2, V13.2.51" in what `--version` prints.
Result<Disassembler> read_version(const fs::path& program, std::string_view text) {
  const size_t at = text.find(", V");
  const std::string_view rest = at == std::string_view::npos ? std::string_view() : text.substr(at + 3);
  Disassembler out{program, std::string(rest.substr(0, rest.find_first_not_of("0123456789."))), 0};
  const char* const end = out.version.data() + out.version.size();
  if (std::from_chars(out.version.data(), end, out.major).ec == std::errc()) return out;
  return fail(Code::process_failed,
              fmt::format("{} --version names no version: {}", program.string(), shortened(std::string(text))),
              kInstallHint);
}

Result<Disassembler> ask(const fs::path& program) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  if (error) return fail(Code::not_found, fmt::format("there is no disassembler {}", program.string()), kInstallHint);
  SOLSTICE_TRY(const TempFolder scratch, TempFolder::create("solstice-sass-"));
  SOLSTICE_TRY(const std::string text, run_disassembler(real, {"--version"}, scratch.path(), {.time = kVersionTime}));
  return read_version(real, text);
}

}  // namespace

Result<Disassembler> disassembler(const fs::path& program) {
  static std::mutex mutex;
  static std::map<fs::path, Disassembler> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(program); found != known.end()) return found->second;
  const fs::path at = program.empty() ? find_disassembler() : program;
  if (at.empty()) return fail(Code::not_found, "neither nvdisasm nor cuobjdump was found", kInstallHint);
  SOLSTICE_TRY(Disassembler out, ask(at));
  return known.emplace(program, std::move(out)).first->second;
}

Result<std::string> disassemble(const Disassembler& by, std::string_view cubin, const std::vector<std::string>& options,
                                const DisassembleLimits& limits) {
  SOLSTICE_TRY(const TempFolder scratch, TempFolder::create("solstice-sass-"));
  const fs::path file = scratch.path() / "kernel.cubin";
  SOLSTICE_CHECK(write_file(file, cubin));
  std::vector<std::string> arguments = options;
  arguments.push_back(file.string());
  return run_disassembler(by.program, std::move(arguments), scratch.path(), limits);
}

Result<std::string> disassemble(const fs::path& cubin) {
  SOLSTICE_TRY(const Disassembler by, disassembler());
  SOLSTICE_TRY(const std::string bytes, read_file(cubin));
  return disassemble(by, bytes, {by.is_cuobjdump() ? "--dump-sass" : "--print-code"}, {.time = Seconds(120)});
}

}  // namespace solstice::toolchain
