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

class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& bind(std::string_view text);  // the next parameter
  Statement& bind(int64_t value);
  Result<bool> step();  // true: a row is there
  Status run();         // to the end, ignoring rows
  std::string text(int column) const;
  int64_t integer(int column) const;

 private:
  friend class Database;
  Statement(sqlite3* database, sqlite3_stmt* handle) : database_(database), handle_(handle) {}
  sqlite3* database_;
  sqlite3_stmt* handle_;
  int next_ = 1;
};

class Database {
 public:
  static Result<Database> open(const std::filesystem::path& file);
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  Result<Statement> prepare(std::string_view sql);
  Status execute(const char* sql);  // several statements, no parameters
  std::string file() const;         // whole path

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}
  sqlite3* handle_;
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
