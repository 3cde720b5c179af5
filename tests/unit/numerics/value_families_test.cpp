#include "numerics/value_families.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"

namespace solstice::numerics {
namespace {

// The oracle makes the values, so both tables must name the same families.
TEST(ValueFamilies, AreThoseOfTheOracle) {
  const std::string python =
      read_file(std::string(SOLSTICE_SOURCE_DIR) + "/python/solstice/oracle/families.py").value();
  const size_t begin = python.find("FILLS: dict");
  const std::string fills = python.substr(begin, python.find("\n}", begin) - begin);
  size_t entries = 0;
  for (size_t at = fills.find(": _"); at != std::string::npos; at = fills.find(": _", at + 1)) ++entries;
  for (const ValueFamily& family : value_families()) {
    if (family.name == "default") continue;
    const bool named = fills.find('"' + std::string(family.name) + '"') != std::string::npos;
    EXPECT_TRUE(named || family.name == "balanced_outliers") << family.name;
  }
  EXPECT_EQ(entries + 1, value_families().size());
}

TEST(ValueFamilies, HaveUniqueNamesAndSayWhatTheyFind) {
  std::set<std::string_view> names;
  for (const ValueFamily& family : value_families()) {
    EXPECT_TRUE(names.insert(family.name).second);
    EXPECT_FALSE(family.help.empty());
    EXPECT_FALSE(family.finds.empty());
    EXPECT_EQ(find_value_family(family.name), &family);
  }
  EXPECT_EQ(find_value_family("nonsense"), nullptr);
}

}  // namespace
}  // namespace solstice::numerics
