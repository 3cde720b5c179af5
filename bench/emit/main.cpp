// bench_emit DIR [COUNT] [SEED]: the device code of a fixed set of programs, one file a module, so that two builds can
// be compared (tools/compare_emitted.py).
//
// Three sets: COUNT random programs of each family (tests/property/kernels; 300), the programs of
// bench/families/cases.txt with the schedules that the cost models rank first, and the products of
// bench/gemm/cases.txt. DIR/SET/NAME.MODULE.cu is the code, DIR/SET/NAME.plan.json the launch plan, DIR/SET/NAME.txt
// the reason where there is neither.
#include <fmt/format.h>

#include <cstdio>

#include "base/file.h"
#include "evaluate/candidate.h"
#include "flow/fit/cases.h"
#include "gemm/product.h"
#include "machine/machine.h"
#include "property/kernels/prepare.h"
#include "record/plan.h"

namespace solstice {
namespace {

namespace fs = std::filesystem;

constexpr int kProposals = 6;  // schedules of a case: those that `solstice bench families` would measure, and more

class Folder {
 public:
  explicit Folder(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }

  Status write(const std::string& name, const evaluate::Lowered& lowered) {
    for (size_t i = 0; i < lowered.sources.size(); ++i)
      SOLSTICE_CHECK(write_file(path_ / fmt::format("{}.{}.cu", name, i), lowered.sources[i].code));
    ++count_;
    return write_file(path_ / (name + ".plan.json"), to_json(lowered.plan).dump(1) + "\n");
  }
  Status write(const std::string& name, const std::string& why) {
    return write_file(path_ / (name + ".txt"), why + "\n");
  }
  int count() const { return count_; }

 private:
  fs::path path_;
  int count_ = 0;
};

Status write_lowered(Folder& folder, const std::string& name, Result<evaluate::Lowered> lowered) {
  return lowered.ok() ? folder.write(name, *lowered) : folder.write(name, lowered.error().text());
}

Status emit_random(const fs::path& out, int count, uint64_t seed, const machine::Machine& machine) {
  for (const std::string& family : random_kernels::sampled_families()) {
    Folder folder(out / ("random_" + family));
    for (int i = 0; i < count; ++i) {
      const auto number = static_cast<uint64_t>(i);
      const random_kernels::Prepared made = random_kernels::prepare(
          random_kernels::make_sample(family, seed, number, random_kernels::sizes_of_device()), seed, machine);
      SOLSTICE_CHECK(made.fate == random_kernels::Fate::kReady ? folder.write(made.sample.name(), made.lowered)
                                                               : folder.write(made.sample.name(), made.why));
    }
    fmt::print("random {}: {} programs\n", family, folder.count());
  }
  return success();
}

Status emit_cases(const fs::path& out, const machine::Machine& machine) {
  Folder folder(out / "cases");
  SOLSTICE_TRY(const auto cases, flow::read_fit_cases(SOLSTICE_SOURCE_DIR "/bench/families/cases.txt", {}));
  for (size_t i = 0; i < cases.size(); ++i) {
    SOLSTICE_TRY(const auto programs, flow::programs_of(cases[i], machine, kProposals));
    for (size_t k = 0; k < programs.size(); ++k)
      SOLSTICE_CHECK(write_lowered(
          folder, fmt::format("{:03}_{}", i, k),
          evaluate::lower_text(programs[k].program, {machine, cases[i].numerics, false, nullptr, cases[i].problem})));
  }
  fmt::print("cases: {} programs\n", folder.count());
  return success();
}

Status emit_products(const fs::path& out, const machine::Machine& machine) {
  Folder folder(out / "gemm");
  SOLSTICE_TRY(const auto products, read_products(SOLSTICE_SOURCE_DIR "/bench/gemm/cases.txt"));
  for (const Product& product : products) {
    const evaluate::Setting setting{machine, product.policy, false, nullptr, product.line};
    SOLSTICE_CHECK(write_lowered(folder, product.name, evaluate::lower_text(product.text(), setting)));
  }
  fmt::print("gemm: {} of {} programs\n", folder.count(), products.size());
  return success();
}

Status emit(const fs::path& out, int count, uint64_t seed) {
  SOLSTICE_TRY(const machine::Machine machine, machine::load_machine("h200"));
  SOLSTICE_CHECK(emit_random(out, count, seed, machine));
  SOLSTICE_CHECK(emit_cases(out, machine));
  return emit_products(out, machine);
}

}  // namespace
}  // namespace solstice

int main(int argc, char** argv) {
  if (argc < 2) return std::printf("usage: bench_emit DIR [COUNT] [SEED]\n"), 2;
  const solstice::Status done =
      solstice::emit(argv[1], argc > 2 ? std::atoi(argv[2]) : 300, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  if (!done.ok()) return std::printf("%s\n", done.error().text().c_str()), 1;
  return 0;
}
