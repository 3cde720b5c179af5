#include "import/closed/closed.h"

#include <map>
#include <string>

#include "import/draft/substitute.h"
#include "import/draft/term_mapper.h"
#include "import/text/emit.h"
#include "ir/bind.h"
#include "ir/interpret.h"

namespace solstice::importer {
namespace {

constexpr int64_t kMostPoints = int64_t{1} << 20;

// Copies an equation into a draft of its own, every size as a number.
class Extracted : public TermMapper {
 public:
  Extracted(const Draft& source, Draft& into) : TermMapper(source), into_(into) {}

 protected:
  int tensor(int id) override { return id; }
  Size size(const Size& given) override { return Size(given.value()); }
  Loop loop(const Loop& given) override {
    const auto known = loops_.find(given.id);
    if (known != loops_.end()) return known->second;
    return loops_.emplace(given.id, into_.loops().window(given.extent, "")).first->second;
  }

 private:
  Draft& into_;
  std::map<int, Loop> loops_;
};

void drop_binders(const Term& term, std::map<int, Loop>& loops) {
  for (const Loop& binder : term.binders) loops.erase(binder.id);
  for (const TermRef& arg : term.args) drop_binders(*arg, loops);
}

std::vector<Loop> free_loops(const Terms& terms) {
  std::map<int, Loop> loops;
  for (const TermRef& term : terms) collect_loops(term, loops);
  for (const TermRef& term : terms) drop_binders(*term, loops);
  std::vector<Loop> out;
  for (const auto& [id, loop] : loops) out.push_back(loop);
  return out;
}

}  // namespace

std::optional<std::vector<std::vector<double>>> evaluated(const Terms& closed) {
  const std::vector<Loop> loops = free_loops(closed);
  std::vector<Index> lhs;
  std::vector<Size> shape;
  int64_t points = 1;
  for (const Loop& loop : loops) {
    if (loop.extent > kMostPoints / points) return std::nullopt;
    points *= loop.extent;
    lhs.push_back(index_of(loop));
    shape.emplace_back(loop.extent);
  }
  Draft draft;
  for (const TermRef& term : closed) {
    DraftTensor tensor;
    tensor.kind = DraftKind::kOutput;
    tensor.wish = "y";
    tensor.dtype = DType::kF64;
    tensor.shape = shape;
    const int id = draft.add(std::move(tensor));
    draft.results.push_back(id);
    DraftItem item;
    item.equation = {id, lhs, is_truth(*term) ? select(term, integer(1), integer(0)) : term};
    item.equation = Extracted(draft, draft).equation(item.equation);
    draft.items.push_back(std::move(item));
  }
  Diagnostics diagnostics;
  const Result<ir::Program> program = ir::load_program(emit(draft, {}, "closed"), "closed form", diagnostics);
  if (!program.ok()) return std::nullopt;
  Result<ir::TensorValues> values = ir::interpret(*program, {});
  if (!values.ok()) return std::nullopt;
  std::vector<std::vector<double>> out;
  for (const int id : draft.results)
    out.push_back(std::move(values->at(draft.tensors[static_cast<size_t>(id)].name).values));
  return out;
}

}  // namespace solstice::importer
