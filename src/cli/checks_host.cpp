// The parts of a machine without a GPU: data, compilers, Python, sandbox.
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "base/paths.h"
#include "base/process/subprocess.h"
#include "cli/checks.h"
#include "cli/view/table.h"
#include "machine/machine.h"
#include "store/store.h"
#include "toolchain/disassembler.h"
#include "toolchain/toolchain.h"

namespace solstice::cli {
namespace {

namespace fs = std::filesystem;

Finding good(std::string part, std::string found) { return {std::move(part), Health::kGood, std::move(found), "", ""}; }

Finding missing(std::string part, std::string found, std::string costs, std::string remedy) {
  return {std::move(part), Health::kMissing, std::move(found), std::move(costs), std::move(remedy)};
}

Finding check_store() {
  const Result<fs::path> folder = store::Store::default_folder();
  const Result<store::Store> store = folder.ok() ? store::Store::open(*folder) : Result<store::Store>(folder.error());
  if (!store.ok()) {
    return missing("run store", store.error().message, "runs cannot be kept", "set SOLSTICE_HOME to a writable folder");
  }
  struct statvfs disk {};
  std::string space;
  if (::statvfs(folder->c_str(), &disk) == 0) {
    const Bytes left(static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize));
    space = fmt::format(", {} free", show(left));
    if (left.value < 1e9) {
      return {"run store", Health::kLimited, folder->string() + space, "a long run may fill the disk",
              "free some space"};
    }
  }
  return good("run store", folder->string() + space);
}

// Asks the oracle's Python for our package, for the place of PyTorch's bytecode (python/solstice/bytecode.py) and for
// its versions.
constexpr const char* kAskPython =
    "import sys\n"
    "try:\n"
    "  from solstice import bytecode\n"
    "  print(bytecode.keep())\n"
    "  lacks = ''\n"
    "except ImportError as e:\n"
    "  print('')\n"
    "  lacks = ', without the package `solstice` (' + str(e) + ')'\n"
    "v = 'Python ' + sys.version.split()[0] + lacks\n"
    "try:\n"
    "  import torch\n"
    "  print(v + ', PyTorch ' + torch.__version__ + (', CUDA ' + torch.version.cuda if torch.version.cuda else ', CPU "
    "only'))\n"
    "  sys.exit(6 if lacks else 0 if tuple(int(x) for x in torch.__version__.split('.')[:2]) >= (2, 11) else 4)\n"
    "except ImportError as e:\n"
    "  print(v + ', no PyTorch (' + str(e) + ')')\n"
    "  sys.exit(5)\n";

constexpr int kLacksPackage = 6;

constexpr const char* kPipCuda = "pip install 'solstice[cuda]'";

// The way out in a program that pip installed, else in a clone.
std::string from_pip(const char* there, const char* in_clone) { return is_installed() ? there : in_clone; }

Finding check_bytecode(const std::string& where, const std::string& folder) {
  if (where == "installed") return good("bytecode", "installed with PyTorch");
  if (where == "kept") return good("bytecode", fmt::format("none installed with PyTorch; kept in {}", folder));
  return {"bytecode", Health::kLimited,
          folder.empty()
              ? "none installed with PyTorch"
              : fmt::format("none installed with PyTorch, and {} is not a folder that only you can write", folder),
          "every start of Python compiles PyTorch's sources anew, which takes seconds",
          "set SOLSTICE_CACHE to a folder of your own"};
}

Finding check_disassembler() {
  const fs::path found = toolchain::find_disassembler();
  if (!found.empty()) return good("disassembler", found.string());
  return {"disassembler", Health::kLimited, "neither nvdisasm nor cuobjdump", "`compile --keep` leaves no SASS",
          "pip install nvidia-cuda-nvdisasm, or a CUDA toolkit"};
}

}  // namespace

std::vector<Finding> check_data() {
  std::vector<Finding> all;
  const Result<fs::path> root = data_root();
  all.push_back(root.ok() ? good("data", root->string())
                          : missing("data", root.error().message, "nothing works", "set SOLSTICE_ROOT"));
  const auto machines = machine::list_machines();
  all.push_back(machines.ok() ? good("machine files", fmt::format("{}", fmt::join(*machines, ", ")))
                              : missing("machine files", machines.error().message, "no bounds, no predictions", ""));
  all.push_back(check_store());
  return all;
}

std::vector<Finding> check_compilers() {
  const Result<toolchain::Toolchain> found = toolchain::find_toolchain();
  if (!found.ok()) {
    return {missing("CUDA compiler", found.error().message,
                    "nothing can be compiled: equations are still checked, "
                    "interpreted and bounded",
                    from_pip(kPipCuda, "./x setup, or pip install nvidia-cuda-nvrtc") + ", or a CUDA toolkit")};
  }
  std::vector<Finding> all;
  const bool nvrtc = found->backend == toolchain::Backend::kNvrtc;
  Finding compiler = good("CUDA compiler", found->version);
  if (!nvrtc) {
    compiler.health = Health::kLimited;
    compiler.costs = "nvcc takes several times as long as NVRTC for each candidate";
    compiler.remedy = from_pip(kPipCuda, "pip install nvidia-cuda-nvrtc");
  }
  all.push_back(compiler);
  std::vector<std::string> folders;
  for (const fs::path& folder : found->include_folders) folders.push_back(folder.string());
  all.push_back(folders.empty() ? missing("CUDA headers", "none", "`by cuda` kernels that include them do not compile",
                                          from_pip(kPipCuda, "pip install nvidia-cuda-runtime nvidia-cuda-cccl"))
                                : good("CUDA headers", fmt::format("{}", fmt::join(folders, ", "))));
  all.push_back(check_disassembler());
  return all;
}

std::vector<Finding> check_python() {
  const char* costs = "PyTorch files cannot be imported, checked or timed; .ucut programs still work";
  const Result<fs::path> python = python_path();
  if (!python.ok())
    return {missing("Python", python.error().message, costs, "apt-get install python3, then ./x setup")};
  SpawnOptions options;
  options.argv = {python->string(), "-c", kAskPython};
  if (auto environment = python_environment(); environment.ok()) options.environment = std::move(*environment);
  const Result<CommandOutput> asked = run_command(options, Seconds(120));
  if (!asked.ok())
    return {missing("Python", asked.error().message, costs, from_pip("", "./x setup, or ") + "set SOLSTICE_PYTHON")};
  const size_t first = std::min(asked->out.find('\n'), asked->out.size());
  const size_t second = std::min(first + 1, asked->out.size());
  const std::string said =
      fmt::format("{} ({})", asked->out.substr(second, asked->out.find('\n', second) - second), python->string());
  if (asked->exit.code == 0) {
    return {good("Python", said),
            check_bytecode(asked->out.substr(0, first), options.environment["SOLSTICE_BYTECODE"])};
  }
  if (asked->exit.code == kLacksPackage)
    return {missing("Python", said, costs, "install solstice for that Python too")};
  return {missing("Python", said, costs,
                  "PyTorch 2.11 or newer: " + from_pip("install it there", "./x setup") +
                      ", or set SOLSTICE_PYTHON to one that has it")};
}

std::vector<Finding> check_sandbox() {
  SpawnOptions options;
  options.argv = {"/bin/true"};
  options.sandbox.emplace();
  const char* costs = "candidates run with a weaker sandbox; `optimize` says so in its report";
  Result<Subprocess> child = Subprocess::spawn(options);
  if (!child.ok()) {
    return {missing("sandbox", child.error().message, "candidates cannot be run", "a Linux kernel with seccomp")};
  }
  const SandboxReport report = child->sandbox();
  Finding finding = good("sandbox", report.text());
  if (!report.complete()) {
    finding.health = Health::kLimited;
    finding.costs = costs;
    finding.remedy = "Linux 5.13 or newer with Landlock switched on (lsm=landlock,...)";
  }
  return {finding};
}

Json to_json(const Finding& finding) {
  static constexpr const char* kNames[] = {"good", "limited", "missing"};
  return Json::object()
      .set("part", finding.part)
      .set("health", kNames[static_cast<size_t>(finding.health)])
      .set("found", finding.found)
      .set("costs", finding.costs)
      .set("remedy", finding.remedy);
}

}  // namespace solstice::cli
