#include "toolchain/ptx.h"

#include <gtest/gtest.h>

namespace solstice::toolchain {
namespace {

using Names = std::vector<std::string>;

TEST(Ptx, VariablesThatFunctionsUseLast) {
  const char* const text =
      ".version 9.0\n.target sm_90a\n"
      ".global .align 4 .u32 counter;\n"
      ".global .align 1 .b8 _ZN4cuda3std7nothingE[1];\n"
      ".visible .global .align 4 .b8 table[8] = {0, 0, 128, 63, 0, 0, 0, 64};\n"
      ".const .align 4 .b8 constants[4] = {0, 0, 128, 63};\n"
      ".visible .entry f(\n\t.param .u64 .ptr .global .align 4 f_param_0\n)\n{\n"
      "\tld.param.u64 %rd1, [f_param_0];\n\tld.const.f32 %f1, [constants];\n"
      "\tmov.u64 %rd2, table;\n\tst.global.u32 [counter+4], %r1;\n\tst.global.u32 [counter], %r1;\n}\n";
  EXPECT_EQ(lasting_variables(text), (Names{"table", "counter"}));
}

TEST(Ptx, AssemblyHidesNothing) {
  EXPECT_EQ(lasting_variables(".entry f() { // begin inline asm\n { .reg .u32 a; .global .u32 hidden; } /* \n */ }"),
            Names{"hidden"});
  EXPECT_EQ(lasting_variables(".global .u32 h;\n.entry f() { .pragma \"//\"; st.global.u32 [h], 1; }"), Names{"h"});
  EXPECT_EQ(lasting_variables(".global .u32 h;\n.entry f() { // h\n /* h */ .pragma \"h\"; }"), Names{});
}

TEST(Ptx, ConstantsHaveNoAddress) {
  const Names address = {"(address of a constant)"};
  EXPECT_EQ(lasting_variables(".const .u32 c;\n.entry f() { mov.u64 %rd1, c; cvta.const.u64 %rd2, %rd1; }"), address);
  EXPECT_EQ(lasting_variables(".const .u32 c;\n.entry f() { mov.u64 %rd1, generic(c); }"), address);
  EXPECT_EQ(lasting_variables(".const .u32 c;\n.entry f() { ld.const.u32 %r1, [c]; cvta.to.global.u64 %rd1, %rd2; }"),
            Names{});
}

TEST(Ptx, AnyTextIsRead) {
  for (const char* text :
       {"", "{", "}}", "\"", "/*", "//", ".global", ".global .u32", ")(", ".global .align 4 .b8 x["}) {
    EXPECT_EQ(lasting_variables(text), Names{}) << text;
  }
}

}  // namespace
}  // namespace solstice::toolchain
