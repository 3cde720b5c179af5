// What the family matches its generator can write, whatever the language has: a plan may count on it.
#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

void expect_written(const std::string& declarations, const std::string& equations) {
  const ir::Program program = load_text("program every\n" + declarations + "kernel k by map {\n" + equations + "}\n");
  ASSERT_FALSE(program.kernels.empty());
  const Match match = find_family("map")->match(program, program.kernels.front());
  EXPECT_TRUE(match.ok && match.built) << match.reason;
  expect_same(program, 1e-4);
}

// The call of a primitive with as many arguments as it takes.
std::string call_of(const std::string& name, const std::string& tensor) {
  for (std::string arguments = tensor; arguments.size() < 40; arguments += ", " + tensor + " + 2") {
    const std::string call = name + "(" + arguments + ")";
    const std::string text =
        "program call\ninput x : f32[4]\ninput i : i32[4]\noutput y : f64[4]\ny[n] = select(" + call + " < 0, 1, 0)\n";
    Diagnostics diagnostics;
    if (ir::load_program(text, "call.ucut", diagnostics).ok()) return call;
  }
  return "";
}

TEST(WholeLanguage, EveryPrimitive) {
  std::string declarations = "input x : f32[64]\ninput i : i32[64]\n", equations;
  for (const std::string_view primitive : ir::primitive_functions()) {
    const std::string name(primitive);
    if (name == "select") continue;
    for (const char* tensor : {"x", "i"}) {
      const std::string call = call_of(name, std::string(tensor) + "[n]"), y = "y_" + name + "_" + tensor;
      if (call.empty() && tensor[0] == 'x') continue;  // of integers alone
      ASSERT_NE(call, "") << name;
      declarations += "output " + y + " : f32[64]\n";
      equations +=
          "  " + y + "[n] = " + (name.starts_with("is") ? "select(" + call + ", 1, 0)" : "0.5 * " + call) + "\n";
    }
  }
  expect_written(declarations, equations);
}

TEST(WholeLanguage, EveryReducer) {
  std::string declarations = "input x : f32[4, 40]\ninput i : i32[4, 40]\n", equations;
  for (int r = 0; r <= static_cast<int>(ir::Reducer::kLogSumExp); ++r) {
    const auto reducer = static_cast<ir::Reducer>(r);
    const std::string name(ir::name_of(reducer));
    const bool truth = reducer == ir::Reducer::kAny || reducer == ir::Reducer::kAll;
    const bool position = reducer == ir::Reducer::kArgMax || reducer == ir::Reducer::kArgMin;
    for (const char* body : {"x[m,j]", "i[m,j]"}) {
      const std::string y = "y" + std::to_string(r) + body[0];
      declarations += "output " + y + " : " + (position ? "i64" : truth ? "bool" : "f32") + "[4]\n";
      equations += "  " + y + "[m] = " + name + "[j](" + body + (truth ? " > 0" : "") + ")\n";
    }
  }
  expect_written(declarations, equations);
}

}  // namespace
}  // namespace solstice::families
