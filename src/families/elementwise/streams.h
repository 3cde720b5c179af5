// Reads that are loaded as vectors ahead of their use, all vectors of a thread in flight at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "families/elementwise/draft.h"

namespace solstice::families::elementwise {

class Streams {
 public:
  explicit Streams(Draft& draft);

  bool empty() const { return all_.empty(); }
  // The arrays of the loaded vectors.
  std::string declarations() const;
  // A loaded vector: the array's name, the type of its elements, and its size in bytes.
  struct Vector {
    std::string name, type;
    int64_t bytes;
  };
  std::vector<Vector> vectors() const;
  // The loads of the vector number `u`; its loops are bound, its lanes are not. `fetch`: a function that copies a
  // vector to its place, instead of `load`.
  Result<std::string> loads(std::string_view fetch = "");
  // The value of a lane; nothing: the node is no read that was loaded.
  std::optional<codegen::Value> element(const ir::ExprRef& node, int lane_depth);

 private:
  struct Stream {
    codegen::Access access;
    std::string name;  // "x0"
  };
  Result<std::string> load(const Stream& stream, std::string_view fetch);
  std::string load_with_tail(const Stream& stream, const std::string& load, const std::string& offset) const;
  Result<std::string> otherwise(const Stream& stream);

  Draft& draft_;
  std::vector<Stream> all_;
};

}  // namespace solstice::families::elementwise
