// The file of the index: its tables, and what is known of each indexed file.
//
// chunk_words is full text without the text itself: the words of chunks in five columns (Column). A chunk's number
// holds that of its file and its length, so that a row of the full text is ranked without another look. Rows of files
// that changed stay behind and are skipped: a file that is indexed again gets a new number.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "codesearch/prepare.h"
#include "codesearch/question.h"
#include "store/sqlite.h"

namespace solstice::codesearch {

inline constexpr store::DatabaseUse kCodeIndex = {
    "the code index", "name another folder: SOLSTICE_CACHE",
    "remove it, and `solstice code search` builds it again; where it lies: SOLSTICE_CACHE"};

enum Column { kName, kPath, kBrief, kNotes, kCode, kColumns };

inline constexpr int kLengthBits = 8;
inline constexpr int kChunkBits = 16 + kLengthBits;
constexpr int64_t chunk_number(int64_t file, int64_t chunk, int64_t lines) {
  return (file << kChunkBits) | (chunk << kLengthBits) | lines;
}
constexpr int64_t file_of(int64_t chunk) { return chunk >> kChunkBits; }
constexpr int64_t lines_of(int64_t chunk) { return chunk & ((1 << kLengthBits) - 1); }

// A file as it was indexed.
struct IndexedFile {
  int64_t number = 0;
  std::string path;
  std::filesystem::path file;  // "" for a program of the store
  int64_t size = 0;
  int64_t time = 0;
  std::string hash;
  std::string about;  // of a program of the store: problem, device, speed
};

class IndexFile {
 public:
  // Errors of all: store_error where it is damaged or of another version, disk_full.
  static Result<IndexFile> open(const std::filesystem::path& file);    // to read; checks its version
  static Result<IndexFile> change(const std::filesystem::path& file);  // to write
  static Result<IndexFile> make(const std::filesystem::path& file);    // empty, without a journal

  Result<std::map<std::string, IndexedFile>> files();  // by path
  Result<std::string> note(std::string_view key);      // "" where there is none
  Status set_note(std::string_view key, std::string_view value);
  Result<int64_t> chunks();                // how many
  Result<std::string> text(int64_t file);  // that the index keeps itself
  Result<int64_t> next_number();           // of a file: one that none had before
  Status add(const IndexedFile& file, const Prepared& content);
  Status touch(const IndexedFile& file);  // another place or time, the same content
  Status drop(int64_t file);
  Status write_words();  // after the last add(): how many files have each word
  Status merge();        // of a new index: the parts of its full text

  store::Database& database() { return *database_; }

 private:
  explicit IndexFile(store::Database database) : database_(std::make_unique<store::Database>(std::move(database))) {}
  static Status check_version(IndexFile& index);
  Status prepare_statements();
  void count(const Prepared& content);

  std::unique_ptr<store::Database> database_;
  struct Statements {
    store::Statement file, chunk, words, identifier;
  };
  std::optional<Statements> statements_;
  std::unordered_map<std::string, WordUse> counted_;  // of files that were added; what drop() takes away stays counted
};

}  // namespace solstice::codesearch
