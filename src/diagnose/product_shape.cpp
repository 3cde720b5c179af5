#include "diagnose/product_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/integer.h"
#include "families/tensor_core/tile_config.h"
#include "ir/analysis/contraction.h"
#include "ir/bind.h"

namespace solstice::diagnose {
namespace {

// Beyond these, texts and knobs of damaged facts would overflow what is computed of them.
constexpr int64_t kMostExtent = int64_t{1} << 40, kMostKnob = int64_t{1} << 20;

// False where the product is too large to count with.
bool multiply(int64_t& by, int64_t extent) {
  if (extent < 1 || by > kMostExtent / extent) return false;
  by *= extent;
  return true;
}

// Where the extents of a role are multiplied up; null: this role has none that counts.
int64_t* extent_of(ir::Role role, ProductShape& shape) {
  if (role == ir::Role::kBatch) return &shape.batches;
  if (role == ir::Role::kM) return &shape.m;
  if (role == ir::Role::kN) return &shape.n;
  return role == ir::Role::kK ? &shape.k : nullptr;
}

std::optional<ProductShape> shape_of(const ir::Equation& equation, const ir::ProductSum& sum) {
  const ir::IndexSet in_a = ir::direct_indices(sum.a()), in_b = ir::direct_indices(sum.b());
  ProductShape out;
  bool last_in_m = false;
  for (int id = 0; id < static_cast<int>(equation.indices.size()); ++id) {
    const ir::Role role = ir::role_of(sum.is_summed(id), in_a.contains(id), in_b.contains(id));
    int64_t* into = extent_of(role, out);
    if (into && !multiply(*into, equation.indices[static_cast<size_t>(id)].extent)) return std::nullopt;
    if (!equation.free.empty() && id == equation.free.back()) last_in_m = role == ir::Role::kM;
  }
  if (out.m == 1 && out.n == 1) return std::nullopt;
  if (last_in_m) std::swap(out.m, out.n);
  return out;
}

// Of the one equation that is a product of two tensors.
std::optional<ProductShape> shape_of(const ir::Program& program, const ir::Kernel& kernel) {
  std::optional<ProductShape> out;
  for (const int id : kernel.equations) {
    const ir::Equation& equation = program.equation(id);
    if (!ir::has_contraction(equation)) continue;
    const std::vector<ir::ProductSum> sums = ir::product_sums(equation);
    if (out || sums.size() != 1) return std::nullopt;
    out = shape_of(equation, sums[0]);
  }
  return out;
}

}  // namespace

std::map<std::string, ProductShape> product_shapes(const std::string& program) {
  Diagnostics diagnostics;
  const Result<ir::Program> bound = ir::load_program(program, "facts", diagnostics);
  std::map<std::string, ProductShape> out;
  if (!bound.ok()) return out;
  for (const ir::Kernel& kernel : bound->kernels) {
    if (const auto shape = shape_of(*bound, kernel)) out[kernel.name] = *shape;
  }
  return out;
}

TileShape tile_of(const KernelSheet& kernel) {
  const auto found = kernel.knobs.find("tile");
  return found == kernel.knobs.end() ? TileShape{} : tile_of(found->second);
}

TileShape tile_of(const std::string& text) {
  TileShape out;
  const char* at = text.data();
  const char* end = at + text.size();
  for (int64_t* extent : {&out.m, &out.n, &out.k}) {
    const auto read = std::from_chars(at, end, *extent);
    if (read.ec != std::errc() || *extent <= 0 || *extent > kMostKnob) return {};
    at = read.ptr;
    if (at == end) return extent == &out.m ? TileShape{} : out;
    if (*at++ != 'x') return {};
  }
  return {};
}

std::vector<std::string> smaller_tiles(const KernelSheet& kernel) {
  const TileShape now = tile_of(kernel);
  std::vector<families::tensor_core::Tile> tiles;
  for (const families::tensor_core::Tile& tile : families::tensor_core::tiles()) {
    const bool smaller = tile.m <= now.m && tile.n <= now.n && tile.m * tile.n < now.m * now.n;
    if (smaller) tiles.push_back(tile);
  }
  std::stable_sort(tiles.begin(), tiles.end(), [](auto& a, auto& b) { return a.m * a.n > b.m * b.n; });
  std::vector<std::string> out;
  const std::string k = now.k > 0 ? fmt::format("x{}", now.k) : "";
  for (const auto& tile : tiles) out.push_back(fmt::format("{}x{}{}", tile.m, tile.n, k));
  return out;
}

int64_t number_knob(const KernelSheet& kernel, const std::string& name) {
  const auto found = kernel.knobs.find(name);
  if (found == kernel.knobs.end()) return 0;
  int64_t out = 0;
  const char* end = found->second.data() + found->second.size();
  const auto read = std::from_chars(found->second.data(), end, out);
  return read.ec == std::errc() && read.ptr == end && out <= kMostKnob ? out : 0;
}

std::optional<Tiling> tiling_of(const KernelSheet& kernel, const ProductShape& shape) {
  Tiling out;
  out.tile = tile_of(kernel);
  if (out.tile.m <= 0 || out.tile.n <= 0) return std::nullopt;
  out.split = kernel.knobs.contains("split") ? number_knob(kernel, "split") : 1;
  if (out.split <= 0) return std::nullopt;
  out.tiles = shape.batches;
  const bool countable =
      multiply(out.tiles, ceil_div(shape.m, out.tile.m)) && multiply(out.tiles, ceil_div(shape.n, out.tile.n));
  if (!countable) return std::nullopt;
  return out;
}

}  // namespace solstice::diagnose
