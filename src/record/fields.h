// Records: one struct, one list of fields, from which come the JSON writer, the strict reader and the schema page.
//
// A record is a struct with
//   static constexpr const char* kSchema = "solstice.plan/1";      // top-level records only
//   static auto fields() { return std::make_tuple(field("name", &T::name, "what it is"), ...); }
// A field is required on reading unless it is declared with optional_field(), which keeps the member's initial value.
// known_field() is optional too, and writes null for a number that is not known.
// Unknown keys are ignored in records that programs write. Supported members: bool, integers, double, string, Json,
// quantities of base/units.h, DType, enums with enum_names(), other records, and vectors, optionals and
// string-keyed maps of these.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "record/json_place.h"

namespace solstice {

template <typename T, typename M>
struct Field {
  const char* name;
  M T::*member;
  const char* doc;
  bool required;
};

// Of a number whose 0 stands for one that is not known: null in JSON, both ways.
template <typename T, typename M>
struct KnownField {
  const char* name;
  M T::*member;
  const char* doc;
};

template <typename T, typename M>
constexpr Field<T, M> field(const char* name, M T::*member, const char* doc) {
  return {name, member, doc, true};
}

template <typename T, typename M>
constexpr Field<T, M> optional_field(const char* name, M T::*member, const char* doc) {
  return {name, member, doc, false};
}

template <typename T, typename M>
constexpr KnownField<T, M> known_field(const char* name, M T::*member, const char* doc) {
  return {name, member, doc};
}

// An enum E is a record member when `std::vector<const char*> enum_names(E)` (found by argument-dependent lookup)
// lists the names of 0, 1, 2, ...
template <typename E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  enum_names(e);
};

// "near_bound". Of an enum whose names are literals, as all are.
template <NamedEnum E>
const char* enum_name(E value) {
  return enum_names(value)[static_cast<size_t>(value)];
}

template <typename T>
concept Record = requires {
  T::fields();
};

namespace record_detail {

Error wrong_type(const std::string& path, const char* wanted, const Json& got);
Error unknown_name(const std::string& path, const std::string& got, const std::vector<const char*>& names);
Error missing(const std::string& path, const char* name);
Error wrong_schema(const std::string& got, const std::string& wanted);

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <typename T>
struct IsQuantity : std::false_type {};
template <typename Tag>
struct IsQuantity<Quantity<Tag>> : std::true_type {};
template <typename T>
struct IsArray : std::false_type {};
template <typename T, size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};

template <typename R, typename T, typename M>
Json write_field(const R& record, const Field<T, M>& f);
template <typename R, typename T, typename M>
Json write_field(const R& record, const KnownField<T, M>& f);

template <typename T>
Json write(const T& value) {
  if constexpr (std::is_same_v<T, Json>) {
    return value;
  } else if constexpr (std::is_same_v<T, DType>) {
    return Json(name_of(value));
  } else if constexpr (NamedEnum<T>) {
    return Json(enum_name(value));
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    return Json(value);
  } else if constexpr (std::is_integral_v<T>) {
    return Json(static_cast<int64_t>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return Json(static_cast<double>(value));
  } else if constexpr (IsQuantity<T>::value) {
    return Json(value.value);
  } else if constexpr (IsOptional<T>::value) {
    return value ? write(*value) : Json();
  } else if constexpr (IsVector<T>::value || IsArray<T>::value) {
    Json out = Json::array();
    for (const auto& item : value) out.push(write(item));
    return out;
  } else if constexpr (IsMap<T>::value) {
    Json out = Json::object();
    for (const auto& [key, item] : value) out.set(key, write(item));
    return out;
  } else {
    static_assert(Record<T>, "not a record member type");
    Json out = Json::object();
    if constexpr (requires { T::kSchema; }) out.set("schema", T::kSchema);
    std::apply([&](const auto&... f) { (out.set(f.name, write_field(value, f)), ...); }, T::fields());
    return out;
  }
}

template <typename R, typename T, typename M>
Json write_field(const R& record, const Field<T, M>& f) {
  return write(record.*(f.member));
}

template <typename R, typename T, typename M>
Json write_field(const R& record, const KnownField<T, M>& f) {
  const M& value = record.*(f.member);
  return value == M{} ? Json() : write(value);
}

template <typename T>
std::optional<Error> read(const Json& in, const std::string& path, T& out);

template <typename T, typename M>
std::optional<Error> read_field(const Json& in, const std::string& path, T& out, const Field<T, M>& f) {
  const Json* found = in.find(f.name);
  if (!found) return f.required ? std::optional(missing(path, f.name)) : std::nullopt;
  return read(*found, path + "." + f.name, out.*(f.member));
}

template <typename T, typename M>
std::optional<Error> read_field(const Json& in, const std::string& path, T& out, const KnownField<T, M>& f) {
  const Json* found = in.find(f.name);
  if (!found || found->is_null()) return std::nullopt;
  return read(*found, path + "." + f.name, out.*(f.member));
}

template <typename T>
std::optional<Error> read_record(const Json& in, const std::string& path, T& out) {
  if (!in.is_object()) return wrong_type(path, "an object", in);
  if constexpr (requires { T::kSchema; }) {
    if (in.at("schema").as_string() != T::kSchema) return wrong_schema(in.at("schema").as_string(), T::kSchema);
  }
  std::optional<Error> error;
  std::apply([&](const auto&... f) { (void)((error = read_field(in, path, out, f), !error) && ...); }, T::fields());
  return error;
}

template <typename T>
std::optional<Error> read(const Json& in, const std::string& path, T& out) {
  if constexpr (std::is_same_v<T, Json>) {
    out = in;
  } else if constexpr (std::is_same_v<T, DType>) {
    const std::optional<DType> found = dtype_from_name(in.as_string());
    if (!found) return wrong_type(path, "a dtype", in);
    out = *found;
  } else if constexpr (NamedEnum<T>) {
    const auto names = enum_names(T{});
    for (size_t i = 0; i < names.size(); ++i) {
      if (in.as_string() == names[i]) {
        out = static_cast<T>(i);
        return std::nullopt;
      }
    }
    return unknown_name(path, in.as_string(), names);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!in.is_bool()) return wrong_type(path, "true or false", in);
    out = in.as_bool();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!in.is_string()) return wrong_type(path, "a string", in);
    out = in.as_string();
  } else if constexpr (std::is_integral_v<T>) {
    if (!in.is_int()) return wrong_type(path, "an integer", in);
    out = static_cast<T>(in.as_int());
  } else if constexpr (std::is_floating_point_v<T> || IsQuantity<T>::value) {
    if (!in.is_number() && !in.is_string()) return wrong_type(path, "a number", in);
    out = T(in.as_double());
  } else if constexpr (IsOptional<T>::value) {
    if (in.is_null()) {
      out.reset();
      return std::nullopt;
    }
    return read(in, path, out.emplace());
  } else if constexpr (IsVector<T>::value) {
    if (!in.is_array()) return wrong_type(path, "a list", in);
    out.clear();
    for (size_t i = 0; i < in.size(); ++i) {
      typename T::value_type item{};
      if (auto error = read(in.at(i), path + "[" + std::to_string(i) + "]", item)) return error;
      out.push_back(std::move(item));
    }
  } else if constexpr (IsArray<T>::value) {
    if (!in.is_array() || in.size() != out.size()) return wrong_type(path, "a list of fixed length", in);
    for (size_t i = 0; i < in.size(); ++i) {
      if (auto error = read(in.at(i), path + "[" + std::to_string(i) + "]", out[i])) return error;
    }
  } else if constexpr (IsMap<T>::value) {
    if (!in.is_object()) return wrong_type(path, "an object", in);
    out.clear();
    for (const auto& [key, value] : in.members()) {
      if (auto error = read(value, path + "." + key, out[key])) return error;
    }
  } else {
    static_assert(Record<T>, "not a record member type");
    return read_record(in, path, out);
  }
  return std::nullopt;
}

}  // namespace record_detail

template <Record T>
Json to_json(const T& record) {
  return record_detail::write(record);
}

// Errors: bad_record, naming the path of the member (Error::member too) and what was expected there.
template <Record T>
Result<T> from_json(const Json& json) {
  T out{};
  if (auto error = record_detail::read_record(json, "", out)) return *std::move(error);
  return out;
}

// Of a file of the user's: the errors of parse_json_file() and from_json(), with file and line, and `way_out` as their
// hint. `first_line`: of the text in the file.
template <Record T>
Result<T> from_json_file(std::string_view text, const std::filesystem::path& file, std::string_view way_out,
                         int first_line = 1) {
  Result<Json> json = parse_json_file(text, file, way_out);
  if (!json.ok() && json.error().line > 0) json.error().line += first_line - 1;
  if (!json.ok()) return std::move(json).error();
  Result<T> record = from_json<T>(*json);
  if (record.ok()) return record;
  return in_json_file(std::move(record).error(), text, file, way_out, first_line);
}

}  // namespace solstice
