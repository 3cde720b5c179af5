// solstice doctor: what this machine has, what it lacks, and what that costs.
#include <fmt/format.h>

#include "base/version.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/view/table.h"

namespace solstice::cli {
namespace {

const char* mark(Health health) {
  switch (health) {
    case Health::kGood:
      return "ok     ";
    case Health::kLimited:
      return "limited";
    case Health::kMissing:
      return "MISSING";
  }
  return "";
}

void print(const Finding& f) {
  fmt::print("{}", hanging(fmt::format("{}  {}", mark(f.health), f.part), f.found, 28, 110));
  if (!f.costs.empty()) fmt::print("{}", hanging("", "costs: " + f.costs, 28, 110));
  if (!f.remedy.empty()) fmt::print("{}", hanging("", "remedy: " + f.remedy, 28, 110));
}

Result<int> run_doctor(const Invocation& in) {
  std::vector<Finding> all;
  for (const auto check : {check_data, check_compilers, check_gpu, check_python, check_sandbox}) {
    for (Finding& finding : check()) all.push_back(std::move(finding));
  }
  if (in.json()) {
    Json findings = Json::array();
    for (const Finding& finding : all) findings.push(to_json(finding));
    fmt::print("{}\n", Json::object().set("version", version()).set("findings", findings).dump(2));
    return 0;
  }
  fmt::print("solstice {}\n", version());
  for (const Finding& finding : all) print(finding);
  return 0;
}

}  // namespace

extern const Command solstice_commands_doctor;
const Command solstice_commands_doctor = {
    .name = "doctor",
    .summary = "Report which parts this machine has, which are missing, and the cost of each gap",
    .help =
        "Checks the program's data files, the run store, the CUDA compiler and headers, the driver, GPUs, "
        "hardware counters, Python with PyTorch, and the sandbox. The exit code is always 0.",
    .example = "solstice doctor",
    .parameters = {json_flag()},
    .run = run_doctor,
};

}  // namespace solstice::cli
