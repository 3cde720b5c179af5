#include "flow/batch_files.h"

#include <fmt/format.h>

namespace solstice::flow {
namespace fs = std::filesystem;

fs::path program_file(const fs::path& folder, int node) { return folder / "candidates" / fmt::format("{}.ucut", node); }
fs::path result_file(const fs::path& folder, int node) { return folder / "results" / fmt::format("{}.json", node); }
fs::path original_file(const fs::path& folder) { return folder / "results" / "original.json"; }

Result<Batch> read_batch(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "batch.json", error)) {
    return fail(Code::bad_argument, fmt::format("{} is no batch: it has no batch.json; `solstice propose` makes one", folder.string()));
  }
  return read_record_file<Batch>(folder / "batch.json");
}

}  // namespace solstice::flow
