// Prompts as sections: files of prompts/ with {{placeholders}} (prompts/README.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace solstice::agents {

class Prompts {
 public:
  using Values = std::map<std::string, std::string, std::less<>>;

  // prompts/ of the program's data. Errors: those of reading; bad_argument, naming the file, for a first line or a
  // placeholder that is not well-formed.
  static Result<Prompts> load();
  static Result<Prompts> load(const std::filesystem::path& folder);

  // The section with its values filled in, which end with a line break; cut at the end of a line where it is longer
  // than its file allows. Errors: not_found; internal where values and placeholders are not the same.
  Result<std::string> section(std::string_view name, const Values& values = {}) const;

 private:
  struct Section {
    std::string text;
    int64_t most = 0;  // tokens; 0: any
  };
  std::map<std::string, Section, std::less<>> sections_;
};

// At most so many tokens, as budgets estimate them (llm/ledger.h), cut at the end of a line; says how many lines were
// left out.
std::string cut_to(const std::string& text, int64_t tokens);

}  // namespace solstice::agents
