#include <gtest/gtest.h>

#include <set>

#include "families/family.h"

namespace solstice::families {
namespace {

TEST(Families, EveryFamilyOfTheDesignIsDeclared) {
  for (const char* name :
       {"gemm", "conv", "rows", "map", "reduce", "window", "scan", "attention", "recurrent", "cuda", "torch"}) {
    ASSERT_NE(find_family(name), nullptr) << name;
  }
}

TEST(Families, KnobTablesAreComplete) {
  for (const Family* family : all_families()) {
    std::set<std::string> names;
    for (const KnobSpec& knob : family->knobs()) {
      EXPECT_TRUE(names.insert(knob.name).second) << family->name << " " << knob.name;
      EXPECT_FALSE(knob.help.empty()) << family->name << " " << knob.name;
      EXPECT_TRUE(!knob.values.empty() || !knob.range.empty() || knob.type == "bool")
          << family->name << " " << knob.name;
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
  check_knobs(*find_family("rows"), kernel, {}, diagnostics);
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
    check_knobs(*find_family("rows"), kernel, {}, diagnostics);
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

// What `check` says of one knob of a family.
std::string said_of(const char* family, const char* knob, const ir::KnobValue& value) {
  ir::Kernel kernel;
  kernel.name = "k";
  kernel.family = family;
  kernel.knobs.set(knob, value);
  Diagnostics diagnostics;
  check_knobs(*find_family(family), kernel, {}, diagnostics);
  return diagnostics.size() == 0 ? "" : diagnostics.all()[0].message + "; " + diagnostics.all()[0].hint;
}

TEST(Families, SizesHaveAsManyExtentsAsTheyMean) {
  for (const char* family : {"gemm", "conv"}) {
    EXPECT_EQ(said_of(family, "tile", ir::KnobValue::of_size({128, 128})), "");
    EXPECT_EQ(said_of(family, "tile", ir::KnobValue::of_size({128, 128, 64})), "");
    EXPECT_NE(said_of(family, "tile", ir::KnobValue::of_size({128, 128, 64, 1})), "");
    EXPECT_NE(said_of(family, "tile", ir::KnobValue::of_int(128)), "");
    EXPECT_NE(said_of(family, "tile", ir::KnobValue::of_size({(int64_t{1} << 32) + 128, 128})), "");
    EXPECT_NE(said_of(family, "cluster", ir::KnobValue::of_int(2)), "");
  }
  EXPECT_NE(said_of("attention", "tile", ir::KnobValue::of_int(3)), "");
  EXPECT_EQ(said_of("window", "tile", ir::KnobValue::of_int(32)), "");
  EXPECT_NE(said_of("window", "tile", ir::KnobValue::of_size({0, 8})), "");
}

TEST(Families, NumbersLieInTheirRange) {
  EXPECT_NE(said_of("attention", "split", ir::KnobValue::of_int(65)).find("legal: 1..64"), std::string::npos);
  EXPECT_EQ(said_of("attention", "split", ir::KnobValue::of_int(64)), "");
  EXPECT_NE(said_of("gemm", "group", ir::KnobValue::of_int(0)), "");
  EXPECT_NE(said_of("gemm", "stages", ir::KnobValue::of_int((int64_t{1} << 32) + 4)), "");
}

TEST(Families, WhatIsNoValueIsAutoForFurtherRules) {
  ir::Kernel kernel;
  kernel.name = "k";
  kernel.family = "gemm";
  ir::KnobValue set;
  set.kind = ir::KnobValue::Kind::kSet;
  set.items = {ir::KnobValue::of_int(4), ir::KnobValue::of_name("four")};
  kernel.knobs.set("math", ir::KnobValue::of_name("fp4"));
  kernel.knobs.set("stages", set);
  Diagnostics diagnostics;
  EXPECT_EQ(ir::to_text(check_knobs(*find_family("gemm"), kernel, {}, diagnostics)), "math=auto, stages={4}");
  EXPECT_EQ(diagnostics.size(), 2u);
}

TEST(Families, ASpaceIsTheProductOfItsSets) {
  const auto set = [](std::vector<ir::KnobValue> items) {
    ir::KnobValue out;
    out.kind = ir::KnobValue::Kind::kSet;
    out.items = std::move(items);
    return out;
  };
  ir::KnobValue tuple;
  tuple.kind = ir::KnobValue::Kind::kTuple;
  tuple.items = {ir::KnobValue::of_size({64, 64}), ir::KnobValue::of_size({1, 1})};
  ir::Knobs space;
  space.set("stages", set({ir::KnobValue::of_int(3), ir::KnobValue::of_int(4)}));
  space.set("(tile, cluster)", set({tuple, tuple}));
  space.set("math", ir::KnobValue::of_name("fp16"));
  EXPECT_TRUE(ir::is_space(space));
  EXPECT_EQ(ir::count_settings(space), 4u);
  const std::vector<ir::Knobs> settings = ir::settings_of(space, 3);
  ASSERT_EQ(settings.size(), 3u);
  EXPECT_EQ(ir::to_text(settings[0]), "stages=3, tile=64x64, cluster=1x1, math=fp16");
  EXPECT_EQ(ir::to_text(settings[2]), "stages=4, tile=64x64, cluster=1x1, math=fp16");
}

}  // namespace
}  // namespace solstice::families
