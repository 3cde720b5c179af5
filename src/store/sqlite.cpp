#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

namespace solstice::store {
namespace {

Error database_error(sqlite3* handle, const DatabaseUse& use, std::string_view doing) {
  const int code = handle ? sqlite3_errcode(handle) : SQLITE_NOMEM;
  const char* text = handle ? sqlite3_errmsg(handle) : "out of memory";
  const char* name = handle ? sqlite3_db_filename(handle, "main") : nullptr;
  const std::string file = name ? name : "";
  const std::string message = fmt::format("cannot {} {} {}: {}", doing, use.name, file, text);
  if (code == SQLITE_FULL) return fail(Code::disk_full, message, fmt::format("free space there, or {}", use.elsewhere));
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
    return fail(Code::store_error, fmt::format("{} {} is damaged, or is none", use.name, file), use.damaged);
  if (code == SQLITE_BUSY)
    return fail(Code::store_error, message,
                "another solstice is writing to it: run the command again when that is done");
  return fail(Code::store_error, message);
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      handle_(std::exchange(other.handle_, nullptr)),
      use_(other.use_),
      next_(other.next_) {}

Statement::~Statement() { sqlite3_finalize(handle_); }

Statement& Statement::bind(std::string_view text) {
  sqlite3_bind_text64(handle_, next_++, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(int64_t value) {
  sqlite3_bind_int64(handle_, next_++, value);
  return *this;
}

Statement& Statement::bind_pointer(void* value, const char* type) {
  sqlite3_bind_pointer(handle_, next_++, value, type, nullptr);
  return *this;
}

void Statement::reset() {
  sqlite3_reset(handle_);
  next_ = 1;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_error(database_, *use_, "use");
}

Status Statement::run() {
  for (;;) {
    SOLSTICE_TRY(const bool row, step());
    if (!row) return success();
  }
}

std::string Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(handle_, column);
  const int length = sqlite3_column_bytes(handle_, column);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length)) : std::string();
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

double Statement::real(int column) const { return sqlite3_column_double(handle_, column); }

Result<Database> Database::opened(const std::filesystem::path& file, const DatabaseUse& use, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  Database database(handle, &use);
  if (code != SQLITE_OK) {
    return fail(Code::store_error,
                fmt::format("cannot open {} {}: {}", use.name, file.string(), sqlite3_errmsg(handle)), use.elsewhere);
  }
  sqlite3_busy_timeout(handle, 10'000);
  return database;
}

Result<Database> Database::open(const std::filesystem::path& file) {
  SOLSTICE_TRY(Database database, opened(file, kRunStore, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  SOLSTICE_CHECK(database.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"));
  return database;
}

Result<Database> Database::open(const std::filesystem::path& file, const DatabaseUse& use, Access access) {
  if (access == Access::kRead) return opened(file, use, SQLITE_OPEN_READONLY);
  if (access == Access::kWrite) return opened(file, use, SQLITE_OPEN_READWRITE);
  SOLSTICE_TRY(Database database, opened(file, use, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  SOLSTICE_CHECK(database.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;"));
  return database;
}

Database::Database(Database&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), use_(other.use_) {}

Database::~Database() { sqlite3_close_v2(handle_); }

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK) {
    return database_error(handle_, *use_, "query");
  }
  return Statement(handle_, statement, use_);
}

Status Database::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return database_error(handle_, *use_, "change");
  return success();
}

std::string Database::file() const { return sqlite3_db_filename(handle_, "main"); }

Result<Transaction> Transaction::read(Database& database) {
  SOLSTICE_CHECK(database.execute("BEGIN"));
  return Transaction(&database);
}

Result<Transaction> Transaction::write(Database& database) {
  SOLSTICE_CHECK(database.execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  if (database_) (void)database_->execute("ROLLBACK");  // the error to tell is what kept it from its end
}

Status Transaction::commit() {
  SOLSTICE_CHECK(database_->execute("COMMIT"));
  database_ = nullptr;
  return success();
}

}  // namespace solstice::store
