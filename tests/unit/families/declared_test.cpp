#include <gtest/gtest.h>

#include <set>

#include "families/family.h"

namespace solstice::families {
namespace {

TEST(Families, EveryFamilyOfTheDesignIsDeclared) {
  for (const char* name : {"gemm", "conv", "rows", "map", "reduce", "window", "scan", "attention", "recurrent", "cuda", "torch"}) {
    ASSERT_NE(find_family(name), nullptr) << name;
  }
}

TEST(Families, KnobTablesAreComplete) {
  for (const Family* family : all_families()) {
    std::set<std::string> names;
    for (const KnobSpec& knob : family->knobs()) {
      EXPECT_TRUE(names.insert(knob.name).second) << family->name << " " << knob.name;
      EXPECT_FALSE(knob.help.empty()) << family->name << " " << knob.name;
      EXPECT_TRUE(!knob.values.empty() || !knob.range.empty() || knob.type == "bool") << family->name << " " << knob.name;
    }
    EXPECT_FALSE(family->help.empty());
  }
}

TEST(Families, ADeclaredFamilySaysWhatIsBuilt) {
  ir::Program program;
  ir::Kernel kernel;
  kernel.name = "pool";
  kernel.family = "window";
  const Match match = find_family("window")->match(program, kernel);
  EXPECT_TRUE(match.ok);
  EXPECT_FALSE(match.built);
  EXPECT_NE(match.reason.find("family `window` is not built yet; built are"), std::string::npos);
  EXPECT_NE(match.reason.find("`map`"), std::string::npos);
}

TEST(Families, UnknownKnobsAndValuesNameTheLegalOnes) {
  ir::Kernel kernel;
  kernel.name = "k";
  kernel.family = "rows";
  kernel.knobs.set("treads", ir::KnobValue::of_int(256));
  kernel.knobs.set("residency", ir::KnobValue::of_name("moon"));
  Diagnostics diagnostics;
  check_knobs(*find_family("rows"), kernel, diagnostics);
  ASSERT_EQ(diagnostics.size(), 2u);
  EXPECT_EQ(diagnostics.all()[0].code, "E101");
  EXPECT_NE(diagnostics.all()[0].hint.find("threads"), std::string::npos);
  EXPECT_EQ(diagnostics.all()[1].code, "E102");
  EXPECT_NE(diagnostics.all()[1].hint.find("registers"), std::string::npos);
}

TEST(Families, TiedKnobsAreCheckedOneByOne) {
  const auto found = [](std::vector<ir::KnobValue> tuple) {
    ir::KnobValue value;
    value.kind = ir::KnobValue::Kind::kTuple;
    value.items = std::move(tuple);
    ir::Kernel kernel;
    kernel.name = "k";
    kernel.family = "rows";
    kernel.knobs.set("(threads, cluster)", value);
    Diagnostics diagnostics;
    check_knobs(*find_family("rows"), kernel, diagnostics);
    return diagnostics;
  };
  EXPECT_EQ(found({ir::KnobValue::of_int(256), ir::KnobValue::of_int(2)}).size(), 0u);
  const Diagnostics one = found({ir::KnobValue::of_int(256), ir::KnobValue::of_int(3)});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_NE(one.all()[0].message.find("cluster=3"), std::string::npos);
  const Diagnostics few = found({ir::KnobValue::of_int(256)});
  ASSERT_EQ(few.size(), 1u);
  EXPECT_NE(few.all()[0].message.find("2 tied knobs"), std::string::npos);
}

}  // namespace
}  // namespace solstice::families
