#include "diagnose/counters/ncu_failure.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::diagnose {
namespace {

constexpr std::string_view kErrorMark = "==ERROR== ";
constexpr size_t kLongestWords = 200;

// ncu's words, the mark by which they are known; what they mean, and the way out.
struct KnownFailure {
  std::string_view mark;
  std::string_view why;
  std::string_view opens;
  bool of_all = true;  // else of a launch that needs more memory than others
};

// The first that is found counts: a later one is often the consequence.
constexpr KnownFailure kKnownFailures[] = {
    {"ERR_NVGPUCTRPERM", "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)",
     "an administrator loads the driver with NVreg_RestrictProfilingToAdminUsers=0, or gives the container SYS_ADMIN: "
     "https://developer.nvidia.com/ERR_NVGPUCTRPERM"},
    {"driver resource was unavailable", "another tool holds the GPU's counters",
     "end what profiles this GPU, or `dcgmi profiling --pause`"},
    {"lock file", "ncu could not open its lock file", "make TMPDIR a folder that this user may write"},
    {"InterprocessLockFailed", "ncu could not take its lock file", "make TMPDIR a folder that this user may write"},
    {"nsufficient free memory", "the GPU has too little free memory for ncu to save what the launch writes",
     "free memory on the GPU", false},
    {"to save context state", "there is too little memory to save what the launch writes", "free memory on the GPU",
     false},
    {"nsufficient driver version", "the driver is older than this ncu needs",
     "a newer driver, or an older Nsight Compute"},
    {"onfidential computing", "counters cannot be read in confidential computing mode", "switch it off for this GPU"},
    {"rotected memory mode", "counters cannot be read in protected memory mode", "switch it off for this GPU"},
    {"rofiling is not supported", "this ncu cannot profile this GPU", "another version of Nsight Compute"},
    {"failed to connect to the CUDA driver", "ncu found no CUDA driver", "install NVIDIA's driver"},
    {"unrecognised option", "this ncu does not know an option that is needed", "Nsight Compute 2024.1 or newer"},
    {"unrecognized option", "this ncu does not know an option that is needed", "Nsight Compute 2024.1 or newer"},
};

// The first error of the log, as ncu says it.
std::string first_error(std::string_view log) {
  const size_t at = log.find(kErrorMark);
  if (at == std::string_view::npos) return "";
  const size_t begin = at + kErrorMark.size();
  return std::string(log.substr(begin, log.find('\n', begin) - begin)).substr(0, kLongestWords);
}

// What is known of it, with ncu's own words.
std::optional<NcuFailure> known_failure(std::string_view said) {
  for (const KnownFailure& known : kKnownFailures) {
    if (said.find(known.mark) == std::string_view::npos) continue;
    const std::string words = first_error(said);
    return NcuFailure{std::string(known.why) + (words.empty() ? "" : ": " + words), std::string(known.opens),
                      known.of_all};
  }
  return std::nullopt;
}

constexpr const char* kLongerLimit = "a longer limit, or fewer counters";

NcuFailure of_error(const Error& error) {
  const std::string words = error.text().substr(0, kLongestWords);
  switch (error.code) {
    case Code::deadline:
      return {"ncu did not end in time and was ended with all that it had started: " + words, kLongerLimit, false};
    case Code::process_failed:
      return {"solstice-runner did not survive ncu: " + words,
              "another version of Nsight Compute (2025.3.1 is known to work)", true};
    default:
      return {words, error.hint, true};
  }
}

std::string words_of(const Result<run::ProfiledRun>& run) { return run.ok() ? run->end.said : run.error().message; }

}  // namespace

NcuFailure explain_failure(std::string_view log, const Result<run::ProfiledRun>& run, std::string_view kernels) {
  if (auto known = known_failure(log)) return *std::move(known);
  if (auto known = known_failure(words_of(run))) return *std::move(known);
  if (!run.ok()) return of_error(run.error());
  if (run->verdict.outcome != Outcome::kPassed)
    return {fmt::format("the profiled run of {} failed: {}", kernels, run->verdict.message),
            run->verdict.outcome == Outcome::kHung ? kLongerLimit : "", false};
  if (log.find("No kernels were profiled") != std::string_view::npos)
    return {fmt::format("ncu saw no launch of {}", kernels), "", false};
  if (const std::string words = first_error(log); !words.empty()) return {"ncu: " + words, "", false};
  return {fmt::format("ncu left no report of {}: it {}", kernels, run->end.exit.text()), "", false};
}

std::set<std::string> refused_metrics(std::string_view log, const std::vector<std::string>& metrics) {
  constexpr std::string_view kMark = "Failed to find metric", kBetween = " ,'\"`\r\n";
  const size_t at = log.find(kMark);
  std::string_view rest = at == std::string_view::npos ? std::string_view() : log.substr(at + kMark.size());
  std::set<std::string> out;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(kBetween), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (std::find(metrics.begin(), metrics.end(), word) != metrics.end()) out.emplace(word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

}  // namespace solstice::diagnose
