#include "families/rows/kept.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"

namespace solstice::families::rows {
namespace {

constexpr int64_t kAlignment = 128;  // of a value's shared memory: all of its banks

size_t last_sweep_with(const Phases& phases, const Kept& kept, std::vector<ir::ExprRef> Sweep::*list) {
  size_t out = 0;
  for (size_t p = 0; p < phases.sweeps.size(); ++p) {
    const auto& values = phases.sweeps[p].*list;
    if (std::find(values.begin(), values.end(), kept.value) != values.end()) out = p;
  }
  return out;
}

}  // namespace

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

int KeptValues::bytes_of(const Kept& kept) const {
  if (kept.loaded) return size_of(*draft_.program.tensor(kept.value->id).dtype);
  return kept.type == codegen::CType::kF64 || kept.type == codegen::CType::kI64 ? 8 : 4;
}

// A value takes over the place of one that is last used in the sweep that computes it: a thread reads its old element
// before it writes the new one. Gives where the next new place begins.
int64_t KeptValues::place(Kept& kept, std::vector<const Kept*>& placed, int64_t end) const {
  const size_t computed = last_sweep_with(draft_.phases, kept, &Sweep::keeps);
  const auto free = std::find_if(placed.begin(), placed.end(), [&](const Kept* old) {
    return old && last_sweep_with(draft_.phases, *old, &Sweep::uses) <= computed && bytes_of(*old) == bytes_of(kept) && !kept.loaded;
  });
  if (free == placed.end()) {
    kept.offset = end;
    end += round_up(draft_.steps * draft_.settings.threads * draft_.settings.vector * bytes_of(kept), kAlignment);
  } else {
    kept.offset = (*free)->offset;
    *free = nullptr;
  }
  placed.push_back(&kept);
  return end;
}

std::string KeptValues::declare(int64_t& shared) {
  std::string out;
  int64_t end = round_up(shared, kAlignment);
  std::vector<const Kept*> placed;
  for (Kept& kept : all_) {
    const std::string type = draft_.vector_type(kept.element);
    if (draft_.settings.residency == Residency::kRegisters) {
      out += fmt::format("{} {}[{}];\n", type, kept.name, draft_.steps);
      continue;
    }
    end = place(kept, placed, end);
    out += fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(shared + {2}) + threadIdx.x;\n", type, kept.name, kept.offset);
  }
  shared = end;
  return out;
}

}  // namespace solstice::families::rows
