#include "families/cuda/descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace solstice::families::cuda {
namespace {

constexpr int64_t kMostBox = 256;   // elements of a box along one dimension
constexpr int64_t kAlignment = 16;  // bytes: of the base, of strides and of a box's innermost rows

template <typename... T>
Error illegal(fmt::format_string<T...> text, T&&... values) {
  return fail(Code::illegal_knobs, fmt::format(text, std::forward<T>(values)...));
}

// "none" or a number of bytes; -1: neither.
int swizzle_of(const ir::KnobValue* written) {
  if (!written) return 0;
  const std::string text = ir::to_text(*written);
  if (text == "none") return 0;
  return text == "32" || text == "64" || text == "128" ? std::stoi(text) : -1;
}

Result<std::vector<int64_t>> box_of(const ir::KnobValue& entry) {
  const ir::Knobs members{entry.members};
  for (const auto& [name, value] : entry.members) {
    if (name != "box" && name != "swizzle")
      return illegal("`{}` has no `{}`: there are `box` and `swizzle`", entry.text, name);
  }
  std::vector<int64_t> box = members.size_or("box", {});
  if (const ir::KnobValue* const one = members.find("box"); one && one->kind == ir::KnobValue::Kind::kInt)
    box = {one->integer};
  const bool fits = std::all_of(box.begin(), box.end(), [](int64_t v) { return v > 0 && v <= kMostBox; });
  if (box.empty() || box.size() > 5 || !fits)
    return illegal("`{}` needs a box of one to five extents of 1 to 256", entry.text);
  if (box.size() != entry.shape.size()) {
    return illegal("`{}` has {} dimensions and its box {}", entry.text, entry.shape.size(), box.size());
  }
  return box;
}

// The tensor's dimensions, smallest stride first; of one element last, as its stride says nothing.
std::vector<size_t> inner_first(const ir::KnobValue& entry) {
  std::vector<size_t> out(entry.shape.size());
  std::iota(out.rbegin(), out.rend(), size_t{0});
  std::stable_sort(out.begin(), out.end(), [&](size_t a, size_t b) {
    const bool one_a = entry.shape[a] == 1, one_b = entry.shape[b] == 1;
    return one_a != one_b ? one_b : !one_a && entry.strides[a] < entry.strides[b];
  });
  return out;
}

Status check_layout(const ir::KnobValue& entry, const std::vector<size_t>& order, const TensorMap& map) {
  const int64_t size = size_of(map.dtype);
  const size_t inner = order[0];
  if (entry.shape[inner] > 1 && entry.strides[inner] != 1) {
    return illegal("`{}` has no contiguous dimension: the smallest stride is {}", entry.text, entry.strides[inner]);
  }
  for (const int64_t stride : map.strides) {
    if (stride < 0 || stride % kAlignment != 0)
      return illegal("`{}` has a stride of {} bytes, no multiple of 16", entry.text, stride);
  }
  if (map.offset % kAlignment != 0)
    return illegal("`{}` begins {} bytes into its tensor, no multiple of 16", entry.text, map.offset);
  const int64_t row = map.box[0] * size;
  if (row % kAlignment != 0)
    return illegal("the box of `{}` is {} bytes along its innermost dimension, no multiple of 16", entry.text, row);
  if (map.swizzle > 0 && row > map.swizzle) {
    return illegal("the box of `{}` is {} bytes along its innermost dimension, more than `swizzle={}`", entry.text, row,
                   map.swizzle);
  }
  return success();
}

}  // namespace

Result<TensorMap> descriptor_of(const ir::Program& program, const ir::KnobValue& entry) {
  SOLSTICE_TRY(const std::vector<int64_t> box, box_of(entry));
  const ir::KnobValue* const swizzle = ir::Knobs{entry.members}.find("swizzle");
  TensorMap out;
  out.swizzle = swizzle_of(swizzle);
  if (out.swizzle < 0) return illegal("`swizzle={}` of `{}`: none, 32, 64 or 128", ir::to_text(*swizzle), entry.text);
  const ir::Tensor& tensor = program.tensor(entry.tensor);
  if (!tensor.dtype) return illegal("`{}` is not stored in memory", entry.text);
  const int64_t size = size_of(*tensor.dtype);
  out.buffer = tensor.name;
  out.dtype = *tensor.dtype;
  out.offset = entry.offset * size;
  const std::vector<size_t> order = inner_first(entry);
  for (const size_t d : order) {
    out.extents.push_back(entry.shape[d]);
    out.box.push_back(box[d]);
    // A dimension of one element is never stepped along; any legal stride does.
    if (d != order[0]) out.strides.push_back(entry.shape[d] == 1 ? kAlignment : entry.strides[d] * size);
  }
  SOLSTICE_CHECK(check_layout(entry, order, out));
  return out;
}

}  // namespace solstice::families::cuda
