// Cautions against comparing runs.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/time_text.h"
#include "flow/history/run_comparison.h"

namespace solstice::flow {
namespace {

// Two timings of one module in two processes are seldom further apart.
constexpr double kSameOriginal = 0.03;

using RunText = std::string (*)(const ComparedRun&);

struct Distinction {
  const char* what;
  RunText key;   // text that has to be equal
  RunText text;  // text of the caution
};

std::string version_of(const ComparedRun& run, const std::string& what) {
  const auto found = run.versions.find(what);
  return found == run.versions.end() ? "" : found->second;
}

std::string or_unknown(std::string text) { return text.empty() ? "unknown" : text; }

std::string short_hash(const std::string& text) { return or_unknown(text.substr(0, 8)); }

const Distinction kDistinctions[] = {
    {"other problem texts", [](const ComparedRun& run) { return run.problem_key; },
     [](const ComparedRun& run) {
       return fmt::format("{} {}", run.problem.substr(0, run.problem.find('\n')), short_hash(run.problem_key));
     }},
    {"other numerics, weights (live or frozen) or device asked for",
     [](const ComparedRun& run) { return run.options_key; },
     [](const ComparedRun& run) { return "options " + short_hash(run.options_key); }},
    {"other machine descriptions", [](const ComparedRun& run) { return run.machine; },
     [](const ComparedRun& run) { return or_unknown(run.machine); }},
    {"other devices", [](const ComparedRun& run) { return run.device; },
     [](const ComparedRun& run) { return or_unknown(run.device); }},
    {"other builds of Solstice",
     [](const ComparedRun& run) { return version_of(run, "solstice") + version_of(run, "build"); },
     [](const ComparedRun& run) {
       return fmt::format("{} build {}", or_unknown(version_of(run, "solstice")), short_hash(version_of(run, "build")));
     }},
};

// "h200 (RUN), h100 (RUN, RUN)": every value with its runs, in their order; of many runs how many they are.
std::string shared_out(const std::vector<ComparedRun>& runs, const std::vector<std::string>& keys,
                       const std::vector<std::string>& texts) {
  std::vector<std::string> seen, parts;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (std::find(seen.begin(), seen.end(), keys[i]) != seen.end()) continue;
    seen.push_back(keys[i]);
    std::vector<std::string> ids;
    for (size_t j = i; j < runs.size(); ++j) {
      if (keys[j] == keys[i]) ids.push_back(runs[j].id);
    }
    parts.push_back(ids.size() > 2 ? fmt::format("{} ({} runs)", texts[i], ids.size())
                                   : fmt::format("{} ({})", texts[i], fmt::join(ids, ", ")));
  }
  return parts.size() > 1 ? fmt::format("{}", fmt::join(parts, "; ")) : "";
}

void add_distinction(const std::vector<ComparedRun>& runs, const Distinction& distinction,
                     std::vector<std::string>& out) {
  std::vector<std::string> keys, texts;
  for (const ComparedRun& run : runs) keys.push_back(distinction.key(run)), texts.push_back(distinction.text(run));
  const std::string parts = shared_out(runs, keys, texts);
  if (!parts.empty()) out.push_back(fmt::format("{}: {}", distinction.what, parts));
}

// Drivers, compilers, PyTorch: what the original takes depends on them.
void add_versions(const std::vector<ComparedRun>& runs, std::vector<std::string>& out) {
  std::set<std::string> names;
  for (const ComparedRun& run : runs) {
    for (const auto& [name, version] : run.versions) names.insert(name);
  }
  names.erase("build"), names.erase("solstice");
  for (const std::string& name : names) {
    std::vector<std::string> versions;
    for (const ComparedRun& run : runs) versions.push_back(or_unknown(version_of(run, name)));
    const std::string parts = shared_out(runs, versions, versions);
    if (!parts.empty()) out.push_back(fmt::format("other {}: {}", name, parts));
  }
}

void add_originals(const std::vector<ComparedRun>& runs, std::vector<std::string>& out) {
  std::vector<Seconds> times;
  size_t untimed = 0;
  for (const ComparedRun& run : runs) {
    if (run.original) times.push_back(*run.original);
    untimed += !run.original;
  }
  if (untimed == runs.size()) out.push_back("no run timed the original: times are compared, not speedups");
  if (times.empty()) return;
  if (untimed > 0)
    out.push_back(
        fmt::format("{} of {} runs did not time the original: times are compared, not speedups", untimed, runs.size()));
  const auto [low, high] = std::minmax_element(times.begin(), times.end());
  if (*high / *low < 1 + kSameOriginal) return;
  out.push_back(fmt::format("the original took {} to {}: each speedup uses the time of its own run", time_text(*low),
                            time_text(*high)));
}

void add_predictions(const std::vector<ComparedRun>& runs, std::vector<std::string>& out) {
  const auto predicted = std::count_if(runs.begin(), runs.end(), [](const ComparedRun& run) { return run.predicted; });
  if (predicted > 0)
    out.push_back(
        fmt::format("times of {} of {} runs are predicted by cost models, not measured", predicted, runs.size()));
}

}  // namespace

std::vector<std::string> cautions_of(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> out;
  for (const Distinction& distinction : kDistinctions) add_distinction(runs, distinction, out);
  add_versions(runs, out);
  add_predictions(runs, out);
  add_originals(runs, out);
  for (const ComparedRun& run : runs) {
    if (run.ended == "running" || run.ended == "interrupted" || run.ended == "failed")
      out.push_back(fmt::format("run {} is not finished: {}", run.id, run.ended));
    if (run.curve.empty())
      out.push_back(fmt::format("run {} has no recorded search: only its trials are known", run.id));
  }
  return out;
}

}  // namespace solstice::flow
