#include "families/rows/residency.h"

#include <algorithm>

#include "codegen/access.h"
#include "families/reduction/row_access.h"
#include "ir/walk_distinct.h"

namespace solstice::families::rows {
namespace {

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

// True if a value below may be computed in f64.
bool holds_doubles(const ir::Program& program, const ir::ExprRef& e) {
  bool out = false;
  ir::walk_distinct(e, [&](const ir::Expr& node) {
    out |= node.op == ir::Op::kRead && program.tensor(node.id).dtype == DType::kF64;
    out |= node.op == ir::Op::kCast && node.dtype == DType::kF64;
  });
  return out;
}

// True if the value is certainly computed as a float; for others computed_bytes is a bound.
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

SharedPlaces shared_places(const ir::Program& program, const Shape& shape, const Phases& phases, int vector) {
  const std::vector<codegen::Access> accesses = codegen::accesses_of(program, shape.flat);
  const auto is_loaded = [&](const ir::ExprRef& e) {
    return std::any_of(accesses.begin(), accesses.end(),
                       [&](const codegen::Access& a) { return a.read == e && is_stream(shape, a, vector); });
  };
  SharedPlaces out;
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

}  // namespace solstice::families::rows
