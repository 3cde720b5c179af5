// Json: a small JSON value with ordered objects. Parsing and printing are nlohmann-json's, behind json.cpp.
//
// Integers and reals are kept apart (1 is an integer, 1.0 a real), as schemas need. Non-finite reals are written as
// the strings "inf", "-inf", "nan" and read back as reals by as_double(). Lookups never throw: find() gives a
// pointer or null, at() a reference to null.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace solstice {

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool v) : state_(v) {}
  Json(int v) : state_(static_cast<int64_t>(v)) {}
  Json(unsigned v) : state_(static_cast<int64_t>(v)) {}
  Json(int64_t v) : state_(v) {}
  Json(uint64_t v) : state_(static_cast<int64_t>(v)) {}
  Json(double v) : state_(v) {}
  Json(const char* v) : state_(std::string(v)) {}
  Json(std::string_view v) : state_(std::string(v)) {}
  Json(std::string v) : state_(std::move(v)) {}
  Json(Array v) : state_(std::move(v)) {}
  Json(Object v) : state_(std::move(v)) {}
  static Json object() { return Json(Object{}); }
  static Json array() { return Json(Array{}); }

  bool is_null() const { return state_.index() == 0; }
  bool is_bool() const { return std::holds_alternative<bool>(state_); }
  bool is_int() const { return std::holds_alternative<int64_t>(state_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(state_); }
  bool is_string() const { return std::holds_alternative<std::string>(state_); }
  bool is_array() const { return std::holds_alternative<Array>(state_); }
  bool is_object() const { return std::holds_alternative<Object>(state_); }

  // The value, or the given one where the type is another.
  bool as_bool(bool otherwise = false) const;
  int64_t as_int(int64_t otherwise = 0) const;
  double as_double(double otherwise = 0) const;
  const std::string& as_string() const;  // "" where it is no string
  const Array& items() const;            // empty where it is no array
  const Object& members() const;         // empty where it is no object

  const Json* find(std::string_view key) const;
  const Json& at(std::string_view key) const;
  const Json& at(size_t index) const;
  size_t size() const;

  Json& set(std::string_view key, Json value);  // makes this an object
  Json& push(Json value);                       // makes this an array

  std::string dump(int indent = -1) const;  // -1: one line
  bool operator==(const Json&) const = default;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> state_;
};

Json text_list(const std::vector<std::string>& texts);

inline constexpr int kDeepestJson = 500;  // of arrays and objects in each other

// Error bad_json with line and column, or for what is nested deeper.
Result<Json> parse_json(std::string_view text);

// Of a file of the user's: the error has the place in it, and `way_out` as its hint.
Result<Json> parse_json_file(std::string_view text, const std::filesystem::path& file, std::string_view way_out);

}  // namespace solstice
