// torch.einsum: operands from left to right, a pair at a time, each a broadcast product or a batched one.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "sol/eager/parameters.h"
#include "sol/eager/price.h"

namespace solstice::sol::eager {
namespace {

using Extents = std::map<char, int64_t>;

struct Operand {
  std::string axes;
  Tensor tensor;
};

constexpr std::string_view kEllipsis = "...";

// The axes of an ellipsis that stands for `count` of them: no letters, the last one the same in all operands.
std::string unnamed(size_t count) {
  std::string out;
  for (size_t i = count; i > 0; --i) out += static_cast<char>('0' + i - 1);
  return out;
}

// One character an axis.
std::string expanded(const std::string& axes, size_t rank) {
  const size_t at = axes.find(kEllipsis);
  if (at == std::string::npos) return axes;
  const size_t named = axes.size() - kEllipsis.size();
  return axes.substr(0, at) + unnamed(rank - std::min(rank, named)) + axes.substr(at + kEllipsis.size());
}

// Of an equation without `->`: the axes of ellipses, then the letters that stand once, sorted.
std::string implied(const std::vector<Operand>& operands, size_t most_unnamed) {
  std::map<char, int> count;
  for (const Operand& operand : operands) {
    for (const char axis : operand.axes) ++count[axis];
  }
  std::string out = unnamed(most_unnamed);
  for (const auto& [axis, times] : count) {
    if (times == 1 && std::isalpha(static_cast<unsigned char>(axis))) out += axis;
  }
  return out;
}

std::vector<Operand> operands_of(const Call& call, std::string& result) {
  std::string text = call.argument("equation").as_string();
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::vector<Operand> out;
  size_t begin = 0, most_unnamed = 0;
  for (const Tensor& tensor : call.reads()) {
    const size_t end = std::min(left.find(',', begin), left.size());
    const std::string axes = begin <= left.size() ? left.substr(begin, end - begin) : "";
    out.push_back({expanded(axes, tensor.shape.size()), tensor});
    if (axes.find(kEllipsis) != std::string::npos)
      most_unnamed = std::max(most_unnamed, out.back().axes.size() + kEllipsis.size() - axes.size());
    begin = end + 1;
  }
  if (arrow == std::string::npos)
    result = implied(out, most_unnamed);
  else
    result = expanded(text.substr(arrow + 2), call.results().empty() ? 0 : call.results().front().shape.size());
  return out;
}

Extents extents_of(const std::vector<Operand>& operands) {
  Extents out;
  for (const Operand& operand : operands) {
    for (size_t i = 0; i < std::min(operand.axes.size(), operand.tensor.shape.size()); ++i)
      out[operand.axes[i]] = std::max(out[operand.axes[i]], operand.tensor.shape[i]);  // an extent of 1 broadcasts
  }
  return out;
}

bool has(const std::string& axes, char axis) { return axes.find(axis) != std::string::npos; }

struct Pair {
  ProductSize size;
  std::string kept;  // axes of its result
  bool sums = false;
};

Pair pair_of(const std::string& left, const std::string& right, const std::string& later, const Extents& extents) {
  Pair out;
  std::set<char> all(left.begin(), left.end());
  all.insert(right.begin(), right.end());
  for (const char axis : all) {
    const bool kept = has(later, axis), both = has(left, axis) && has(right, axis);
    const auto extent = static_cast<double>(extents.at(axis));
    if (kept) out.kept += axis;
    if (!kept) out.sums = true;
    (kept ? both ? out.size.batch : has(left, axis) ? out.size.m : out.size.n : out.size.k) *= extent;
  }
  return out;
}

// A pair with batch axes is brought into the layout of a batched product first.
Result<double> price_pair(const Pair& pair, const std::vector<Tensor>& reads, const Tensor& result, Device& device,
                          int& launches) {
  ++launches;
  if (!pair.sums) return device.kernel(reads, {result});
  double copies = 0;
  for (const Tensor& read : reads) {
    if (pair.size.batch <= 1) break;
    copies += device.kernel({read}, {read}, Stream::kCopy, kStrided);
    ++launches;
  }
  SOLSTICE_TRY(const Price product, price_matrices(pair.size, reads, {result}, device));
  return copies + product.device;
}

}  // namespace

Result<Price> price_einsum(const Call& call, Device& device) {
  std::string result;
  const std::vector<Operand> operands = operands_of(call, result);
  Price out{.launches = 0, .library = true, .kind = "product", .limit = "memory"};
  if (operands.size() < 2 || call.results().empty()) {
    out.device = device.kernel(call.reads(), call.results());
    out.launches = 1;
    return out;
  }
  const Extents extents = extents_of(operands);
  Operand left = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string later = result;
    for (size_t j = i + 1; j < operands.size(); ++j) later += operands[j].axes;
    const Pair pair = pair_of(left.axes, operands[i].axes, later, extents);
    std::vector<int64_t> shape;
    for (const char axis : pair.kept) shape.push_back(extents.at(axis));
    Tensor made = call.results().front();
    if (i + 1 < operands.size()) made = fresh_tensor(made.id + ".pair" + std::to_string(i), made.dtype, shape);
    SOLSTICE_TRY(const double seconds, price_pair(pair, {left.tensor, operands[i].tensor}, made, device, out.launches));
    out.device += seconds;
    left = {pair.kept, made};
  }
  return out;
}

}  // namespace solstice::sol::eager
