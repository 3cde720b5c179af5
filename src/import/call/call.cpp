#include "import/call/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "import/closed/rounding.h"
#include "import/graph/damage.h"

namespace solstice::importer {

namespace {

std::string shape_text(const Integers& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Integers shape_of(const Value& value) {
  Integers out;
  for (const Axis& axis : value.axes) out.push_back(axis.extent());
  return out;
}

constexpr int64_t kLargest = int64_t{1} << 56;
constexpr int64_t kMostCount = int64_t{1} << 30;  // products of two do not overflow

bool is_moderate(int64_t value) { return value > -kLargest && value < kLargest; }

double special_number(const Json& json) {
  const Json* special = json.find("float");
  return special ? special->as_double() : json.as_double(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

std::string Call::wish(const char* otherwise) const {
  constexpr size_t kLongest = 24;
  const auto is_own = [&](const GraphModule& m) { return m.path == node_.module && m.type.rfind("torch.nn.", 0) == 0; };
  const bool own = std::any_of(graph_.modules.begin(), graph_.modules.end(), is_own);
  if (own && !node_.module.empty() && node_.module.size() <= kLongest) return node_.module;
  return otherwise;
}

std::string operator_name(const std::string& op) {
  const size_t first = op.find('.');
  return first == std::string::npos ? op : op.substr(first + 1, op.find('.', first + 1) - first - 1);
}

std::string Call::operator_name() const {  // without leading underscores
  std::string name = importer::operator_name(node_.op);
  if (name != node_.op) name.erase(0, name.find_first_not_of('_'));
  return name;
}

Error Call::bad_argument(const char* name, const char* wanted) const {
  return fail(Code::bad_record, fmt::format("node `{}` ({}): argument `{}` should be {}, not {}", node_.id, node_.op,
                                            name, wanted, argument(name).dump()));
}

Error Call::unsupported(const std::string& why) const {
  return fail(Code::unsupported_operator, fmt::format("{}: {}", node_.op, why));
}

const Json& Call::argument(const char* name) const {
  const Json* value = node_.args.find(name);
  if (!value) damaged(fmt::format("no argument `{}`", name));
  return *value;
}

Result<Value> Call::any_value(const std::string& id) const {
  const auto found = values_.find(id);
  if (found != values_.end()) return found->second;
  return fail(Code::bad_record, fmt::format("node `{}` ({}) reads `{}`, which is no tensor", node_.id, node_.op, id));
}

Result<Value> Call::value_of(const std::string& id) const {
  SOLSTICE_TRY(Value value, any_value(id));
  if (value.is_empty()) return unsupported(fmt::format("`{}` has no elements", id));
  return value;
}

Result<Value> Call::any_number(const char* name) const {
  const Json* id = argument(name).find("t");
  if (!id) return bad_argument(name, "a tensor");
  return value_of(id->as_string());
}

Result<Value> Call::tensor(const char* name) const {
  SOLSTICE_TRY(Value value, any_number(name));
  if (value.imaginary) return unsupported("complex numbers have no equations here");
  return value;
}

bool Call::is_row_major(const char* name) const {
  const Json* id = argument(name).find("t");
  const GraphTensor* found = nullptr;
  for (const GraphInput& input : graph_.inputs) {
    if (id && input.id == id->as_string()) found = &input;
  }
  for (const GraphNode& node : graph_.nodes) {
    for (const auto& out : node.outs) {
      if (id && out && out->id == id->as_string()) found = &*out;
    }
  }
  if (!found || found->offset != 0 || found->stride.size() != found->shape.size()) return false;
  int64_t stride = 1;
  for (size_t i = found->shape.size(); i-- > 0;) {
    if (found->shape[i] != 1 && found->stride[i] != stride) return false;
    stride = product_of(stride, found->shape[i]);
  }
  return true;
}

Result<std::optional<Value>> Call::maybe_tensor(const char* name) const {
  if (is_none(name)) return std::optional<Value>();
  SOLSTICE_TRY(Value value, tensor(name));
  return std::optional<Value>(std::move(value));
}

Result<std::vector<std::string>> Call::ids(const char* name) const {
  std::vector<std::string> out;
  if (!argument(name).is_array()) return bad_argument(name, "a list of tensors");
  for (const Json& item : argument(name).items()) {
    const Json* id = item.find("t");
    if (!id) return bad_argument(name, "a list of tensors");
    out.push_back(id->as_string());
  }
  return out;
}

Result<Operands> Call::tensors(const char* name) const {
  Operands out;
  SOLSTICE_TRY(const std::vector<std::string> listed, ids(name));
  for (const std::string& id : listed) {
    SOLSTICE_TRY(Value value, value_of(id));
    if (value.imaginary) return unsupported("complex numbers have no equations here");
    out.push_back(std::move(value));
  }
  return out;
}

Result<std::vector<std::optional<Value>>> Call::maybe_tensors(const char* name) const {
  std::vector<std::optional<Value>> out;
  if (!argument(name).is_array()) return bad_argument(name, "a list of tensors");
  for (const Json& item : argument(name).items()) {
    const Json* id = item.find("t");
    if (!id && !item.is_null()) return bad_argument(name, "a list of tensors");
    out.emplace_back();
    if (!id) continue;
    SOLSTICE_TRY(out.back(), value_of(id->as_string()));
  }
  return out;
}

Result<Operands> Call::tensors_with_elements(const char* name) const {
  Operands out;
  SOLSTICE_TRY(const std::vector<std::string> listed, ids(name));
  for (const std::string& id : listed) {
    SOLSTICE_TRY(Value value, any_value(id));
    if (!value.is_empty()) out.push_back(std::move(value));
  }
  return out;
}

Result<int64_t> Call::integer(const char* name) const {
  const Json& value = argument(name);
  if (value.is_bool()) return static_cast<int64_t>(value.as_bool());
  if (!value.is_int() || !is_moderate(value.as_int())) return bad_argument(name, "an integer below 2^56");
  return value.as_int();
}

Result<int64_t> Call::position(const char* name) const {
  const Json& value = argument(name);
  if (!value.is_int()) return bad_argument(name, "an integer");
  return std::clamp(value.as_int(), -kLargest, kLargest);
}

Result<int64_t> Call::count(const char* name) const {
  SOLSTICE_TRY(const int64_t value, integer(name));
  if (value < 1 || value > kMostCount) return bad_argument(name, "an integer above 0");
  return value;
}

Result<double> Call::number(const char* name) const {
  const Json& value = argument(name);
  if (value.is_bool()) return value.as_bool() ? 1.0 : 0.0;
  if (!value.is_number() && !value.find("float")) return bad_argument(name, "a number");
  return special_number(value);
}

Result<bool> Call::flag(const char* name) const {
  if (!argument(name).is_bool()) return bad_argument(name, "true or false");
  return argument(name).as_bool();
}

Result<std::string> Call::text(const char* name) const {
  if (!argument(name).is_string()) return bad_argument(name, "a string");
  return argument(name).as_string();
}

Result<Integers> Call::integers(const char* name, size_t count) const {
  const Json& value = argument(name);
  if (value.is_int() && is_moderate(value.as_int())) return Integers(std::max<size_t>(count, 1), value.as_int());
  if (!value.is_array()) return bad_argument(name, "a list of integers");
  Integers out;
  for (const Json& item : value.items()) {
    if (!item.is_int() || !is_moderate(item.as_int())) return bad_argument(name, "a list of integers below 2^56");
    out.push_back(item.as_int());
  }
  if (out.size() == 1 && count > 1) out.assign(count, out[0]);
  if (count != 0 && out.size() != count) return bad_argument(name, "one integer for each dimension");
  return out;
}

Result<Integers> Call::counts(const char* name, size_t count) const {
  SOLSTICE_TRY(Integers out, integers(name, count));
  const bool fit = std::all_of(out.begin(), out.end(), [](int64_t value) { return value >= 1 && value <= kMostCount; });
  if (!fit) return bad_argument(name, "integers above 0");
  return out;
}

Result<int> Call::axis(const char* name, int rank) const {
  SOLSTICE_TRY(int64_t at, integer(name));
  if (at < 0) at += std::max(rank, 1);
  if (at < 0 || at >= std::max(rank, 1)) return bad_argument(name, "a dimension of the tensor");
  return static_cast<int>(at);
}

Result<std::vector<int>> Call::axes(const char* name, int rank) const {
  std::vector<int> out(static_cast<size_t>(rank));
  std::iota(out.begin(), out.end(), 0);
  if (is_none(name) || (argument(name).is_array() && argument(name).size() == 0)) return out;
  SOLSTICE_TRY(out, listed_axes(name, rank));
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::vector<int>> Call::listed_axes(const char* name, int rank) const {
  SOLSTICE_TRY(const Integers given, integers(name));
  std::vector<int> out;
  for (const int64_t axis : given) {
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= std::max(rank, 1)) return bad_argument(name, "dimensions of the tensor");
    if (rank > 0) out.push_back(static_cast<int>(at));
  }
  return out;
}

TermRef rounded_scalar(double value, DType dtype) {
  return real(dtype == DType::kF64 ? value : static_cast<double>(static_cast<float>(value)));
}

Result<TermRef> Call::scalar(const char* name, DType dtype) const {
  SOLSTICE_TRY(const double value, number(name));
  if (argument(name).is_bool()) return literal(value != 0 ? "true" : "false");
  if (argument(name).is_int()) return importer::integer(argument(name).as_int());
  return rounded_scalar(value, dtype);
}

Result<DType> Call::out_dtype(size_t i) const {
  if (i >= node_.outs.size() || !node_.outs[i] || !node_.outs[i]->is_tensor()) {
    return unsupported(fmt::format("result {} is no tensor", i));
  }
  if (const auto dtype = storage_dtype(*node_.outs[i]->dtype)) return *dtype;
  return unsupported("complex numbers have no equations");
}

Integers Call::out_shape(size_t i) const {
  return i < node_.outs.size() && node_.outs[i] ? Integers(node_.outs[i]->shape) : Integers();
}

int64_t Call::out_extent(int axis) const {
  const Integers shape = out_shape();
  const int64_t at = axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis;
  if (at < 0 || at >= static_cast<int64_t>(shape.size())) damaged("a result of too low a rank");
  return shape[static_cast<size_t>(at)];
}

// A closed form is folded into whatever reads it, unless it is long: forms of forms would grow without end.
Value Call::folded(Value value) {
  constexpr int kMostNodes = 100;
  if (value.is_empty() || value.imaginary) return value;
  if (!is_longer(value.term, kMostNodes)) {
    if (is_float(value.dtype) && !value.is_stored()) value.term = as_marked(value.dtype, std::move(value.term));
    return value;
  }
  if (value.is_stored()) return value;
  if (is_float(value.dtype)) value.term = apply(std::string(name_of(value.dtype)), {std::move(value.term)});
  return draft_.stored(value, wish());
}

bool Call::out_used(size_t i) const { return i < node_.outs.size() && node_.outs[i] && node_.outs[i]->used; }

Status Call::yield(size_t i, Value value) {
  if (i >= node_.outs.size() || !node_.outs[i]) {
    return fail(Code::internal, fmt::format("the rule of {} gives result {}, which the graph lacks", node_.op, i));
  }
  if (shape_of(value) != node_.outs[i]->shape) {
    return fail(Code::internal,
                fmt::format("the rule of {} gives shape {} for `{}`, PyTorch recorded {}", node_.op,
                            shape_text(shape_of(value)), node_.outs[i]->id, shape_text(node_.outs[i]->shape)));
  }
  values_[node_.outs[i]->id] = folded(std::move(value));
  return success();
}

}  // namespace solstice::importer
