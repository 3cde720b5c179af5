#include "llm/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <variant>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/toml.h"

namespace solstice::llm {
namespace {

namespace fs = std::filesystem;

using Member = std::variant<std::string*, bool*, std::optional<int64_t>*, std::optional<Dollars>*>;
struct Key {
  std::string path;
  bool required;
  Member member;
};

std::vector<Key> keys_of(Model& m) {
  Price& p = m.price;
  return {{"provider", true, &m.provider},
          {"id", true, &m.id},
          {"title", false, &m.title},
          {"context", false, &m.context},
          {"max_output", false, &m.max_output},
          {"json_schema", true, &m.json_schema},
          {"temperature", true, &m.temperature},
          {"usd_per_million.date", false, &p.date},
          {"usd_per_million.source", false, &p.source},
          {"usd_per_million.input", false, &p.input},
          {"usd_per_million.cached", false, &p.cached},
          {"usd_per_million.written", false, &p.written},
          {"usd_per_million.output", false, &p.output},
          {"usd_per_million.up_to_input", false, &p.up_to_input}};
}

const char* store(const Json& value, std::string& out) {
  out = value.as_string();
  return value.is_string() && !out.empty() ? nullptr : "a text";
}
const char* store(const Json& value, bool& out) {
  out = value.as_bool();
  return value.is_bool() ? nullptr : "true or false";
}
const char* store(const Json& value, std::optional<int64_t>& out) {
  out = value.as_int();
  return value.is_int() && *out > 0 ? nullptr : "a positive integer";
}
const char* store(const Json& value, std::optional<Dollars>& out) {
  out = Dollars(value.as_double());
  return value.is_number() && out->value >= 0 ? nullptr : "a price, a number that is not negative";
}

Error bad_model(const fs::path& file, int line, std::string message,
                std::string hint = "models/README.md has the keys") {
  Error error = fail(Code::bad_model, std::move(message), std::move(hint));
  error.file = file.string();
  error.line = line;
  return error;
}

Status read_entry(const TomlEntry& entry, const std::vector<Key>& keys, const fs::path& file) {
  std::vector<std::string> names;
  for (const Key& key : keys) {
    names.push_back(key.path);
    if (key.path != entry.path) continue;
    const char* wanted = std::visit([&](auto* member) { return store(entry.value, *member); }, key.member);
    if (wanted)
      return bad_model(file, entry.line, fmt::format("`{}` is {}, not {}", entry.path, entry.value.dump(), wanted));
    return success();
  }
  const std::string near = closest(entry.path, names);
  return bad_model(
      file, entry.line, fmt::format("no key `{}`", entry.path),
      near.empty() ? fmt::format("there are {}", fmt::join(names, ", ")) : fmt::format("did you mean `{}`?", near));
}

// A price of unknown age would be worse than none.
Status check_price(const Price& price, const fs::path& file) {
  if (!price.input && !price.cached && !price.written && !price.output) return success();
  if (price.date.empty() || price.source.empty())
    return bad_model(file, 0, "prices need `date` and `source` in [usd_per_million]");
  return success();
}

}  // namespace

Result<Model> parse_model(std::string_view toml, const fs::path& file) {
  Model model;
  model.name = file.stem().string();
  model.file = file;
  const std::vector<Key> keys = keys_of(model);
  SOLSTICE_TRY(const std::vector<TomlEntry> entries, parse_toml(toml, file, Code::bad_model));
  for (const TomlEntry& entry : entries) SOLSTICE_CHECK(read_entry(entry, keys, file));
  for (const Key& key : keys) {
    const bool given =
        std::any_of(entries.begin(), entries.end(), [&](const TomlEntry& e) { return e.path == key.path; });
    if (key.required && !given) return bad_model(file, 0, fmt::format("`{}` is missing", key.path));
  }
  SOLSTICE_CHECK(check_price(model.price, file));
  return model;
}

std::vector<fs::path> model_folders() {
  std::vector<fs::path> folders;
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config && *config) {
    folders.push_back(fs::path(config) / "solstice/models");
  } else if (home && *home) {
    folders.push_back(fs::path(home) / ".config/solstice/models");
  }
  if (const Result<fs::path> root = data_root(); root.ok()) folders.push_back(*root / "models");
  return folders;
}

Result<std::vector<std::string>> list_models() {
  std::set<std::string> names;
  for (const fs::path& folder : model_folders()) {
    std::error_code error;  // the user's folder need not exist
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
    }
  }
  if (names.empty()) SOLSTICE_CHECK(data_root());  // says why nothing was found
  return std::vector<std::string>(names.begin(), names.end());
}

Result<Model> load_model(std::string_view name) {
  fs::path file(name);
  if (name.find('/') == name.npos && file.extension() != ".toml") {
    std::error_code ignored;
    const std::vector<fs::path> folders = model_folders();
    const auto holds = [&](const fs::path& folder) {
      return fs::exists(folder / fmt::format("{}.toml", name), ignored);
    };
    const auto found = std::find_if(folders.begin(), folders.end(), holds);
    if (found == folders.end()) {
      SOLSTICE_TRY(const std::vector<std::string> names, list_models());
      return fail(Code::not_found, fmt::format("no model is called `{}`", name),
                  fmt::format("{}. To add one, write {} (models/README.md says how)", instead_of(name, names),
                              (folders.front() / fmt::format("{}.toml", name)).string()));
    }
    file = *found / fmt::format("{}.toml", name);
  }
  SOLSTICE_TRY(const std::string text, read_file(file));
  return parse_model(text, file);
}

}  // namespace solstice::llm
