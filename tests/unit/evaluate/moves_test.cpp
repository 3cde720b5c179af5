// Moves of a program: legal, and other than what it does already. Checked in every recorded program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "evaluate/findings/actions.h"
#include "evaluate/findings/diagnosis.h"
#include "evaluate/preparation.h"

namespace solstice::evaluate {
namespace {

namespace fs = std::filesystem;

const machine::Machine& machine_of_moves() {
  static const machine::Machine machine = machine::load_machine("h200").value();
  return machine;
}

FindingAction knobs_of_kernel(const std::string& kernel, std::map<std::string, std::string> knobs) {
  return {ActionKind::kKnobs, "other knobs", kernel, std::move(knobs), ""};
}

std::string product_text(const std::string& knobs) {
  return "program p\ndim M = 256, K = 4096, N = 512\ninput x : f32[M, K]\nparam w : f32[N, K]\noutput y : f32[M, N]\n"
         "kernel k by gemm(" +
         knobs + ") {\n  y[m,n] = sum[k](x[m,k] * w[n,k])\n}\n";
}

TEST(Moves, AreOtherSettingsThanTheKernelHas) {
  const Setting setting{machine_of_moves()};
  Moves moves(product_text("math=bf16x6, tile=128x128, split=1"), setting);
  EXPECT_TRUE(moves.is_legal(knobs_of_kernel("k", {{"tile", "64x128x64"}})));
  EXPECT_TRUE(moves.is_legal(knobs_of_kernel("k", {{"split", "4"}})));
  EXPECT_FALSE(moves.is_legal(knobs_of_kernel("k", {{"tile", "128x128x64"}}))) << "the same in other words";
  EXPECT_FALSE(moves.is_legal(knobs_of_kernel("k", {{"split", "1"}})));
  EXPECT_FALSE(moves.is_legal(knobs_of_kernel("k", {{"prepack", "auto"}}))) << "as where it is not written";
  EXPECT_FALSE(moves.is_legal(knobs_of_kernel("k", {{"split", "stream"}}))) << "no value of this knob";
  EXPECT_FALSE(moves.is_legal(knobs_of_kernel("k", {{"tile", "96x96"}})));
  EXPECT_FALSE(moves.is_legal(knobs_of_kernel("k", {{"tile", "128x128) { ("}})));
  EXPECT_FALSE(moves.is_legal(knobs_of_kernel("nobody", {{"split", "4"}})));
  EXPECT_FALSE(moves.is_legal(knobs_of_kernel("k", {}))) << "no change";
}

Facts facts_of_file(const fs::path& path) { return read_facts(parse_json(read_file(path).value()).value()).value(); }

StepFacts step_of_kernel(const std::string& kernel) {
  StepFacts out;
  out.step = out.entry = kernel;
  out.grid = {4096, 1, 1};
  out.block = {256, 1, 1};
  out.registers = 32;
  out.shared_bytes = 1024;
  return out;
}

// Facts of a program of one kernel `k` that was measured at 1 ms, with this step.
Facts as_if_recorded(const std::string& program, const StepFacts& step, const Setting& setting) {
  const Preparation candidate(program, setting, nullptr);
  Facts out = candidate.facts(setting, nullptr);
  for (const char* name : {"ptxas", "sass", "plan", "trace"}) set_source({name, true, "", ""}, out);
  out.measured = out.kernels[0].measured = Seconds(1e-3);
  out.kernels[0].steps = {step};
  return out;
}

std::vector<Facts> made_facts(const Setting& setting) {
  std::vector<Facts> out;
  StepFacts narrow = step_of_kernel("k");
  narrow.sass = SassFacts{};
  narrow.sass->mix.instructions = 40;
  narrow.sass->mix.accesses = {{"global", false, 32, 1}, {"global", true, 32, 1}};
  out.push_back(
      as_if_recorded("program p\ndim N = 4194304\ninput x : f32[N]\noutput y : f32[N]\n"
                     "kernel k by map(vector=1, unroll=1) {\n  y[n] = x[n] + 1\n}\n",
                     narrow, setting));
  Facts again = as_if_recorded(
      "program p\ndim R = 4096, C = 16384\ninput x : f32[R, C]\noutput y : f32[R, C]\n"
      "kernel k by rows(residency=l2, threads=256) {\n  e[r,c] = exp(x[r,c] - max[c](x[r,c]))\n"
      "  y[r,c] = e[r,c] / sum[c](e[r,c])\n}\n",
      step_of_kernel("k"), setting);
  again.kernels[0].terms = {{"memory", Seconds(4e-4)}};
  again.kernels[0].form = "block, read again";
  out.push_back(std::move(again));
  StepFacts tiles = step_of_kernel("k");
  tiles.grid = {8, 1, 1};
  std::string padded = product_text("math=bf16x6, tile=128x128");
  padded.replace(padded.find("M = 256"), 7, "M = 192");
  out.push_back(as_if_recorded(padded, tiles, setting));
  StepFacts deep = step_of_kernel("k");
  deep.grid = {132, 1, 1};
  deep.block = {128, 1, 1};
  deep.shared_bytes = 200 << 10;
  Facts stages = as_if_recorded(product_text("math=bf16, tile=128x256, stages=4"), deep, setting);
  out.push_back(std::move(stages));
  return out;
}

// Tools of all moves that change knobs, and each move is checked as a text.
std::set<std::string> tools_with_moves(const std::vector<Facts>& all) {
  std::set<std::string> out;
  for (const Facts& facts : all) {
    const Setting setting{machine_of_moves(), facts.numerics, facts.frozen};
    for (const Finding& finding : diagnose_facts(facts, setting).findings) {
      for (const FindingAction& action : finding.actions) {
        if (action.knobs.empty()) continue;
        const Result<std::string> changed = with_action(facts.program, action);
        EXPECT_TRUE(changed.ok() && check(*changed, setting).ok()) << finding.tool << ": " << knobs_text(action);
        for (const KernelSheet& kernel : facts.kernels) {
          for (const auto& [name, value] : action.knobs)
            EXPECT_FALSE(kernel.kernel == action.kernel && kernel.knobs.contains(name) &&
                         kernel.knobs.at(name) == value)
                << finding.tool << ": " << name << " is " << value;
        }
        out.insert(finding.tool);
      }
    }
  }
  return out;
}

TEST(Moves, OfEachToolAreLegalSomewhere) {
  const Setting setting{machine_of_moves(), "medium"};
  std::vector<Facts> all = made_facts(setting);
  for (const auto& entry : fs::directory_iterator(fs::path(SOLSTICE_SOURCE_DIR) / "tests/sick/facts")) {
    if (entry.path().extension() == ".json") all.push_back(facts_of_file(entry.path()));
  }
  const std::set<std::string> found = tools_with_moves(all);
  for (const char* tool :
       {"accuracy to spare", "cluster fill", "last wave of tiles", "narrow loads", "narrow stores", "no tensor cores",
        "padded tiles", "reads again", "shallow pipeline", "small grid", "split pass"})
    EXPECT_TRUE(found.contains(tool)) << tool << " proposes no move that is legal";
}

// Seconds of this process's processors: others do not count.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(Moves, OfFiveHundredKernelsAreCheckedOneByOne) {
  constexpr int kKernels = 500;
  std::string text = "program p\ndim M = 256, K = 512\ninput x0 : f32[M, K]\nparam w : f32[K, K]\n";
  for (int i = 1; i < kKernels; ++i) text += fmt::format("tensor x{} : f32[M, K]\n", i);
  text += fmt::format("output x{} : f32[M, K]\n", kKernels);
  for (int i = 0; i < kKernels; ++i)
    text += fmt::format(
        "kernel k{0} by gemm(math=bf16x6, tile=128x128, split=1) {{\n  x{1}[m,n] = sum[k](x{0}[m,k] * w[n,k])\n}}\n", i,
        i + 1);
  const Setting setting{machine_of_moves()};
  const double began = processor_seconds();
  Moves moves(text, setting);
  for (int i = 0; i < kKernels; ++i) {
    const std::string kernel = fmt::format("k{}", i);
    EXPECT_TRUE(moves.is_legal(knobs_of_kernel(kernel, {{"split", "4"}}))) << kernel;
    EXPECT_FALSE(moves.is_legal(knobs_of_kernel(kernel, {{"tile", "128x128x64"}}))) << kernel;
  }
  EXPECT_LT(processor_seconds() - began, 20);  // below one; sanitizers take ten times as long
}

}  // namespace
}  // namespace solstice::evaluate
