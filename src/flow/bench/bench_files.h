// Files of a bench in its folder.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "record/bench.h"

namespace solstice::flow {

Result<Bench> load_bench(const std::filesystem::path& folder);  // folder/bench.json. Errors: not_found, bad_record
// bench.json, bench.md and, where anything was measured, bench.svg.
Status write_bench(const Bench& bench, const std::filesystem::path& folder);
Status write_rendered(const Bench& bench, const std::filesystem::path& folder);  // the latter two

}  // namespace solstice::flow
