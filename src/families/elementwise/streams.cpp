#include "families/elementwise/streams.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/text/marks.h"

namespace solstice::families::elementwise {
namespace {

using codegen::Access;
using codegen::Emitter;
using codegen::Value;

}  // namespace

Streams::Streams(Draft& draft) : draft_(draft) {
  for (const Access& access : codegen::accesses_of(draft.program, draft.nest.flat)) {
    if (!access.read || !is_stream(draft.nest, access)) continue;
    const auto same = [&](const Stream& s) { return s.access.read == access.read; };
    if (std::any_of(all_.begin(), all_.end(), same)) continue;
    all_.push_back({access, fmt::format("x{}", all_.size())});
  }
}

std::vector<Streams::Vector> Streams::vectors() const {
  std::vector<Vector> out;
  for (const Stream& s : all_) {
    const std::string type = fmt::format("Vec<{}, {}>", draft_.storage(s.access.tensor), draft_.nest.vector);
    out.push_back({s.name, type, int64_t{size_of(*draft_.program.tensor(s.access.tensor).dtype)} * draft_.nest.vector});
  }
  return out;
}

std::string Streams::declarations() const {
  std::string out;
  for (const Vector& v : vectors()) out += fmt::format("{} {}[{}];\n", v.type, v.name, draft_.unroll);
  return out;
}

Result<std::string> Streams::loads(std::string_view fetch) {
  std::string out;
  for (const Stream& s : all_) {
    SOLSTICE_TRY(const std::string text, load(s, fetch));
    out += text;
  }
  return out;
}

Result<std::string> Streams::load(const Stream& s, std::string_view fetch) {
  const ir::Tensor& tensor = draft_.program.tensor(s.access.tensor);
  Emitter& emitter = draft_.emitter;
  emitter.note_read(s.access.tensor);
  SOLSTICE_TRY(const Emitter::Place at, emitter.place(tensor, s.access.args));
  const bool leaves_first = draft_.settings.streaming.loads && !is_reused(draft_.nest, s.access);
  const std::string from = fmt::format("{} + {}", emitter.pointer_name(s.access.tensor), at.offset.text);
  const std::string whole = fetch.empty() ? fmt::format("{}[u] = load<{}, {}>({});\n", s.name, draft_.nest.vector,
                                                        leaves_first ? "kStream" : "kPlain", from)
                                          : fmt::format("{}({}[u], {});\n", fetch, s.name, from);
  const std::string text = load_with_tail(s, whole, at.offset.text);
  const int equation = emitter.indices().source_of(*s.access.read);
  if (!at.inside) return codegen::marked(text, equation, "load");
  SOLSTICE_TRY(const std::string value, otherwise(s));
  const std::string tested = fmt::format(
      "if ({}) {{\n{}}} else {{\n#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {}[u].v[lane] = "
      "narrow<{}>({});\n}}\n",
      at.inside->text, text, draft_.nest.vector, s.name, draft_.storage(s.access.tensor), value);
  return codegen::marked(tested, equation, "load");
}

std::string Streams::load_with_tail(const Stream& s, const std::string& load, const std::string& offset) const {
  const std::string pointer = draft_.emitter.pointer_name(s.access.tensor);
  if (draft_.nest.shifted) {
    // Elements of other rows may be loaded too, but nothing outside of the tensor.
    const ir::Tensor& tensor = draft_.program.tensor(s.access.tensor);
    int64_t last = 0;
    for (size_t d = 0; d < tensor.shape.size(); ++d) last += (tensor.shape[d] - 1) * tensor.strides[d];
    const std::string in_memory = fmt::format("{0} >= 0 && {0} <= {1}", offset, last + 1 - draft_.nest.vector);
    return fmt::format(
        "if ({6}) {{\n{0}}} else {{\n#pragma unroll\nfor (int lane = 0; lane < {1}; ++lane) if ({2}) {3}[u].v[lane] = "
        "{4}[{5} + lane];\n}}\n",
        load, draft_.nest.vector, draft_.inside_row(), s.name, pointer, offset, in_memory);
  }
  if (draft_.tail() == 0) return load;
  return fmt::format(
      "if (kFull || q < {0}) {1}else for (int lane = 0; lane < {2}; ++lane) {3}[u].v[lane] = {4}[{5} + lane];\n",
      draft_.whole_vectors(), load, draft_.tail(), s.name, pointer, offset);
}

// The value of all lanes where the read is out of range.
Result<std::string> Streams::otherwise(const Stream& s) {
  if (!s.access.read->has_else) return std::string("0");
  SOLSTICE_TRY(const Value value, draft_.emitter.emit(s.access.read->args.back()));
  return value.text;
}

std::optional<Value> Streams::element(const ir::ExprRef& node, int lane_depth) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Stream& s) { return s.access.read == node; });
  if (found == all_.end()) return std::nullopt;
  const DType dtype = *draft_.program.tensor(node->id).dtype;
  return draft_.emitter.define(codegen::computing_type(dtype), fmt::format("widen({}[u].v[lane])", found->name),
                               lane_depth, codegen::values_of(dtype));
}

}  // namespace solstice::families::elementwise
