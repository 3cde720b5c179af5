// SQLite behind Result: statements with bound values, rows read in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace solstice::store {

class Database;

// What a database is to the person who reads of it in an error, and the ways out. Objects of static storage.
struct DatabaseUse {
  const char* name;       // "the run store"
  const char* elsewhere;  // where another one may lie: after "free space there, or "
  const char* damaged;    // way out of one that is damaged
};
inline constexpr DatabaseUse kRunStore = {"the run store", "name another folder: --store DIR",
                                          "move it away, or name another folder: --store DIR, or SOLSTICE_HOME"};

class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& bind(std::string_view text);  // the next parameter
  Statement& bind(int64_t value);
  Statement& bind_pointer(void* value, const char* type);  // of sqlite3_bind_pointer()
  void reset();                                            // to be bound and stepped again
  Result<bool> step();                                     // true: a row is there
  Status run();                                            // to the end, ignoring rows
  std::string text(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;

 private:
  friend class Database;
  Statement(sqlite3* database, sqlite3_stmt* handle, const DatabaseUse* use)
      : database_(database), handle_(handle), use_(use) {}
  sqlite3* database_;
  sqlite3_stmt* handle_;
  const DatabaseUse* use_;
  int next_ = 1;
};

class Database {
 public:
  static Result<Database> open(const std::filesystem::path& file);  // of the run store: WAL, made where missing
  // Another one. kRead: the file has to be there and is not written. kMake: without a journal, for a file that is put
  // in its place when it is whole.
  enum class Access { kRead, kWrite, kMake };
  static Result<Database> open(const std::filesystem::path& file, const DatabaseUse& use, Access access);
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  Result<Statement> prepare(std::string_view sql);
  Status execute(const char* sql);  // several statements, no parameters
  std::string file() const;         // whole path

 private:
  Database(sqlite3* handle, const DatabaseUse* use) : handle_(handle), use_(use) {}
  static Result<Database> opened(const std::filesystem::path& file, const DatabaseUse& use, int flags);
  sqlite3* handle_;
  const DatabaseUse* use_;
};

// All of it or nothing: what was not committed when it goes is rolled back. One at a time; it does not outlive its
// database.
class Transaction {
 public:
  static Result<Transaction> read(Database& database);  // sees the store as it is at its first look
  static Result<Transaction> write(
      Database& database);  // waits for other writers first, so that what it reads stays true
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Status commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;  // null: it has come to its end
};

}  // namespace solstice::store
