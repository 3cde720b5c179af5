// The files of a batch (record/batch.h).
#pragma once

#include <filesystem>
#include <optional>

#include "base/file.h"
#include "record/batch.h"
#include "search/tree.h"

namespace solstice::flow {

std::filesystem::path program_file(const std::filesystem::path& folder, int node);
std::filesystem::path result_file(const std::filesystem::path& folder, int node);
std::filesystem::path original_file(const std::filesystem::path& folder);

// A file of a batch. Errors: not_found, io_error; too_large, before it is read; bad_argument for what is no plain file.
Result<std::string> read_batch_file(const std::filesystem::path& file);

inline constexpr const char* kLostBatch = "`solstice propose RUN --again` writes a batch that was damaged once more";

// A record in a file of its own. Errors: those of read_batch_file(), bad_json, bad_record, with file and line.
template <typename T>
Result<T> read_record_file(const std::filesystem::path& file) {
  SOLSTICE_TRY(const std::string text, read_batch_file(file));
  return from_json_file<T>(text, file, kLostBatch);
}

// Nothing where there is no such file.
template <typename T>
Result<std::optional<T>> read_if_there(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::optional<T>();
  SOLSTICE_TRY(T record, read_record_file<T>(file));
  return std::optional<T>(std::move(record));
}

template <typename T>
Status write_record_file(const std::filesystem::path& file, const T& record) {
  return write_file(file, to_json(record).dump(1) + "\n");
}

// The number of the event that last asked for the node to be measured; -1: none did.
int request_of(const search::Tree& tree, int node);

// Errors: bad_argument where the folder holds none, or one whose names or numbers cannot be.
Result<Batch> read_batch(const std::filesystem::path& folder);

}  // namespace solstice::flow
