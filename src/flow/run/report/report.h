// The report as people and programs read it: report.md and report.json of an outcome folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "record/report.h"

namespace solstice::flow {

// Report::original where it is nobody's module (pytorch/module_text.h).
inline constexpr const char* kWrittenOriginal = "PyTorch operators written from the equations, one for each";

// Markdown with the headline, the SOL ladder, what bounds the result, baselines, errors, candidates and the machine.
// Sections without content are left out; a predicted figure says so beside it.
std::string render_markdown(const Report& report);

// One line for a terminal: "linear_gelu: 3.94x faster (2.77 ms to 0.70 ms), 1.28x of SOL".
std::string headline_text(const Report& report);

// The shortest predicted time of a candidate that passed its checks and, where there is a compiler, compiled.
std::optional<Seconds> best_prediction(const Report& report);

// Writes report.json and report.md below `folder`, each whole or not at all.
Status write_report(const Report& report, const std::filesystem::path& folder);

}  // namespace solstice::flow
