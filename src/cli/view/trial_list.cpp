#include "cli/view/trial_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/harmless.h"
#include "cli/view/table.h"

namespace solstice::cli {
namespace {

std::string time_cell(const std::optional<Seconds>& time) { return time ? show(*time) : "-"; }

std::string first_line_of(const std::string& text) { return clip(text.substr(0, text.find('\n')), 60); }

std::string indented(const std::string& text) {
  std::string out = "  ";
  for (const char c : text.substr(0, text.find_last_not_of('\n') + 1)) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out + "\n";
}

}  // namespace

std::string trials_table(const std::vector<TrialRecord>& trials) {
  std::vector<std::vector<std::string>> rows = {{"trial", "state", "measured", "predicted", "compile", "what"}};
  const bool several =
      std::any_of(trials.begin(), trials.end(), [](const TrialRecord& t) { return t.gpu.has_value(); });
  if (several) rows[0].insert(rows[0].begin() + 2, "gpu");
  for (const TrialRecord& t : trials) {
    rows.push_back({std::to_string(t.number), enum_name(t.state), time_cell(t.measured), time_cell(t.predicted),
                    show(t.compile_time),
                    t.message.empty() ? clip(t.what, 80) : clip(t.what, 50) + ": " + first_line_of(t.message)});
    if (several) rows.back().insert(rows.back().begin() + 2, t.gpu ? std::to_string(*t.gpu) : "-");
  }
  return table(rows);
}

std::vector<TrialRecord> failed_trials(const std::vector<TrialRecord>& trials) {
  std::vector<TrialRecord> out;
  std::copy_if(trials.begin(), trials.end(), std::back_inserter(out), [](const TrialRecord& t) {
    return t.state != TrialState::kVerified && t.state != TrialState::kPredicted;
  });
  return out;
}

std::string failed_text(const std::vector<TrialRecord>& failed, const std::string& run) {
  std::string out;
  for (const TrialRecord& t : failed) {
    out += fmt::format("trial {}, {}: {}\n", t.number, enum_name(t.state), harmless(t.what));
    if (!t.message.empty()) out += indented(harmless_lines(t.message));
  }
  return out + fmt::format("\n`solstice show {} --trial N` prints one with its program\n", run);
}

std::string closing_line(const TrialCounts& counts, size_t failed, const std::string& run) {
  if (failed == 0) return text_of(counts) + "\n";
  return fmt::format("{}; {} failed: `solstice show {} --failed` says why\n", text_of(counts), failed, run);
}

}  // namespace solstice::cli
