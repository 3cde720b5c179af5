// The row's elements as a sweep sees them: kept by an earlier one, loaded ahead of this one into arrays (all loads in
// flight before the first use), or loaded where they are used.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "families/rows/resident_values.h"

namespace solstice::families::rows {

class Staging {
 public:
  Staging(Draft& draft, const ResidentValues& kept) : draft_(draft), resident_(kept) {}

  // The loop of the loads ahead of a sweep, in front of the sweep's own; with what the row's first statements leave.
  Result<std::string> load_ahead(const Sweep& sweep);
  // The value of a lane; nothing: the node is no element that is staged.
  Result<std::optional<codegen::Value>> element(const ir::ExprRef& node, const SweepScope& scope);
  // A step's vector under a name of its own.
  std::string copy_of(const std::string& source, std::string_view element, const SweepScope& scope);
  // The lane of the vector that `read` was loaded to.
  codegen::Value loaded_lane(const ir::ExprRef& read, const std::string& vector, const SweepScope& scope);
  // Arrays that hold loaded data which is not kept.
  const std::string& declarations() const { return declarations_; }

 private:
  std::optional<std::string> array_for(const ir::ExprRef& read);
  Result<std::string> vector_load(const ir::ExprRef& read, const std::string& to, bool last_use);
  Result<std::string> otherwise_of(const ir::ExprRef& read);
  Result<std::string> load_here(const ir::ExprRef& read, const SweepScope& scope);
  bool is_read_again(const Sweep& sweep) const;

  Draft& draft_;
  const ResidentValues& resident_;
  std::map<const ir::Expr*, std::string> ahead_;  // arrays of data that is not kept
  std::string declarations_;
};

}  // namespace solstice::families::rows
