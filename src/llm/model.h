// Models as data: models/NAME.toml says what a provider calls a model, what it can do and what it costs. Nothing of
// that is written in code. A figure that a file leaves out is unknown, and so is what is computed from it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/message.h"

namespace solstice::llm {

// US dollars for a million tokens.
struct Price {
  std::string date;    // when it was read, "2026-01-31"
  std::string source;  // and where
  std::optional<Dollars> input, cached, written, output;
  std::optional<int64_t> up_to_input;  // tokens of a prompt; what a longer one costs is unknown
};

struct Model {
  std::string name;      // "gpt-5-mini"; "" where none was chosen
  std::string provider;  // "openai"
  std::string id;        // the provider's name of it
  std::string title;
  std::optional<int64_t> context;     // tokens
  std::optional<int64_t> max_output;  // tokens
  bool json_schema = false;           // takes a schema of the answer as a parameter
  bool temperature = false;           // takes a temperature; else it is left out
  Price price;
  std::filesystem::path file;
};

// None where tokens or prices are unknown.
std::optional<Dollars> cost_of(const Price& price, const Usage& usage);
// The most that so many tokens can cost.
std::optional<Dollars> most_cost(const Price& price, int64_t input, int64_t output);

// A name is looked up in the model folders, a path (with '/' or ending in ".toml") is read as it is. Errors: not_found
// (says how to add one), bad_model (file, line, the closest legal key).
Result<Model> load_model(std::string_view name_or_path);
Result<Model> parse_model(std::string_view toml, const std::filesystem::path& file);
Result<std::vector<std::string>>
list_models();  // sorted; a file of the user's folder hides the shipped one of its name
// $XDG_CONFIG_HOME/solstice/models (default ~/.config), then models/ of the program's data.
std::vector<std::filesystem::path> model_folders();

}  // namespace solstice::llm
