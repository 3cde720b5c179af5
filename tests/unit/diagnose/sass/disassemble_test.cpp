#include "diagnose/sass/disassemble.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/clock.h"
#include "base/process/subprocess.h"
#include "unit/diagnose/sass/texts.h"

namespace solstice::diagnose {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVersionLine = "Cuda compilation tools, release 13.2, V13.2.51";

// A folder with a program `nvdisasm` that says its version and then runs the given shell code.
class FakeDisassembler {
 public:
  explicit FakeDisassembler(const std::string& code, const std::string& version = kVersionLine)
      : folder_(std::move(TempFolder::create("solstice-test-")).value()) {
    write(code, version);
  }

  void write(const std::string& code, const std::string& version = kVersionLine) const {
    const std::string script =
        fmt::format("#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{}'; exit 0; fi\n{}\n", version, code);
    EXPECT_TRUE(write_file(program(), script).ok());
    fs::permissions(program(), fs::perms::owner_all);
  }

  fs::path program() const { return folder_.path() / "nvdisasm"; }
  SassOptions options() const { return {.program = program(), .cache = folder_.path() / "cache"}; }

 private:
  TempFolder folder_;
};

// Prints the code of a kernel, with the bytes of the cubin's file as its name.
constexpr const char* kPrints =
    "for last; do :; done; read name < $last\n"
    "echo \".section .text.$name\"; echo \".other $name,@STO_CUDA_ENTRY\"; echo '/*0000*/ EXIT ;'";

TEST(Disassemble, FactsAreKeptByTheCubinsContent) {
  const FakeDisassembler fake(kPrints);
  const auto first = sass_of_cubin("one\n", fake.options());
  ASSERT_TRUE(first.ok()) << first.error().text();
  EXPECT_EQ(first->count("one"), 1U);
  fake.write("exit 1");
  const auto again = sass_of_cubin("one\n", fake.options());
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(to_json(again->at("one")), to_json(first->at("one")));
  EXPECT_FALSE(sass_of_cubin("two\n", fake.options()).ok());
}

TEST(Disassemble, DamagedFactsAreMadeAnew) {
  const FakeDisassembler fake(kPrints);
  ASSERT_TRUE(sass_of_cubin("one\n", fake.options()).ok());
  for (const fs::directory_entry& file : fs::directory_iterator(fake.options().cache))
    ASSERT_TRUE(write_file(file.path(), "{\"schema\":").ok());
  const auto again = sass_of_cubin("one\n", fake.options());
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->count("one"), 1U);
}

TEST(Disassemble, WithoutAProgramTheWayOutIsNamed) {
  const auto text = disassemble("cubin", {.program = "/nowhere/nvdisasm"});
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, Code::not_found);
  EXPECT_NE(text.error().hint.find("pip install nvidia-cuda-nvdisasm"), std::string::npos);
}

TEST(Disassemble, AnotherMajorVersionIsAnErrorThatNamesBoth) {
  const FakeDisassembler fake(kPrints, "Cuda compilation tools, release 19.1, V19.1.7");
  const auto text = disassemble("one\n", fake.options());
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, Code::not_found);
  EXPECT_NE(text.error().message.find("19.1.7"), std::string::npos) << text.error().text();
  EXPECT_NE(text.error().hint.find("nvidia-cuda-nvdisasm==13"), std::string::npos) << text.error().text();
}

TEST(Disassemble, AProgramThatNamesNoVersionIsNoDisassembler) {
  const FakeDisassembler fake(kPrints, "hello");
  const auto text = disassemble("one\n", fake.options());
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, Code::process_failed);
  EXPECT_NE(text.error().message.find("hello"), std::string::npos);
}

TEST(Disassemble, AHangIsEnded) {
  const FakeDisassembler fake("exec sleep 100");
  SassOptions options = fake.options();
  options.limits.time = Seconds(0.3);
  const Seconds begin = monotonic_now();
  const auto text = disassemble("one\n", options);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, Code::deadline);
  EXPECT_LT((monotonic_now() - begin).value, 10);
}

TEST(Disassemble, EndlessOutputIsEnded) {
  const FakeDisassembler fake("exec yes");
  SassOptions options = fake.options();
  options.limits.output = Bytes(1e6);
  const auto text = disassemble("one\n", options);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, Code::process_failed);
}

TEST(Disassemble, ARefusalSaysWhatTheProgramSaid) {
  const FakeDisassembler fake("echo 'nvdisasm fatal: not a cubin' >&2; exit 255");
  const auto text = sass_of_cubin("one\n", fake.options());
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("not a cubin"), std::string::npos) << text.error().text();
}

TEST(Disassemble, TextWithoutAKernelIsNotKept) {
  const FakeDisassembler fake("echo hello");
  const auto facts = sass_of_cubin("one\n", fake.options());
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.error().code, Code::bad_record);
  EXPECT_FALSE(fs::exists(fake.options().cache));
}

TEST(Disassemble, TheProgramSeesNoFilesOfOthers) {
  const TempFolder other = std::move(TempFolder::create("solstice-other-")).value();
  ASSERT_TRUE(write_file(other.path() / "secret", "x").ok());
  const FakeDisassembler fake(fmt::format("read x < {}/secret && exit 0; exit 9", other.path().string()));
  const auto text = disassemble("one\n", fake.options());
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  ASSERT_FALSE(text.ok());
}

// Indirect branches cost a second run, which names their targets.
TEST(Disassemble, IndirectBranchesAreAskedForWithTheirTargets) {
  const FakeDisassembler fake("case \" $* \" in *' -ndf '*) echo '/*0000*/ BRX R2 -0x10 ;';; *) echo targets;; esac");
  const auto text = disassemble("one\n", fake.options());
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_EQ(*text, "targets\n");
}

// With the machine's own nvdisasm and nvcc, where they are.
TEST(Disassemble, TheCodeOfACompiledKernelIsRead) {
  const Result<toolchain::Disassembler> by = toolchain::disassembler();
  if (!by.ok()) GTEST_SKIP() << by.error().text();
  const TempFolder folder = std::move(TempFolder::create("solstice-test-")).value();
  const fs::path cubin = folder.path() / "loops.cubin";
  const auto nvcc = run_command({.argv = {"/usr/local/cuda/bin/nvcc", "-arch=sm_90a", "-lineinfo", "-cubin", "-o",
                                          cubin.string(), SOLSTICE_SOURCE_DIR "/tests/golden/sass/loops.cu"}},
                                Seconds(300));
  if (!nvcc.ok() || !nvcc->exit.ok()) GTEST_SKIP() << "no nvcc";
  const auto facts = sass_of_cubin(*read_file(cubin), {.cache = folder.path() / "cache"});
  ASSERT_TRUE(facts.ok()) << facts.error().text();
  EXPECT_EQ(facts->size(), 6U);
  EXPECT_EQ(facts->at("barrier_in_loop").loops.size(), 1U);
  EXPECT_EQ(facts->at("switches").loops.size(), 1U);
  EXPECT_EQ(facts->at("switches").in_part, "");
  for (const auto& [entry, of] : *facts) EXPECT_EQ(of.unknown, 0) << entry;
}

}  // namespace
}  // namespace solstice::diagnose
