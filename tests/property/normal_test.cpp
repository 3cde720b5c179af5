// Every pass of the normal form against the interpreter: each left out, each alone, all together, with nodes and
// without.
#include "ir/normal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "ir/bind.h"
#include "ir/equivalence.h"
#include "lang/parse.h"
#include "property/random_values.h"

namespace solstice::ir {
namespace {

const std::filesystem::path kTree = SOLSTICE_SOURCE_DIR;

struct Variant {
  std::string name;
  NormalOptions options;
};

std::vector<Variant> variants() {
  std::vector<Variant> out;
  for (const bool nodes : {true, false}) {
    const std::string kind = nodes ? " (nodes)" : " (whole)";
    NormalOptions all;
    all.keep_nodes = nodes;
    if (!nodes) all.most_terms = 4000;
    out.push_back({"all" + kind, all});
    for (const NormalPass& pass : normal_passes()) {
      NormalOptions without = all, alone = all;
      without.without = {std::string(pass.name)};
      for (const NormalPass& other : normal_passes()) {
        if (other.name != pass.name) alone.without.emplace_back(other.name);
      }
      out.push_back({"without " + std::string(pass.name) + kind, without});
      out.push_back({std::string(pass.name) + " alone" + kind, alone});
    }
  }
  return out;
}

// What is equal over the reals may lose digits: the difference of moments does.
std::string difference(const TensorValues& expected, const TensorValues& actual) {
  for (const auto& [name, value] : expected) {
    double scale = 1;
    for (const double v : value.values) scale = std::isfinite(v) ? std::max(scale, std::abs(v)) : scale;
    const std::vector<double>& other = actual.at(name).values;
    for (size_t i = 0; i < other.size(); ++i) {
      if (std::isfinite(value.values[i]) && !(std::abs(value.values[i] - other[i]) <= 1e-6 * scale))
        return name + " element " + std::to_string(i) + ": " + std::to_string(value.values[i]) + " became " +
               std::to_string(other[i]);
    }
  }
  return "";
}

std::string text_of(const Program& program) {
  std::string out;
  for (const Equation& e : program.equations) out += to_text(program, e) + "\n";
  return out;
}

// Values of order one: an unshifted exponential of a thousand is no number.
constexpr int kFamilies[] = {0, 1, 2};

int expect_same_meaning(const Program& program, const std::string& name) {
  int compared = 0;
  for (const Variant& variant : variants()) {
    const auto normal = normal_form(program, variant.options);
    EXPECT_TRUE(normal.ok());
    // Whole networks in one term run out of their budget.
    if (variant.options.keep_nodes) {
      EXPECT_EQ(normal->exceeded, "") << name << ": " << variant.name;
    }
    if (!normal.ok() || !normal->exceeded.empty()) continue;
    for (const int family : kFamilies) {
      const TensorValues inputs = random_inputs(program, family, 17 + static_cast<uint64_t>(family));
      const auto expected = interpret(program, inputs);
      if (!expected.ok()) continue;
      const auto actual = interpret(normal->program, inputs);
      const std::string found = actual.ok() ? difference(*expected, *actual) : actual.error().text();
      EXPECT_EQ(found, "") << name << ": " << variant.name << ", " << input_family_name(family) << "\n"
                           << text_of(normal->program);
      if (!found.empty()) return compared;
      ++compared;
    }
  }
  return compared;
}

TEST(NormalForm, KeepsTheMeaningOfThePrograms) {
  for (const auto& entry : std::filesystem::directory_iterator(kTree / "tests/golden/language")) {
    const auto text = read_file(entry.path());
    const auto fixture = parse_json(*text);
    ASSERT_TRUE(fixture.ok());
    const std::string name = fixture->at("program").as_string();
    const auto source = read_file(kTree / "examples/programs" / (name + ".ucut"));
    std::vector<std::pair<std::string, int64_t>> dims;
    for (const auto& [dim, value] : fixture->at("dims").members()) dims.emplace_back(dim, value.as_int());
    Diagnostics diagnostics;
    const auto program = bind(lang::with_dims(lang::parse(*source, diagnostics), dims), diagnostics);
    ASSERT_TRUE(program);
    EXPECT_GT(expect_same_meaning(*program, name), 0) << name;
  }
}

// The texts that tests/python/language compares with PyTorch: docstrings of functions.
TEST(NormalForm, KeepsTheMeaningOfTheConformanceTexts) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kTree / "tests/python/language")) {
    const auto source = read_file(entry.path());
    if (entry.path().filename() == "__init__.py" || !source.ok()) continue;
    for (size_t mark = source->find("\n@case"); mark != std::string::npos; mark = source->find("\n@case", mark + 1)) {
      const size_t at = source->find("\ndef ", mark);
      const size_t open = source->find("\"\"\"", at), close = source->find("\"\"\"", open + 3);
      const std::string name = source->substr(at + 5, source->find('(', at) - at - 5);
      Diagnostics diagnostics;
      const auto program =
          load_program("program " + name + "\n" + source->substr(open + 3, close - open - 3), name, diagnostics);
      ASSERT_TRUE(program.ok()) << name << program.error().text();
      expect_same_meaning(*program, name);
      ++count;
    }
  }
  EXPECT_GE(count, 65);
}

TEST(NormalForm, KeepsTheMeaningOfImports) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kTree / "tests/golden/import")) {
    if (entry.path().extension() != ".ucut") continue;
    const auto source = read_file(entry.path());
    Diagnostics diagnostics;
    const lang::Program tree = lang::parse(*source, diagnostics);
    const auto dims = shrunken_dims(tree, tree, 0);
    const auto program = bind(lang::with_dims(tree, dims), diagnostics);
    ASSERT_TRUE(program) << entry.path() << render_text(diagnostics, *source, "program");
    expect_same_meaning(*program, entry.path().filename().string());
    ++count;
  }
  EXPECT_GE(count, 15);
}

TEST(NormalForm, KeepsTheMeaningOfGeneratedPrograms) {
  const char* more = std::getenv("SOLSTICE_GENERATED_PROGRAMS");  // for a longer search
  const uint64_t programs = more ? std::strtoull(more, nullptr, 10) : 60;
  uint64_t legal = 0;
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    const std::string text = testing::random_program(seed);
    Diagnostics diagnostics;
    const auto program = load_program(text, "generated", diagnostics);
    if (!program.ok()) continue;
    ++legal;
    expect_same_meaning(*program, fmt::format("seed {}\n{}", seed, text));
    if (HasFailure()) return;
  }
  EXPECT_GE(10 * legal, 7 * programs);
}

}  // namespace
}  // namespace solstice::ir
