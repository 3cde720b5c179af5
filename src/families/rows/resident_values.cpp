#include "families/rows/resident_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"
#include "families/rows/residency.h"

namespace solstice::families::rows {
namespace {

constexpr int64_t kAlignment = 128;  // of a value's shared memory: all of its banks

}  // namespace

ResidentValues::ResidentValues(const Draft& draft) : draft_(draft) {
  for (const Sweep& sweep : draft.phases.sweeps) {
    for (const ir::ExprRef& e : sweep.keeps) {
      ResidentValue kept;
      kept.value = e;
      kept.name = fmt::format("k{}", all_.size());
      kept.loaded = draft.streams(e);
      if (kept.loaded) kept.element = draft.storage(e->id);
      all_.push_back(std::move(kept));
    }
  }
}

const ResidentValue* ResidentValues::find(const ir::ExprRef& value) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const ResidentValue& k) { return k.value == value; });
  return found == all_.end() ? nullptr : &*found;
}

std::string ResidentValues::at_step(const ResidentValue& kept) const {
  const Settings& s = draft_.settings;
  return s.residency == Residency::kShared ? fmt::format("{}[k * {}]", kept.name, s.threads) : kept.name + "[k]";
}

Status ResidentValues::write(Draft& draft, const ir::ExprRef& e, VectorText& text) {
  ResidentValue& kept = *std::find_if(all_.begin(), all_.end(), [&](const ResidentValue& k) { return k.value == e; });
  if (kept.loaded) return success();
  SOLSTICE_TRY(const codegen::Value value, draft.emitter.emit(e));
  kept.type = value.type;
  kept.element = codegen::name_of(value.type);
  text.before += fmt::format("{} {}_;\n", draft.vector_type(kept.element), kept.name);
  text.lanes += fmt::format("{}_.v[lane] = {};\n", kept.name, value.text);
  text.after += fmt::format("{} = {}_;\n", at_step(kept), kept.name);
  return success();
}

std::string ResidentValues::declare(int64_t& shared) {
  const SharedPlaces places = shared_places(draft_.program, draft_.shape, draft_.phases, draft_.settings.vector);
  const int64_t begin = round_up(shared, kAlignment),
                elements = draft_.steps * draft_.settings.threads * draft_.settings.vector;
  std::string out;
  for (size_t i = 0; i < all_.size(); ++i) {
    const ResidentValue& kept = all_[i];
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
