// The programs of examples/programs, interpreted at small dims, against PyTorch's results
// (tools/language_fixtures.py).
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "ir/bind.h"
#include "ir/interpret.h"
#include "lang/parse.h"

namespace solstice::ir {
namespace {

const std::filesystem::path kRoot = SOLSTICE_SOURCE_DIR;

TensorValues tensors_of(const Json& object) {
  TensorValues out;
  for (const auto& [name, tensor] : object.members()) {
    TensorValue v;
    for (const Json& e : tensor.at("shape").items()) v.shape.push_back(e.as_int());
    for (const Json& e : tensor.at("values").items()) v.values.push_back(e.as_double());
    out[name] = std::move(v);
  }
  return out;
}

void expect_close(const TensorValue& actual, const TensorValue& expected) {
  ASSERT_EQ(actual.shape, expected.shape);
  double worst = 0;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    worst =
        std::max(worst, std::abs(actual.values[i] - expected.values[i]) / std::max(1.0, std::abs(expected.values[i])));
  }
  EXPECT_LT(worst, 1e-12);
}

TEST(Programs, InterpretationAgreesWithPyTorch) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "tests/golden/language")) {
    SCOPED_TRACE(entry.path().string());
    const auto text = read_file(entry.path());
    ASSERT_TRUE(text.ok());
    const auto fixture = parse_json(*text);
    ASSERT_TRUE(fixture.ok());
    const auto source = read_file(kRoot / "examples/programs" / (fixture->at("program").as_string() + ".ucut"));
    ASSERT_TRUE(source.ok());
    std::vector<std::pair<std::string, int64_t>> dims;
    for (const auto& [name, value] : fixture->at("dims").members()) dims.emplace_back(name, value.as_int());
    Diagnostics diagnostics;
    const auto program = bind(lang::with_dims(lang::parse(*source, diagnostics), dims), diagnostics);
    ASSERT_TRUE(program) << render_text(diagnostics, *source, "program");
    const auto results = interpret(*program, tensors_of(fixture->at("inputs")));
    ASSERT_TRUE(results.ok()) << results.error().text();
    for (const auto& [name, expected] : tensors_of(fixture->at("expected"))) {
      SCOPED_TRACE(name);
      ASSERT_TRUE(results->count(name));
      expect_close(results->at(name), expected);
    }
    ++count;
  }
  EXPECT_EQ(count, 12);
}

}  // namespace
}  // namespace solstice::ir
