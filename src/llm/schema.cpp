#include "llm/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace solstice::llm {
namespace {

constexpr size_t kMostViolations = 10;
constexpr std::array<std::string_view, 7> kTypes = {"object",  "array",   "string", "number",
                                                    "integer", "boolean", "null"};
constexpr std::array<std::string_view, 7> kStructure = {"type",  "properties", "required", "additionalProperties",
                                                        "items", "enum",       "const"};
constexpr std::array<std::string_view, 6> kLimits = {"minimum",   "maximum",  "minLength",
                                                     "maxLength", "minItems", "maxItems"};
constexpr std::array<std::string_view, 5> kNotes = {"title", "description", "default", "examples", "$schema"};

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "integer")
    return value.is_int() || (value.is_number() && std::trunc(value.as_double()) == value.as_double());
  if (type == "boolean") return value.is_bool();
  return value.is_null();
}

// One name or a list of them.
Json::Array listed(const Json& value) { return value.is_array() ? value.items() : Json::Array{value}; }

std::string joined(const Json::Array& values) {
  std::vector<std::string> out;
  for (const Json& value : values) out.push_back(value.is_string() ? value.as_string() : value.dump());
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string clipped(const Json& value) {
  std::string text = value.dump();
  if (text.size() <= 80) return text;
  size_t end = 77;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // no half characters
  return text.substr(0, end) + "...";
}

// Characters, not bytes.
int64_t length_of(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xc0) != 0x80; });
}

class Validator {
 public:
  std::vector<Violation> found;

  void check(const Json& value, const Json& schema, const std::string& path) {
    if (const Json* type = schema.find("type"); type && !is_typed(value, *type)) {
      return report(path, joined(listed(*type)), value);
    }
    if (const Json* values = schema.find("enum");
        values && std::find(values->items().begin(), values->items().end(), value) == values->items().end()) {
      report(path, "one of " + joined(values->items()), value);
    }
    if (const Json* only = schema.find("const"); only && !(*only == value)) report(path, clipped(*only), value);
    if (value.is_object()) check_members(value, schema, path);
    if (value.is_array()) check_items(value, schema, path);
    if (value.is_string())
      check_range(length_of(value.as_string()), schema, "minLength", "maxLength", "characters", path, value);
    if (value.is_number()) check_range(value.as_double(), schema, "minimum", "maximum", "", path, value);
  }

 private:
  static bool is_typed(const Json& value, const Json& type) {
    const Json::Array types = listed(type);
    return std::any_of(types.begin(), types.end(), [&](const Json& t) { return has_type(value, t.as_string()); });
  }

  void report(const std::string& path, std::string expected, const Json& got) {
    if (found.size() < kMostViolations) found.push_back({path, std::move(expected), clipped(got)});
  }

  template <typename N>
  void check_range(N number, const Json& schema, const char* low, const char* high, const char* unit,
                   const std::string& path, const Json& value) {
    const Json& least = schema.at(low);
    const Json& most = schema.at(high);
    const std::string of = *unit ? std::string(" ") + unit : "";
    if (least.is_number() && static_cast<double>(number) < least.as_double())
      report(path, fmt::format("at least {}{}", least.dump(), of), value);
    if (most.is_number() && static_cast<double>(number) > most.as_double())
      report(path, fmt::format("at most {}{}", most.dump(), of), value);
  }

  void check_members(const Json& value, const Json& schema, const std::string& path) {
    for (const Json& name : schema.at("required").items()) {
      if (!value.find(name.as_string())) report(path, fmt::format("a member `{}`", name.as_string()), value);
    }
    const Json& properties = schema.at("properties");
    const Json* others = schema.find("additionalProperties");
    for (const auto& [name, member] : value.members()) {
      if (const Json* known = properties.find(name)) {
        check(member, *known, path + "." + name);
      } else if (others && others->is_bool() && !others->as_bool()) {
        std::vector<std::string> names;
        for (const auto& [legal, ignored] : properties.members()) names.push_back(legal);
        report(path + "." + name, fmt::format("no such member; there are {}", fmt::join(names, ", ")), member);
      } else if (others && others->is_object()) {
        check(member, *others, path + "." + name);
      }
    }
  }

  void check_items(const Json& value, const Json& schema, const std::string& path) {
    check_range(static_cast<int64_t>(value.size()), schema, "minItems", "maxItems", "items", path, value);
    if (const Json* items = schema.find("items")) {
      for (size_t i = 0; i < value.size(); ++i) check(value.at(i), *items, fmt::format("{}[{}]", path, i));
    }
  }
};

Error bad_schema(const std::string& path, const std::string& why, std::string hint = "") {
  return fail(Code::bad_argument, fmt::format("the schema at {}: {}", path, why), std::move(hint));
}

Status check_keyword(const std::string& name, const Json& value, const std::string& path) {
  const auto wants = [&](bool right, const char* what) {
    return right ? success()
                 : Status(bad_schema(path, fmt::format("`{}` should be {}, not {}", name, what, clipped(value))));
  };
  if (name == "type") {
    for (const Json& type : listed(value)) {
      if (!is_one_of(type.as_string(), kTypes))
        return bad_schema(path, fmt::format("`type` is {}", clipped(type)),
                          fmt::format("legal are {}", fmt::join(kTypes, ", ")));
    }
    return wants(!listed(value).empty(), "a type or a list of them");
  }
  if (name == "required") {
    const bool names =
        std::all_of(value.items().begin(), value.items().end(), [](const Json& n) { return n.is_string(); });
    return wants(value.is_array() && names, "a list of names");
  }
  if (name == "enum") return wants(value.size() > 0 && value.is_array(), "a list of values");
  if (name == "properties") return wants(value.is_object(), "an object");
  if (name == "items") return wants(value.is_object(), "a schema");
  if (name == "additionalProperties") return wants(value.is_object() || value.is_bool(), "a schema, true or false");
  if (is_one_of(name, kLimits)) return wants(value.is_number(), "a number");
  if (name == "const" || is_one_of(name, kNotes)) return success();
  return bad_schema(path, fmt::format("`{}` is not supported", name),
                    fmt::format("there are {}, {}, {}", fmt::join(kStructure, ", "), fmt::join(kLimits, ", "),
                                fmt::join(kNotes, ", ")));
}

Status check_part(const Json& schema, const std::string& path) {
  if (!schema.is_object()) return bad_schema(path, "it should be an object, not " + clipped(schema));
  for (const auto& [name, value] : schema.members()) SOLSTICE_CHECK(check_keyword(name, value, path));
  for (const auto& [name, member] : schema.at("properties").members())
    SOLSTICE_CHECK(check_part(member, path + ".properties." + name));
  if (const Json* items = schema.find("items")) SOLSTICE_CHECK(check_part(*items, path + ".items"));
  if (const Json& others = schema.at("additionalProperties"); others.is_object())
    SOLSTICE_CHECK(check_part(others, path + ".additionalProperties"));
  return success();
}

}  // namespace

std::string Violation::text() const { return fmt::format("{}: expected {}; got {}", path, expected, got); }

Status check_schema(const Json& schema) { return check_part(schema, "$"); }

std::vector<Violation> validate(const Json& value, const Json& schema) {
  Validator validator;
  validator.check(value, schema, "$");
  return std::move(validator.found);
}

bool is_strict(const Json& schema) {
  for (const auto& [name, value] : schema.members()) {
    if (is_one_of(name, kLimits) || name == "default" || name == "examples" || name == "$schema") return false;
  }
  const Json& properties = schema.at("properties");
  if (schema.at("type") == Json("object")) {
    const Json& others = schema.at("additionalProperties");
    if (!others.is_bool() || others.as_bool() || schema.at("required").size() != properties.size()) return false;
  }
  const bool members = std::all_of(properties.members().begin(), properties.members().end(),
                                   [](const auto& m) { return is_strict(m.second); });
  return members && (!schema.find("items") || is_strict(schema.at("items")));
}

}  // namespace solstice::llm
