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
  Statement& bind_null();
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

}  // namespace solstice::store
