#include "diagnose/product_shape.h"

#include <gtest/gtest.h>

namespace solstice::diagnose {
namespace {

std::map<std::string, ProductShape> shapes(const std::string& output, const std::string& equation) {
  return product_shapes(
      "program p\ndim B = 3, M = 64, N = 32, K = 16\ninput x : f32[B, M, K]\nparam w : f32[N, K]\n"
      "input v : f32[B, N, K]\noutput y : f32" +
      output + "\nkernel k by gemm() {\n  " + equation + "\n}\n");
}

void expect_shape(const ProductShape& found, int64_t batches, int64_t m, int64_t n, int64_t k) {
  EXPECT_EQ(found.batches, batches);
  EXPECT_EQ(found.m, m);
  EXPECT_EQ(found.n, n);
  EXPECT_EQ(found.k, k);
}

TEST(ProductShapes, HaveTheExtentsOfTheirRoles) {
  expect_shape(shapes("[B, M, N]", "y[b,m,n] = sum[k](x[b,m,k] * v[b,n,k])").at("k"), 3, 64, 32, 16);
  expect_shape(shapes("[B, M, N]", "y[b,m,n] = sum[k](x[b,m,k] * w[n,k])").at("k"), 1, 3 * 64, 32, 16);
}

TEST(ProductShapes, TheInnermostIndexOfTheResultIsOfN) {
  expect_shape(shapes("[B, N, M]", "y[b,n,m] = sum[k](x[b,m,k] * v[b,n,k])").at("k"), 3, 32, 64, 16);
}

TEST(ProductShapes, AreOfProductsAlone) {
  EXPECT_TRUE(shapes("[B, M]", "y[b,m] = sum[k](x[b,m,k])").empty());
  EXPECT_TRUE(product_shapes("no program").empty());
  EXPECT_TRUE(product_shapes("").empty());
}

TEST(Tiles, AreReadOrThereAreNone) {
  const auto tile = [](const std::string& text) {
    KernelSheet kernel;
    if (!text.empty()) kernel.knobs["tile"] = text;
    return tile_of(kernel);
  };
  EXPECT_EQ(tile("128x256x64").n, 256);
  EXPECT_EQ(tile("128x256x64").k, 64);
  EXPECT_EQ(tile("32x32").k, 0);
  for (const char* bad :
       {"", "128", "128x", "x128", "128x256x", "128x256x64x2", "axb", "0x128", "-1x128", "128 x 64", "99999999x128"})
    EXPECT_EQ(tile(bad).m, 0) << bad;
}

TEST(Tiles, ATilingNeedsANumberOfParts) {
  KernelSheet kernel;
  kernel.knobs = {{"tile", "64x32x16"}, {"split", "auto"}};
  EXPECT_FALSE(tiling_of(kernel, {1, 65, 32, 16}));
  kernel.knobs["split"] = "4";
  EXPECT_EQ(tiling_of(kernel, {1, 65, 32, 16})->tiles, 2);
  EXPECT_EQ(tiling_of(kernel, {1, 65, 32, 16})->split, 4);
  kernel.knobs["split"] = "9223372036854775807";
  EXPECT_FALSE(tiling_of(kernel, {1, 65, 32, 16}));
  kernel.knobs["split"] = "1";
  EXPECT_FALSE(tiling_of(kernel, {int64_t{1} << 40, int64_t{1} << 40, 32, 16}));
}

}  // namespace
}  // namespace solstice::diagnose
