#include "families/rows/kept.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"
#include "families/reduction/layout.h"

namespace solstice::families::rows {
namespace {

constexpr int64_t kAlignment = 128;  // of a value's shared memory: all of its banks

struct Place {
  int64_t offset, bytes;
  bool known;   // `bytes` are the elements' stride, not a bound of it
  size_t last;  // sweep that uses the value in it
};

size_t last_use(const Phases& phases, const ir::ExprRef& value) {
  size_t out = 0;
  for (size_t p = 0; p < phases.sweeps.size(); ++p) {
    const auto& uses = phases.sweeps[p].uses;
    if (std::find(uses.begin(), uses.end(), value) != uses.end()) out = p;
  }
  return out;
}

int storage_bytes(const ir::Program& program, int tensor) {
  return size_of(program.tensor(tensor).dtype.value_or(DType::kF32));
}

// Whether a value that is computed in f64 may lie below.
bool holds_doubles(const ir::Program& program, const ir::ExprRef& e) {
  bool out = false;
  ir::walk(e, [&](const ir::Expr& node) {
    out |= node.op == ir::Op::kRead && program.tensor(node.id).dtype == DType::kF64;
    out |= node.op == ir::Op::kCast && node.dtype == DType::kF64;
  });
  return out;
}

// Of a value that is certainly computed as a float; of others computed_bytes is a bound.
bool is_float(const ir::Program& program, const ir::ExprRef& e) {
  return e->kind == ir::ValueKind::kReal && !holds_doubles(program, e);
}

int computed_bytes(const ir::Program& program, const ir::ExprRef& e) {
  return e->kind == ir::ValueKind::kInt || holds_doubles(program, e) ? 8 : 4;
}

}  // namespace

int element_bytes(const ir::Program& program, const ir::ExprRef& value, bool loaded) {
  return loaded ? storage_bytes(program, value->id) : computed_bytes(program, value);
}

KeptPlaces kept_places(const ir::Program& program, const Shape& shape, const Phases& phases, int vector) {
  const std::vector<codegen::Access> accesses = codegen::accesses_of(program, shape.flat);
  const auto is_loaded = [&](const ir::ExprRef& e) {
    return std::any_of(accesses.begin(), accesses.end(),
                       [&](const codegen::Access& a) { return a.read == e && is_stream(shape, a, vector); });
  };
  KeptPlaces out;
  std::vector<Place> places;
  for (size_t sweep = 0; sweep < phases.sweeps.size(); ++sweep) {
    for (const ir::ExprRef& e : phases.sweeps[sweep].keeps) {
      const bool loaded = is_loaded(e);  // ahead of the sweep: into a place of its own
      const int64_t bytes = element_bytes(program, e, loaded);
      const bool known = loaded || is_float(program, e);
      auto place = std::find_if(places.begin(), places.end(), [&](const Place& p) {
        return !loaded && known && p.known && p.last <= sweep && p.bytes == bytes;
      });
      if (place == places.end()) {
        place = places.insert(place, {out.bytes, bytes, known, 0});
        out.bytes += bytes;
      }
      place->last = last_use(phases, e);
      out.offsets.push_back(place->offset);
    }
  }
  return out;
}

KeptValues::KeptValues(const Draft& draft) : draft_(draft) {
  for (const Sweep& sweep : draft.phases.sweeps) {
    for (const ir::ExprRef& e : sweep.keeps) {
      Kept kept;
      kept.value = e;
      kept.name = fmt::format("k{}", all_.size());
      kept.loaded = draft.streams(e);
      if (kept.loaded) kept.element = draft.storage(e->id);
      all_.push_back(std::move(kept));
    }
  }
}

const Kept* KeptValues::find(const ir::ExprRef& value) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Kept& k) { return k.value == value; });
  return found == all_.end() ? nullptr : &*found;
}

std::string KeptValues::at_step(const Kept& kept) const {
  const Settings& s = draft_.settings;
  return s.residency == Residency::kShared ? fmt::format("{}[k * {}]", kept.name, s.threads) : kept.name + "[k]";
}

Status KeptValues::write(Draft& draft, const ir::ExprRef& e, VectorText& text) {
  Kept& kept = *std::find_if(all_.begin(), all_.end(), [&](const Kept& k) { return k.value == e; });
  if (kept.loaded) return success();
  SOLSTICE_TRY(const codegen::Value value, draft.emitter.emit(e));
  kept.type = value.type;
  kept.element = codegen::name_of(value.type);
  text.before += fmt::format("{} {}_;\n", draft.vector_type(kept.element), kept.name);
  text.lanes += fmt::format("{}_.v[lane] = {};\n", kept.name, value.text);
  text.after += fmt::format("{} = {}_;\n", at_step(kept), kept.name);
  return success();
}

std::string KeptValues::declare(int64_t& shared) {
  const KeptPlaces places = kept_places(draft_.program, draft_.shape, draft_.phases, draft_.settings.vector);
  const int64_t begin = round_up(shared, kAlignment),
                elements = draft_.steps * draft_.settings.threads * draft_.settings.vector;
  std::string out;
  for (size_t i = 0; i < all_.size(); ++i) {
    const Kept& kept = all_[i];
    const std::string type = draft_.vector_type(kept.element);
    if (draft_.settings.residency == Residency::kRegisters) {
      out += fmt::format("{} {}[{}];\n", type, kept.name, draft_.steps);
      continue;
    }
    out += fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(shared + {2}) + threadIdx.x;\n", type, kept.name,
                       begin + elements * places.offsets[i]);
  }
  if (draft_.settings.residency == Residency::kShared) shared = begin + elements * places.bytes;
  return out;
}

}  // namespace solstice::families::rows
