#include "diagnose/counters/ncu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/paths.h"
#include "base/process/subprocess.h"
#include "diagnose/counters/ncu_csv.h"
#include "diagnose/counters/stall_reasons.h"

namespace solstice::diagnose {
namespace {

namespace fs = std::filesystem;
constexpr Seconds kQuestionLimit{20};  // of what ncu answers without profiling

// Numbers in a name compare as numbers: 2024.10 after 2024.9.
bool version_less(const fs::path& a, const fs::path& b) {
  const std::string left = a.string(), right = b.string();
  return ::strverscmp(left.c_str(), right.c_str()) < 0;
}

// Folders below `folder` whose names begin with `prefix`, the newest first.
std::vector<fs::path> newest_first(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().substr(0, prefix.size()) == prefix) out.push_back(it->path());
  }
  std::sort(out.begin(), out.end(), [](const fs::path& a, const fs::path& b) { return version_less(b, a); });
  return out;
}

std::vector<fs::path> usual_places() {
  std::vector<fs::path> out;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) out.push_back(fs::path(value) / "bin" / "ncu");
  }
  out.emplace_back("/usr/local/cuda/bin/ncu");
  for (const fs::path& toolkit : newest_first("/usr/local", "cuda-")) out.push_back(toolkit / "bin" / "ncu");
  for (const fs::path& version : newest_first("/opt/nvidia/nsight-compute", "")) out.push_back(version / "ncu");
  return out;
}

Result<CommandOutput> ask(const fs::path& ncu, std::vector<std::string> options, Seconds limit) {
  options.insert(options.begin(), {ncu.string(), "--config-file", "off"});
  return run_command({.argv = std::move(options), .in = Pipe::kNull}, limit);
}

std::set<std::string> base_names(const std::vector<std::string>& metrics) {
  std::set<std::string> out;
  for (const std::string& metric : metrics) {
    if (const size_t point = metric.find('.'); point != std::string::npos) out.insert(metric.substr(0, point));
  }
  return out;
}

}  // namespace

Result<fs::path> find_ncu() {
  if (const char* named = std::getenv("SOLSTICE_NCU")) {
    std::error_code ignored;
    if (fs::is_regular_file(named, ignored)) return fs::path(named);
    return fail(Code::not_found, fmt::format("SOLSTICE_NCU names {}, which is no file", named),
                "set it to an `ncu`, or to nothing");
  }
  if (auto found = find_program("ncu"); found.ok()) return found;
  const std::vector<fs::path> places = usual_places();
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (fs::is_regular_file(place, ignored)) return place;
  }
  return fail(Code::not_found,
              fmt::format("no ncu on PATH, in {} or in /opt/nvidia/nsight-compute",
                          fmt::join(std::vector<std::string>(places.begin(), places.end()), ", ")),
              "install NVIDIA Nsight Compute, which CUDA toolkits bring along, or set SOLSTICE_NCU to its `ncu`");
}

std::string ncu_version(const fs::path& ncu) {
  constexpr std::string_view kBefore = "Version ";
  const Result<CommandOutput> said =
      run_command({.argv = {ncu.string(), "--version"}, .in = Pipe::kNull}, kQuestionLimit);
  if (!said.ok()) return "";
  const size_t at = said->out.find(kBefore);
  if (at == std::string::npos) return "";
  const size_t begin = at + kBefore.size();
  return said->out.substr(begin, said->out.find_first_of(" \n", begin) - begin);
}

std::string_view ncu_chip(std::string_view arch) {
  constexpr std::pair<std::string_view, std::string_view> kChips[] = {
      {"sm_80", "ga100"}, {"sm_86", "ga102"}, {"sm_89", "ad102"}, {"sm_90", "gh100"}, {"sm_100", "gb100"}};
  if (!arch.empty() && (arch.back() == 'a' || arch.back() == 'f')) arch.remove_suffix(1);
  for (const auto& [name, chip] : kChips) {
    if (name == arch) return chip;
  }
  return "";
}

std::set<std::string> known_metrics(const fs::path& ncu, std::string_view chip,
                                    const std::vector<std::string>& metrics) {
  const std::set<std::string> bases = base_names(metrics);
  std::vector<std::string> options = {"--query-metrics-mode", "suffix", "--csv", "--metrics",
                                      fmt::format("{}", fmt::join(bases, ","))};
  if (!chip.empty()) options.insert(options.end(), {"--chips", std::string(chip)});
  const Result<CommandOutput> answer = ask(ncu, std::move(options), kQuestionLimit);
  if (!answer.ok() || !answer->exit.ok()) return {};
  const std::set<std::string> wanted(metrics.begin(), metrics.end());
  std::set<std::string> out;
  for (const auto& row : read_csv(answer->out).rows) {
    if (row.size() > 1 && wanted.contains(row[0])) out.insert(row[0]);
  }
  if (out.empty()) return out;
  for (const std::string& metric : metrics) {
    if (metric.find('.') == std::string::npos) out.insert(metric);
  }
  return out;
}

std::vector<std::string> ncu_command(const fs::path& ncu, const NcuLaunches& launches, const NcuFiles& files) {
  std::vector<std::string> out = {ncu.string(),
                                  "--config-file",
                                  "off",
                                  "--target-processes",
                                  "all",
                                  "--replay-mode",
                                  "kernel",
                                  "--cache-control",
                                  "all",
                                  "--clock-control",
                                  "none",
                                  "--apply-rules",
                                  "no",
                                  "--kernel-name-base",
                                  "mangled",
                                  "--kernel-name",
                                  launches.kernels,
                                  "--launch-skip",
                                  std::to_string(launches.skip),
                                  "--launch-count",
                                  std::to_string(launches.count),
                                  "--log-file",
                                  files.log.string(),
                                  "--force-overwrite",
                                  "--export",
                                  files.report.string()};
  if (!launches.metrics.empty())
    out.insert(out.end(), {"--metrics", fmt::format("{}", fmt::join(launches.metrics, ","))});
  if (launches.sampling) {
    out.insert(out.end(), {"--section-folder", files.sections.string(), "--section", kSamplingSection,
                           "--warp-sampling-max-passes", "1"});
  }
  return out;
}

Result<std::string> print_page(const fs::path& ncu, const fs::path& report, std::string_view page, Seconds limit) {
  std::vector<std::string> options = {"--import",      report.string(), "--csv",
                                      "--print-units", "base",          "--print-kernel-base",
                                      "mangled",       "--page",        std::string(page)};
  SOLSTICE_TRY(CommandOutput said, ask(ncu, std::move(options), limit));
  if (said.exit.ok()) return std::move(said.out);
  return fail(Code::process_failed, fmt::format("ncu could not print the {} page: it {}: {}", page, said.exit.text(),
                                                (said.out + said.err).substr(0, 200)));
}

}  // namespace solstice::diagnose
