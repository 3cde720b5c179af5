#include "families/rows/staging.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/text/marks.h"
#include "families/reduction/row_access.h"
#include "families/rows/loop.h"

namespace solstice::families::rows {

using codegen::Emitter;
using codegen::Value;
using ir::ExprRef;

namespace {

bool contains(const std::vector<ExprRef>& list, const ExprRef& e) {
  return std::find(list.begin(), list.end(), e) != list.end();
}

}  // namespace

Result<std::string> Staging::load_ahead(const Sweep& sweep) {
  std::string loads;
  Emitter& emitter = draft_.emitter;
  const int depth = emitter.push();
  bind_columns(emitter, draft_.shape, draft_.settings.vector, depth);
  for (const ExprRef& read : sweep.reads) {
    if (!draft_.streams(read)) continue;
    const std::optional<std::string> to = array_for(read);
    if (!to) continue;
    SOLSTICE_TRY(const std::string load, vector_load(read, *to, true));
    loads += load;
  }
  const std::string inner = emitter.take(depth);
  emitter.pop();
  const std::string once = emitter.take(0);
  if (loads.empty()) return once;
  const LoopText loop = plain_loop(draft_.shape, draft_.settings);
  return once + loop.head + inner + loads + loop.tail;
}

// The vector of step `k` that data is loaded to ahead of its use; nothing: it is loaded where it is used.
std::optional<std::string> Staging::array_for(const ExprRef& read) {
  if (const ResidentValue* kept = resident_.find(read)) return resident_.at_step(*kept);
  if (draft_.settings.residency != Residency::kRegisters) return std::nullopt;
  const std::string name = fmt::format("x{}", draft_.emitter.fresh());
  declarations_ += fmt::format("{} {}[{}];\n", draft_.vector_type(draft_.storage(read->id)), name, draft_.steps);
  ahead_[read.get()] = name + "[k]";
  return name + "[k]";
}

// The text of a vector load, under its test where it has one. The lanes must not be bound yet.
Result<std::string> Staging::vector_load(const ExprRef& read, const std::string& to, bool last_use) {
  const codegen::Access& access = draft_.reads.at(read.get());
  const Settings& s = draft_.settings;
  Emitter& emitter = draft_.emitter;
  emitter.note_read(access.tensor);
  SOLSTICE_TRY(const Emitter::Place at, emitter.place(draft_.program.tensor(access.tensor), access.args));
  const int equation = emitter.indices().source_of(*read);
  const std::string load =
      fmt::format("{} = load<{}, {}>({} + {});\n", to, s.vector, last_use && s.streaming.loads ? "kStream" : "kPlain",
                  emitter.pointer_name(access.tensor), at.offset.text);
  if (!at.inside) return codegen::marked(load, equation, "load");
  SOLSTICE_TRY(const std::string otherwise, otherwise_of(read));
  const std::string tested =
      fmt::format("if ({}) {}else for (int lane = 0; lane < {}; ++lane) {}.v[lane] = narrow<{}>({});\n",
                  at.inside->text, load, s.vector, to, draft_.storage(access.tensor), otherwise);
  return codegen::marked(tested, equation, "load");
}

Result<std::string> Staging::otherwise_of(const ExprRef& read) {
  if (!read->has_else) return std::string("0");
  SOLSTICE_TRY(const Value value, draft_.emitter.emit(read->args.back()));
  return value.text;
}

Result<std::optional<Value>> Staging::element(const ExprRef& node, const SweepScope& scope) {
  const ResidentValue* kept = resident_.find(node);
  // A value that this sweep computes and keeps is computed here, not taken from its place.
  const bool filled = kept && (kept->loaded || !contains(scope.sweep.keeps, node));
  if (filled) {
    const std::string vector = copy_of(resident_.at_step(*kept), kept->element, scope);
    if (kept->loaded) return std::optional(loaded_lane(node, vector, scope));
    return std::optional(draft_.emitter.define(kept->type, vector + ".v[lane]", scope.lanes));
  }
  if (node->op != ir::Op::kRead || !draft_.streams(node)) return std::optional<Value>();
  if (const auto found = ahead_.find(node.get()); found != ahead_.end()) {
    return std::optional(loaded_lane(node, copy_of(found->second, draft_.storage(node->id), scope), scope));
  }
  SOLSTICE_TRY(const std::string vector, load_here(node, scope));
  return std::optional(loaded_lane(node, vector, scope));
}

Value Staging::loaded_lane(const ExprRef& read, const std::string& vector, const SweepScope& scope) {
  const DType dtype = *draft_.program.tensor(read->id).dtype;
  return draft_.emitter.define(codegen::computing_type(dtype), fmt::format("widen({}.v[lane])", vector), scope.lanes,
                               codegen::values_of(dtype));
}

std::string Staging::copy_of(const std::string& source, std::string_view element, const SweepScope& scope) {
  const std::string name = fmt::format("u{}", draft_.emitter.fresh());
  draft_.emitter.statement(scope.vectors, fmt::format("const {} {} = {};", draft_.vector_type(element), name, source));
  return name;
}

Result<std::string> Staging::load_here(const ExprRef& read, const SweepScope& scope) {
  const int inner = draft_.shape.columns.back().stepping();
  const codegen::Binding lanes = draft_.emitter.binding(inner);
  draft_.emitter.bind(inner, scope.base);
  const std::string name = fmt::format("w{}", draft_.emitter.fresh());
  const bool last_use = contains(scope.sweep.reads, read) && !is_read_again(scope.sweep);
  SOLSTICE_TRY(const std::string load, vector_load(read, name, last_use));
  draft_.emitter.statement(scope.vectors,
                           fmt::format("{} {};\n{}", draft_.vector_type(draft_.storage(read->id)), name, load));
  draft_.emitter.bind(inner, lanes);
  return name;
}

bool Staging::is_read_again(const Sweep& sweep) const {
  return draft_.settings.residency == Residency::kReload && &sweep != &draft_.phases.sweeps.back();
}

}  // namespace solstice::families::rows
