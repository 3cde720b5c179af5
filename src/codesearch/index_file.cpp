#include "codesearch/index_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/version.h"

namespace solstice::codesearch {
namespace {

// Of tables and words: whatever changes what stands in the index for the same files.
constexpr int kFormat = 1;
constexpr const char* kVersionNote = "version";

std::string version_text() { return fmt::format("{}/{}", version(), kFormat); }

constexpr const char* kSchema = R"sql(
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
  number  INTEGER PRIMARY KEY AUTOINCREMENT,
  path    TEXT NOT NULL UNIQUE,
  file    TEXT NOT NULL,
  size    INTEGER NOT NULL,
  time    INTEGER NOT NULL,
  hash    TEXT NOT NULL,
  about   TEXT NOT NULL,
  text    TEXT NOT NULL
);
CREATE TABLE chunks (
  number  INTEGER PRIMARY KEY,
  first   INTEGER NOT NULL,
  last    INTEGER NOT NULL,
  title   TEXT NOT NULL
);
CREATE VIRTUAL TABLE chunk_words USING fts5(name, path, brief, notes, code, content='', columnsize=0, detail=column,
                                            tokenize="ascii tokenchars '_.'");
CREATE TABLE words (word TEXT PRIMARY KEY, files INTEGER NOT NULL, named INTEGER NOT NULL, noted INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE identifiers (number INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE identifier_grams USING fts5(word, content='identifiers', content_rowid='number', columnsize=0,
                                                 detail=none, tokenize='trigram');
CREATE TRIGGER identifier_added AFTER INSERT ON identifiers BEGIN
  INSERT INTO identifier_grams (rowid, word) VALUES (new.number, new.word);
END;
)sql";

// Words that a transaction keeps in memory before it writes a part of the full text: fewer parts to merge.
constexpr const char* kMemory = R"sql(
INSERT INTO chunk_words (chunk_words, rank) VALUES ('hashsize', 67108864);
INSERT INTO identifier_grams (identifier_grams, rank) VALUES ('hashsize', 16777216);
)sql";

}  // namespace

Result<IndexFile> IndexFile::open(const std::filesystem::path& file) {
  SOLSTICE_TRY(store::Database database, store::Database::open(file, kCodeIndex, store::Database::Access::kRead));
  SOLSTICE_CHECK(database.execute("PRAGMA mmap_size=134217728; PRAGMA query_only=ON;"));
  IndexFile index(std::move(database));
  SOLSTICE_CHECK(check_version(index));
  return index;
}

Result<IndexFile> IndexFile::change(const std::filesystem::path& file) {
  SOLSTICE_TRY(store::Database database, store::Database::open(file, kCodeIndex, store::Database::Access::kWrite));
  IndexFile index(std::move(database));
  SOLSTICE_CHECK(check_version(index));
  SOLSTICE_CHECK(index.prepare_statements());
  return index;
}

Result<IndexFile> IndexFile::make(const std::filesystem::path& file) {
  SOLSTICE_TRY(store::Database database, store::Database::open(file, kCodeIndex, store::Database::Access::kMake));
  SOLSTICE_CHECK(database.execute(kSchema));
  SOLSTICE_CHECK(database.execute(kMemory));
  IndexFile index(std::move(database));
  SOLSTICE_CHECK(index.set_note(kVersionNote, version_text()));
  SOLSTICE_CHECK(index.prepare_statements());
  return index;
}

Status IndexFile::check_version(IndexFile& index) {
  SOLSTICE_TRY(const std::string found, index.note(kVersionNote));
  if (found == version_text()) return success();
  return fail(Code::store_error, fmt::format("the code index {} is of version {}, and this program has {}",
                                             index.database_->file(), found, version_text()));
}

Status IndexFile::prepare_statements() {
  SOLSTICE_TRY(auto file, database_->prepare("INSERT INTO files (number, path, file, size, time, hash, about, text) "
                                             "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  SOLSTICE_TRY(auto chunk, database_->prepare("INSERT INTO chunks (number, first, last, title) VALUES (?, ?, ?, ?)"));
  SOLSTICE_TRY(
      auto words,
      database_->prepare("INSERT INTO chunk_words (rowid, name, path, brief, notes, code) VALUES (?, ?, ?, ?, ?, ?)"));
  SOLSTICE_TRY(auto identifier, database_->prepare("INSERT OR IGNORE INTO identifiers (word) VALUES (?)"));
  statements_.emplace(Statements{std::move(file), std::move(chunk), std::move(words), std::move(identifier)});
  return success();
}

Result<std::map<std::string, IndexedFile>> IndexFile::files() {
  SOLSTICE_TRY(auto query, database_->prepare("SELECT number, path, file, size, time, hash, about FROM files"));
  std::map<std::string, IndexedFile> out;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return out;
    out[query.text(1)] = {.number = query.integer(0),
                          .path = query.text(1),
                          .file = query.text(2),
                          .size = query.integer(3),
                          .time = query.integer(4),
                          .hash = query.text(5),
                          .about = query.text(6)};
  }
}

Result<std::string> IndexFile::note(std::string_view key) {
  SOLSTICE_TRY(auto query, database_->prepare("SELECT value FROM notes WHERE key = ?"));
  SOLSTICE_TRY(const bool row, query.bind(key).step());
  return row ? query.text(0) : std::string();
}

Status IndexFile::set_note(std::string_view key, std::string_view value) {
  SOLSTICE_TRY(auto query, database_->prepare("INSERT OR REPLACE INTO notes VALUES (?, ?)"));
  return query.bind(key).bind(value).run();
}

Result<int64_t> IndexFile::chunks() {
  SOLSTICE_TRY(auto query, database_->prepare("SELECT count(*) FROM chunks"));
  SOLSTICE_TRY(const bool row, query.step());
  return row ? query.integer(0) : int64_t{0};
}

Result<int64_t> IndexFile::next_number() {
  SOLSTICE_TRY(auto query, database_->prepare("SELECT seq FROM sqlite_sequence WHERE name = 'files'"));
  SOLSTICE_TRY(const bool row, query.step());
  return row ? query.integer(0) + 1 : int64_t{1};
}

Result<std::string> IndexFile::text(int64_t file) {
  SOLSTICE_TRY(auto query, database_->prepare("SELECT text FROM files WHERE number = ?"));
  SOLSTICE_TRY(const bool row, query.bind(file).step());
  return row ? query.text(0) : std::string();
}

Status IndexFile::add(const IndexedFile& file, const Prepared& content) {
  auto& [insert_file, insert_chunk, insert_words, insert_identifier] = *statements_;
  insert_file.reset();
  insert_file.bind(file.number).bind(file.path).bind(file.file.string()).bind(file.size).bind(file.time);
  SOLSTICE_CHECK(insert_file.bind(content.hash).bind(file.about).bind(content.kept).run());
  const int64_t most = int64_t{1} << (kChunkBits - kLengthBits);
  for (int64_t i = 0; i < std::min(static_cast<int64_t>(content.chunks.size()), most); ++i) {
    const PreparedChunk& chunk = content.chunks[static_cast<size_t>(i)];
    const int64_t number =
        chunk_number(file.number, i, std::min<int64_t>(chunk.last - chunk.first + 1, (1 << kLengthBits) - 1));
    insert_chunk.reset();
    insert_chunk.bind(number).bind(int64_t{chunk.first}).bind(int64_t{chunk.last});
    SOLSTICE_CHECK(insert_chunk.bind(chunk.title).run());
    insert_words.reset();
    insert_words.bind(number).bind(chunk.name).bind(content.path).bind(content.brief);
    SOLSTICE_CHECK(insert_words.bind(chunk.notes).bind(chunk.code).run());
  }
  count(content);
  for (const std::string& word : content.identifiers) {
    insert_identifier.reset();
    SOLSTICE_CHECK(insert_identifier.bind(word).run());
  }
  return success();
}

void IndexFile::count(const Prepared& content) {
  enum { kInName = 1, kInNotes = 2 };
  std::unordered_map<std::string_view, int> places;
  const auto take = [&](std::string_view words, int place) {
    while (!words.empty()) {
      const size_t end = std::min(words.find(' '), words.size());
      places[words.substr(0, end)] |= place;
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  };
  take(content.path, kInName);
  take(content.brief, kInNotes);
  for (const PreparedChunk& chunk : content.chunks) {
    take(chunk.name, kInName);
    take(chunk.notes, kInNotes);
    take(chunk.code, 0);
  }
  for (const auto& [word, place] : places) {
    WordUse& use = counted_[std::string(word)];
    ++use.files;
    use.named += place & kInName ? 1 : 0;
    use.noted += place & kInNotes ? 1 : 0;
  }
}

Status IndexFile::write_words() {
  SOLSTICE_TRY(
      auto query,
      database_->prepare("INSERT INTO words VALUES (?, ?, ?, ?) ON CONFLICT (word) DO UPDATE SET files = "
                         "files + excluded.files, named = named + excluded.named, noted = noted + excluded.noted"));
  std::vector<const std::pair<const std::string, WordUse>*> sorted;
  for (const auto& entry : counted_) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  for (const auto* entry : sorted) {
    query.reset();
    query.bind(entry->first).bind(entry->second.files).bind(entry->second.named);
    SOLSTICE_CHECK(query.bind(entry->second.noted).run());
  }
  counted_.clear();
  return success();
}

Status IndexFile::touch(const IndexedFile& file) {
  SOLSTICE_TRY(auto query,
               database_->prepare("UPDATE files SET file = ?, size = ?, time = ?, about = ? WHERE number = ?"));
  query.bind(file.file.string()).bind(file.size).bind(file.time);
  return query.bind(file.about).bind(file.number).run();
}

Status IndexFile::drop(int64_t file) {
  SOLSTICE_TRY(auto chunks, database_->prepare("DELETE FROM chunks WHERE number BETWEEN ? AND ?"));
  SOLSTICE_CHECK(chunks.bind(chunk_number(file, 0, 0)).bind(chunk_number(file + 1, 0, 0) - 1).run());
  SOLSTICE_TRY(auto query, database_->prepare("DELETE FROM files WHERE number = ?"));
  return query.bind(file).run();
}

Status IndexFile::merge() {
  return database_->execute(
      "INSERT INTO chunk_words (chunk_words) VALUES ('optimize');"
      "INSERT INTO identifier_grams (identifier_grams) VALUES ('optimize');");
}

}  // namespace solstice::codesearch
