#include "toolchain/ptxas.h"

#include <gtest/gtest.h>

namespace solstice::toolchain {
namespace {

constexpr const char* kLog =
    "k.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
    "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
    "non wgmma instructions defining accumulator registers in the function 'up'\n"
    "ptxas warning : Value of threads per SM for entry spill is out of range. .minnctapersm will be ignored\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'up' for 'sm_90a'\n"
    "ptxas info    : Function properties for up\n"
    "ptxas         .     536 bytes stack frame, 648 bytes spill stores, 660 bytes spill loads\n"
    "ptxas info    : Used 64 registers, used 1 barriers, 536 bytes cumulative stack size\n"
    "ptxas info    : Compile time = 57.900 ms\n"
    "ptxas info    : Compiling entry function 'add' for 'sm_90a'\n"
    "ptxas info    : Function properties for add\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 10 registers, used 2 barriers, 128 bytes smem, 380 bytes cmem[0]\n"
    "ptxas info    : Function properties for helper\n"
    "    99 bytes stack frame, 9 bytes spill stores, 9 bytes spill loads\n";

TEST(Ptxas, ResourcesOfEachEntry) {
  const std::vector<KernelResources> kernels = parse_resources(kLog);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].entry, "up");
  EXPECT_EQ(kernels[0].registers, 64);
  EXPECT_EQ(kernels[0].stack_bytes, 536);
  EXPECT_EQ(kernels[0].spill_stores, 648);
  EXPECT_EQ(kernels[0].spill_loads, 660);
  EXPECT_EQ(kernels[0].shared_bytes, 0);
  EXPECT_EQ(kernels[1].entry, "add");
  EXPECT_EQ(kernels[1].registers, 10);
  EXPECT_EQ(kernels[1].barriers, 2);
  EXPECT_EQ(kernels[1].shared_bytes, 128);
  EXPECT_EQ(kernels[1].spill_stores, 0);
}

TEST(Ptxas, NotesCarryCodeAndKernel) {
  const std::vector<PtxasNote> notes = parse_notes(kLog);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].code, "C7514");
  EXPECT_EQ(notes[0].kernel, "up");
  EXPECT_EQ(notes[0].text.rfind("Potential Performance Loss", 0), 0U);
  EXPECT_EQ(notes[1].code, "");
  EXPECT_EQ(notes[1].text.rfind("Value of threads", 0), 0U);
}

TEST(Ptxas, InjectedWaitsNameTheirKernel) {
  const std::vector<PtxasNote> notes = parse_notes(
      "ptxas info    : (C7517) wgmma.wait_group is injected in around line 62 by compiler to allow use of registers "
      "defined by GMMA in function 'w'\n"
      "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
      "insufficient register resources for the wgmma pipeline in the function 'w' in line 64\n");
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].code, "C7517");
  EXPECT_EQ(notes[0].kernel, "w");
  EXPECT_EQ(notes[1].code, "C7511");
  EXPECT_EQ(notes[1].kernel, "w");
}

TEST(Ptxas, MessagesCarryPositions) {
  const std::vector<CompilerMessage> messages =
      parse_messages(std::string(kLog) + "ptx/a.h(17): error: identifier \"foo\" is undefined\n");
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].severity, "warning");
  EXPECT_EQ(messages[1].file, "ptx/a.h");
  EXPECT_EQ(messages[1].line, 17);
  EXPECT_EQ(messages[1].severity, "error");
  EXPECT_EQ(messages[1].text, "identifier \"foo\" is undefined");
}

TEST(Ptxas, AMissingHeaderHasAPosition) {
  const std::vector<CompilerMessage> nvrtc =
      parse_messages("u.cu(1): catastrophic error: cannot open source file \"cute/tensor.hpp\"\n");
  ASSERT_EQ(nvrtc.size(), 1U);
  EXPECT_EQ(nvrtc[0].severity, "error");
  EXPECT_EQ(nvrtc[0].line, 1);

  const std::vector<CompilerMessage> messages =
      parse_messages("u.cu:3:10: fatal error: cute/tensor.hpp: No such file or directory\n");
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].file, "u.cu");
  EXPECT_EQ(messages[0].line, 3);
  EXPECT_EQ(messages[0].text, "cute/tensor.hpp: No such file or directory");
}

TEST(Ptxas, EmptyAndOddLogsGiveNothing) {
  for (const char* log : {"", "\n", "ptxas", "(C", "): error", "Used 3 registers"}) {
    EXPECT_TRUE(parse_resources(log).empty());
    EXPECT_TRUE(parse_notes(log).empty());
    EXPECT_TRUE(parse_messages(log).empty());
  }
}

}  // namespace
}  // namespace solstice::toolchain
