// Property: random programs within a family's reach mean the same generated and interpreted. On a machine without a GPU
// their kernels run on the host, and products are compiled where NVRTC is. SOLSTICE_RANDOM_KERNELS sets the number of
// programs, SOLSTICE_RANDOM_SEED the seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <future>

#include "property/kernels/host/host_plans.h"
#include "property/kernels/judge.h"
#include "property/kernels/prepare.h"
#include "toolchain/compiler.h"
#include "toolchain/worker.h"

namespace solstice::random_kernels {
namespace {

constexpr double kMostRefused = 0.05;  // of the programs; more and the generator is not within reach
constexpr size_t kOfOneUnit = 40;

int number_in(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}
uint64_t seed() { return static_cast<uint64_t>(number_in("SOLSTICE_RANDOM_SEED", 1)); }

const machine::Machine& h200() {
  static const machine::Machine out = *machine::load_machine("h200");
  return out;
}

// Programs of a family that are ready to run; too many refused ones are a failure.
std::vector<Prepared> ready_programs(const std::string& family, int count, const Sizes& sizes) {
  std::vector<Prepared> out;
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    Prepared each = prepare(make_sample(family, seed(), static_cast<uint64_t>(i), sizes), seed(), h200());
    EXPECT_TRUE(each.fate == Fate::kReady || each.fate == Fate::kRefused) << each.why << "\n" << each.sample.text();
    refused += each.fate == Fate::kRefused;
    if (each.fate == Fate::kReady) out.push_back(std::move(each));
  }
  EXPECT_LE(refused, kMostRefused * std::max(count, 40)) << "of " << count;
  return out;
}

// What a kernel that breaks the process was made of.
std::string running;
extern "C" void tell_and_die(int signal) {
  std::fputs(running.c_str(), stderr);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void expect_same(const Prepared& prepared, const HostPlans& plans) {
  const auto expected = expected_of(prepared.sample, *prepared.program, seed());
  ASSERT_TRUE(expected.ok()) << expected.error().text() << "\n" << prepared.sample.text();
  running = "while this ran on the host:\n" + prepared.sample.text();
  const HostRun run = plans.run(prepared.lowered, expected->inputs);
  EXPECT_EQ(run.fault, "") << prepared.sample.text();
  EXPECT_EQ(judge(*prepared.program, *expected, run.outputs).wrong, "") << prepared.sample.text();
}

void expect_same_on_host(const std::string& family) {
  const int count = number_in("SOLSTICE_RANDOM_KERNELS", 150) / 4;
  const std::vector<Prepared> programs = ready_programs(family, count, sizes_of_host());
  std::vector<std::vector<const Prepared*>> units(1);
  for (const Prepared& each : programs) {
    if (!runs_on_host(each.lowered)) continue;
    if (units.back().size() == kOfOneUnit) units.emplace_back();
    units.back().push_back(&each);
  }
  std::vector<std::future<Result<HostPlans>>> built;
  for (const auto& unit : units) {
    std::vector<const evaluate::Lowered*> plans;
    for (const Prepared* each : unit) plans.push_back(&each->lowered);
    built.push_back(std::async(built.size() % 2 ? std::launch::deferred : std::launch::async,
                               [plans] { return HostPlans::compile(plans); }));
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, tell_and_die);
  for (size_t u = 0; u < units.size(); ++u) {
    const auto plans = built[u].get();
    ASSERT_TRUE(plans.ok()) << plans.error().text();
    for (const Prepared* each : units[u]) expect_same(*each, *plans);
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, SIG_DFL);
}

TEST(RandomKernels, Map) { expect_same_on_host("map"); }
TEST(RandomKernels, Rows) { expect_same_on_host("rows"); }
TEST(RandomKernels, Reduce) { expect_same_on_host("reduce"); }
TEST(RandomKernels, Scan) { expect_same_on_host("scan"); }

// Every size that a GPU would run lowers, with every knob that the rules let through.
TEST(RandomKernels, LargeProgramsLower) {
  for (const std::string& family : sampled_families()) {
    SCOPED_TRACE(family);
    ready_programs(family, 60, sizes_of_device());
  }
}

TEST(RandomKernels, ProductsCompile) {
  toolchain::CompilerOptions options;
  options.arch = h200().arch;
  options.workers = 2;
  const auto compiler = toolchain::Compiler::create(options);
  if (!compiler.ok()) GTEST_SKIP() << "products are not compiled: " << compiler.error().message;
  const std::vector<Prepared> programs =
      ready_programs("gemm", number_in("SOLSTICE_RANDOM_KERNELS", 150) / 15, sizes_of_host());
  std::vector<std::shared_future<Result<toolchain::Compiled>>> pending;
  for (const Prepared& each : programs) {
    for (const families::Source& source : each.lowered.sources)
      pending.push_back((*compiler)->submit({source.name, source.code, source.options}));
  }
  for (auto& each : pending) {
    const auto& compiled = each.get();
    ASSERT_TRUE(compiled.ok()) << compiled.error().text();
    EXPECT_TRUE(compiled->ok()) << compiled->log;
  }
}

// A program is what its seed says, on every machine.
TEST(RandomKernels, SeedsRepeat) {
  for (const std::string& family : sampled_families()) {
    EXPECT_EQ(make_sample(family, 3, 5, sizes_of_host()).text(), make_sample(family, 3, 5, sizes_of_host()).text());
    EXPECT_NE(make_sample(family, 3, 5, sizes_of_host()).text(), make_sample(family, 3, 6, sizes_of_host()).text());
  }
}

}  // namespace
}  // namespace solstice::random_kernels

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--compile-worker")
    return solstice::toolchain::compile_worker_main(0, 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
