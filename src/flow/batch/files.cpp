#include "flow/batch/files.h"

#include <fmt/format.h>

#include <set>

namespace solstice::flow {
namespace fs = std::filesystem;

fs::path program_file(const fs::path& folder, int node) { return folder / "candidates" / fmt::format("{}.ucut", node); }
fs::path result_file(const fs::path& folder, int node) { return folder / "results" / fmt::format("{}.json", node); }
int request_of(const search::Tree& tree, int node) {
  using Kind = search::Event::Kind;
  for (size_t i = tree.events().size(); i-- > 0;) {
    const search::Event& event = tree.events()[i];
    if (event.node == node && (event.kind == Kind::kProposed || event.kind == Kind::kAgain)) return static_cast<int>(i);
  }
  return -1;
}

fs::path original_file(const fs::path& folder) { return folder / "results" / "original.json"; }

Result<std::string> read_batch_file(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return fail(Code::bad_argument, fmt::format("{} is no plain file", file.string()));
  }
  const std::uintmax_t bytes = fs::file_size(file, error);
  if (!error && bytes > static_cast<std::uintmax_t>(kMostBatchFile)) {
    return fail(Code::too_large, fmt::format("{} has {} bytes; a file of a batch has at most {}: it was not read",
                                             file.string(), bytes, kMostBatchFile));
  }
  return read_file(file);  // which says what is wrong where there is none
}

Result<Batch> read_batch(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "batch.json", error)) {
    return fail(Code::bad_argument, fmt::format("{} is no batch: it has no batch.json", folder.string()),
                "`solstice propose` makes one");
  }
  SOLSTICE_TRY(Batch batch, read_record_file<Batch>(folder / "batch.json"));
  // It may come from elsewhere: names are of files in the folder, numbers of different nodes.
  const auto is_name = [](const std::string& name) {
    return fs::path(name) == fs::path(name).filename() && name != "..";
  };
  for (const std::string& name : {batch.file, batch.of}) {  // of a module there is no `of`
    if (is_name(name) && !batch.file.empty()) continue;
    return fail(Code::bad_argument, fmt::format("{}: `{}` is no file of the folder", folder.string(), name));
  }
  std::set<int> nodes;
  for (const BatchCandidate& candidate : batch.candidates) {
    if (candidate.node > 0 && nodes.insert(candidate.node).second) continue;
    return fail(Code::bad_argument,
                fmt::format("{}: node {} is not a positive number, or occurs twice", folder.string(), candidate.node));
  }
  return batch;
}

}  // namespace solstice::flow
