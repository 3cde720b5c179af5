// Machine code of known kernels (tests/golden/sass).
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "base/file.h"
#include "diagnose/sass/facts.h"

namespace solstice::diagnose::testing {

inline std::string sass_text(const std::string& name) {
  const Result<std::string> text =
      read_file(std::filesystem::path(SOLSTICE_SOURCE_DIR) / "tests/golden/sass" / (name + ".sass"));
  EXPECT_TRUE(text.ok()) << text.error().text();
  return text.ok() ? *text : "";
}

inline std::map<std::string, SassFacts> golden_facts(const std::string& name) {
  const auto facts = sass_of(sass_text(name));
  EXPECT_TRUE(facts.ok()) << facts.error().text();
  return facts.ok() ? *facts : std::map<std::string, SassFacts>();
}

inline SassFacts golden_facts(const std::string& name, const std::string& entry) {
  const auto all = golden_facts(name);
  EXPECT_TRUE(all.count(entry)) << entry;
  return all.count(entry) ? all.at(entry) : SassFacts();
}

inline int64_t count_of(const std::map<std::string, int64_t>& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace solstice::diagnose::testing
