#include "lang/rename.h"

#include <gtest/gtest.h>

#include "lang/parse.h"
#include "lang/print.h"

namespace solstice::lang {
namespace {

Program parsed(const std::string& text) {
  Diagnostics diagnostics;
  Program out = parse(text, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  return out;
}

constexpr const char* kText =
    "program p\ndim M = 4\nbuffer s : f32[M] \"state\"\ninput x : f32[M]\noutput y : f32[M]\n"
    "tensor t : f32[M] into s\nt[m] = s[m] + 1e-5\nkernel k by map(threads=128) {\n"
    "  y[m] = sum[j where j <= m](x[j else 0] * exp(t[j]))\n}\n";

TEST(Rename, EveryTensorIndexAndDim) {
  const Program out = renamed(parsed(kText), [](const std::string& name) { return name + "_"; });
  const std::string text = print(out);
  for (const char* part : {"dim M_ = 4", "tensor t_ : f32[M_] into s_", "t_[m_] = s_[m_] + 1e-5", "kernel k by map",
                           "y_[m_] = sum[j_ where j_ <= m_](x_[j_ else 0] * exp(t_[j_]))", "\"state\""})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Rename, NumbersAreAsF32HoldsThem) {
  const std::string text = print(with_f32_numbers(parsed(kText)));
  EXPECT_NE(text.find("9.99999974"), std::string::npos) << text;
  EXPECT_NE(text.find("exp(t[j])"), std::string::npos);
}

}  // namespace
}  // namespace solstice::lang
