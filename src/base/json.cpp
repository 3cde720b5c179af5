#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace solstice {
namespace {

using Parsed = nlohmann::ordered_json;

Json from_parsed(const Parsed& in) {
  switch (in.type()) {
    case Parsed::value_t::boolean:
      return Json(in.get<bool>());
    case Parsed::value_t::number_integer:
      return Json(in.get<int64_t>());
    case Parsed::value_t::number_unsigned:
      return Json(static_cast<int64_t>(in.get<uint64_t>()));
    case Parsed::value_t::number_float:
      return Json(in.get<double>());
    case Parsed::value_t::string:
      return Json(in.get<std::string>());
    case Parsed::value_t::array: {
      Json::Array items;
      items.reserve(in.size());
      for (const Parsed& item : in) items.push_back(from_parsed(item));
      return Json(std::move(items));
    }
    case Parsed::value_t::object: {
      Json::Object members;
      members.reserve(in.size());
      for (const auto& [key, value] : in.items()) members.emplace_back(key, from_parsed(value));
      return Json(std::move(members));
    }
    default:
      return Json();
  }
}

Parsed to_parsed(const Json& in) {
  if (in.is_bool()) return in.as_bool();
  if (in.is_int()) return in.as_int();
  if (in.is_number()) {
    const double v = in.as_double();
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
    return v;
  }
  if (in.is_string()) return in.as_string();
  if (in.is_array()) {
    Parsed out = Parsed::array();
    for (const Json& item : in.items()) out.push_back(to_parsed(item));
    return out;
  }
  if (in.is_object()) {
    Parsed out = Parsed::object();
    for (const auto& [key, value] : in.members()) out[key] = to_parsed(value);
    return out;
  }
  return nullptr;
}

// Reading a value, and its end, recurse into it.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      if (++depth > kDeepestJson) return true;
    } else if (!quoted && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

template <typename T>
const T& empty() {
  static const T value{};
  return value;
}

}  // namespace

bool Json::as_bool(bool otherwise) const {
  const bool* v = std::get_if<bool>(&state_);
  return v ? *v : otherwise;
}

int64_t Json::as_int(int64_t otherwise) const {
  const int64_t* v = std::get_if<int64_t>(&state_);
  return v ? *v : otherwise;
}

double Json::as_double(double otherwise) const {
  if (const double* v = std::get_if<double>(&state_)) return *v;
  if (const int64_t* v = std::get_if<int64_t>(&state_)) return static_cast<double>(*v);
  if (const std::string* v = std::get_if<std::string>(&state_)) {
    if (*v == "inf") return std::numeric_limits<double>::infinity();
    if (*v == "-inf") return -std::numeric_limits<double>::infinity();
    if (*v == "nan") return std::numeric_limits<double>::quiet_NaN();
  }
  return otherwise;
}

const std::string& Json::as_string() const {
  const std::string* v = std::get_if<std::string>(&state_);
  return v ? *v : empty<std::string>();
}

const Json::Array& Json::items() const {
  const Array* v = std::get_if<Array>(&state_);
  return v ? *v : empty<Array>();
}

const Json::Object& Json::members() const {
  const Object* v = std::get_if<Object>(&state_);
  return v ? *v : empty<Object>();
}

const Json* Json::find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

const Json& Json::at(std::string_view key) const {
  const Json* found = find(key);
  return found ? *found : empty<Json>();
}

const Json& Json::at(size_t index) const { return index < items().size() ? items()[index] : empty<Json>(); }

size_t Json::size() const { return is_object() ? members().size() : items().size(); }

Json& Json::set(std::string_view key, Json value) {
  if (!is_object()) state_ = Object{};
  Object& all = std::get<Object>(state_);
  for (Member& member : all) {
    if (member.first == key) {
      member.second = std::move(value);
      return *this;
    }
  }
  all.emplace_back(std::string(key), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  if (!is_array()) state_ = Array{};
  std::get<Array>(state_).push_back(std::move(value));
  return *this;
}

std::string Json::dump(int indent) const {
  return to_parsed(*this).dump(indent, ' ', false, Parsed::error_handler_t::replace);
}

Json text_list(const std::vector<std::string>& texts) { return Json(Json::Array(texts.begin(), texts.end())); }

namespace {

struct Mistake {
  std::string what;
  int line = 0, column = 0;  // 0: of the whole text
};

// The library's position is one byte behind the one at fault.
Mistake mistake_at(std::string_view text, size_t behind) {
  if (text.empty()) return {"it is empty"};
  const size_t at = std::min(behind > 0 ? behind - 1 : 0, text.size());
  const std::string_view before = text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t column = at - (before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1) + 1;
  return {at == text.size() ? "it ends too early" : "nothing legal begins here", static_cast<int>(line),
          static_cast<int>(column)};
}

// The value, or what is wrong with the text.
std::variant<Json, Mistake> read_json(std::string_view text) {
  if (is_too_deep(text)) return Mistake{"it is nested more than " + std::to_string(kDeepestJson) + " deep"};
  // The library's own exceptions end here.
  try {
    return from_parsed(Parsed::parse(text));
  } catch (const Parsed::parse_error& e) {
    return mistake_at(text, e.byte);
  } catch (const Parsed::exception&) {
    return Mistake{"a number or a text of it cannot be held"};
  }
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  std::variant<Json, Mistake> found = read_json(text);
  if (Json* const json = std::get_if<Json>(&found)) return std::move(*json);
  const Mistake& wrong = std::get<Mistake>(found);
  const std::string where =
      wrong.line > 0 ? "line " + std::to_string(wrong.line) + ", column " + std::to_string(wrong.column) + ": " : "";
  return fail(Code::bad_json, "not valid JSON: " + where + wrong.what);
}

Result<Json> parse_json_file(std::string_view text, const std::filesystem::path& file, std::string_view way_out) {
  std::variant<Json, Mistake> found = read_json(text);
  if (Json* const json = std::get_if<Json>(&found)) return std::move(*json);
  const Mistake& wrong = std::get<Mistake>(found);
  Error error = fail(Code::bad_json, "not valid JSON: " + wrong.what, std::string(way_out));
  error.file = file.string();
  error.line = wrong.line;
  error.column = wrong.column;
  error.width = 1;
  return error;
}

}  // namespace solstice
