#include "import/loops/roll.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "import/draft/term_mapper.h"

namespace solstice::importer {
namespace {

// Writes the pattern's equation of one place over the step's index.
class StepWriter : public TermCopier {
 public:
  StepWriter(const Draft& draft, const Unrolled& loop, size_t position, const std::vector<int>& rolled,
             const Loop& step)
      : TermCopier(draft), place_(loop.places[position]), position_(position), rolled_(rolled), step_(step) {}

 private:
  Index offset(const Size& given) override {
    if (!given.canonical(source().dims()).is_constant()) return Index(given);
    const Unrolled::Offset& moves = place_.offsets[next_offset_++];
    Index out(moves.start);
    return moves.step == 0 ? out : scale(index_of(step_), Size(moves.step)) + out;
  }

  TermRef number(const TermRef& given) override {
    const Unrolled::Number& moves = place_.numbers[next_number_++];
    if (moves.step == 0) return given;
    const auto whole = [](int64_t units) { return units / (int64_t{1} << 32); };
    const auto value = [](int64_t units) { return real(std::ldexp(static_cast<double>(units), -32)); };
    if (!Unrolled::Number::is_whole(moves.step)) {
      TermRef grown = value(moves.step) * index_value(index_of(step_));
      return moves.start == 0 ? grown : value(moves.start) + grown;
    }
    const Index grown = scale(index_of(step_), Size(whole(moves.step)));
    return moves.is_whole() ? index_value(grown + Index(whole(moves.start))) : value(moves.start) + index_value(grown);
  }

  void left(DraftEquation& equation) override {
    if (place_.pieces) return;
    equation.tensor = rolled_[position_];
    equation.lhs.insert(equation.lhs.begin(), index_of(step_));
  }

  int tensor(int id) override {
    if (met_target_) order_.push_back(next_read_++);
    met_target_ = true;
    return id;
  }

  // A read's place in the order of visits is known when its tensor is met, before the reads in its indices.
  void read_made(Term& made) override {
    const Unrolled::Read& read = place_.reads[order_.back()];
    order_.pop_back();
    if (read.position < 0) return;
    TermRef first = read.given;
    if (!first && read.distance > 0) first = importer::read(read.initial, made.indices);
    made.tensor = rolled_[static_cast<size_t>(read.position)];
    made.indices.insert(made.indices.begin(), index_of(step_) + Index(-static_cast<int64_t>(read.distance)));
    if (first) made.args.push_back(std::move(first));
  }

  const Unrolled::Place& place_;
  size_t position_;
  const std::vector<int>& rolled_;
  const Loop& step_;
  size_t next_offset_ = 0, next_number_ = 0, next_read_ = 0;
  std::vector<size_t> order_;
  bool met_target_ = false;
};

// Later reads of one step's tensor.
class LaterReader : public TermCopier {
 public:
  LaterReader(const Draft& draft, const std::map<int, std::pair<int, int64_t>>& steps)
      : TermCopier(draft), steps_(steps) {}

 private:
  void read_made(Term& made) override {
    const auto found = steps_.find(made.tensor);
    if (found == steps_.end()) return;
    made.tensor = found->second.first;
    made.indices.insert(made.indices.begin(), Index(found->second.second));
  }

  const std::map<int, std::pair<int, int64_t>>& steps_;
};

class Roller {
 public:
  Roller(Draft& draft, const Unrolled& loop) : draft_(draft), loop_(loop) {}

  void run() {
    for (const auto& [a, b] : loop_.joined) draft_.dims().unify(a, b);
    const Loop step = draft_.loops().fresh(step_dim(), "t");
    add_tensors(step);
    relate_pieces(step.dim);
    std::vector<DraftItem> items(draft_.items.begin(), draft_.items.begin() + static_cast<long>(loop_.first));
    for (size_t p = 0; p < loop_.period; ++p) {
      DraftItem item = draft_.items[loop_.at(loop_.pattern, p)];
      item.equation = StepWriter(draft_, loop_, p, rolled_, step).equation(item.equation);
      item.is_rolled = true;
      items.push_back(std::move(item));
    }
    add_copies(items, draft_.dims().size(step.dim));
    for (size_t i = loop_.last(); i < draft_.items.size(); ++i) {
      DraftItem item = std::move(draft_.items[i]);
      if (item.is_equation()) item.equation = LaterReader(draft_, steps_).equation(item.equation);
      items.push_back(std::move(item));
    }
    draft_.items = std::move(items);
  }

 private:
  // The number of steps; where the steps walk along axes, their dim, or what is left of one after a first step.
  DimId step_dim() {
    const auto count = static_cast<int64_t>(loop_.count);
    const DimId dim = draft_.dims().fresh(count);
    draft_.dims().hint(dim, "T", 5);
    const std::vector<DimId> axes = walked();
    bool whole = false;
    for (const DimId axis : axes) {
      if (draft_.dims().is_literal(axis) || draft_.dims().value(axis) != count) continue;
      draft_.dims().unify(axis, dim);
      whole = true;
    }
    const auto longer = std::find_if(axes.begin(), axes.end(), [&](DimId axis) {
      return !draft_.dims().is_literal(axis) && draft_.dims().value(axis) == count + 1;
    });
    if (!whole && longer != axes.end()) draft_.dims().derive(dim, {draft_.dims().size(*longer), 1, -1});
    return dim;
  }

  // Dims of the axes that a step's reads advance along one by one.
  std::vector<DimId> walked() const {
    std::vector<DimId> out;
    for (size_t p = 0; p < loop_.period; ++p)
      collect(draft_.items[loop_.at(loop_.pattern, p)].equation.rhs,
              draft_.items[loop_.at(loop_.pattern + 1, p)].equation.rhs, out);
    return out;
  }

  void collect(const TermRef& a, const TermRef& b, std::vector<DimId>& out) const {
    for (size_t i = 0; a->kind == TermKind::kRead && a->tensor == b->tensor && i < a->indices.size(); ++i) {
      if (b->indices[i].offset.value() != a->indices[i].offset.value() + 1 || !a->indices[i].is_constant()) continue;
      if (const auto dim = single_dim(draft_.tensors[static_cast<size_t>(a->tensor)].shape[i])) out.push_back(*dim);
    }
    for (size_t i = 0; !is_number(*a) && i < a->args.size(); ++i) collect(a->args[i], b->args[i], out);
  }

  // An axis that the pieces of all steps fill is as long as the loop, after what stands before the first of them.
  void relate_pieces(DimId step) {
    Dims& dims = draft_.dims();
    for (size_t p = 0; p < loop_.period; ++p) {
      const DraftEquation& first = draft_.items[loop_.at(0, p)].equation;
      const DraftEquation& second = draft_.items[loop_.at(1, p)].equation;
      for (size_t i = 0; loop_.places[p].pieces && i < first.lhs.size(); ++i) {
        const int64_t start = first.lhs[i].offset.value();
        const auto axis = single_dim(draft_.tensors[static_cast<size_t>(first.tensor)].shape[i]);
        if (!axis || !first.lhs[i].is_constant() || second.lhs[i].offset.value() != start + 1) continue;
        if (dims.value(*axis) != dims.value(step) + start || dims.formula(*axis)) continue;
        if (start > 0) dims.derive(*axis, {dims.size(step), 1, start});
        if (start == 0) dims.unify(*axis, step);
      }
    }
  }

  std::optional<DimId> single_dim(const Size& size) const {
    const Size canonical = size.canonical(draft_.dims());
    const auto& terms = canonical.terms();
    if (terms.size() != 1 || terms.begin()->second != 1 || terms.begin()->first.size() != 1) return std::nullopt;
    return terms.begin()->first[0];
  }

  void add_tensors(const Loop& step) {
    std::map<int, int> made;  // tensors of the pattern -> rolled
    for (size_t p = 0; p < loop_.period; ++p) {
      const int target = draft_.items[loop_.at(loop_.pattern, p)].equation.tensor;
      if (loop_.places[p].pieces) {
        rolled_.push_back(target);
        continue;
      }
      const auto known = made.find(target);
      if (known != made.end()) {
        rolled_.push_back(known->second);
        draft_.tensors[static_cast<size_t>(known->second)].kind = DraftKind::kTensor;  // in pieces
        continue;
      }
      const DraftTensor& first = draft_.tensors[static_cast<size_t>(target)];
      DraftTensor tensor;
      const bool local = first.kind == DraftKind::kLocal || first.kind == DraftKind::kOutput;
      // Only of a declared tensor does the binder know, before it has read the step, that it holds integers.
      tensor.kind = local && is_float(first.dtype) ? DraftKind::kLocal : DraftKind::kTensor;
      tensor.wish = first.wish;
      tensor.dtype = first.dtype;
      tensor.shape.push_back(draft_.dims().size(step.dim));
      for (const Size& extent : first.shape) tensor.shape.push_back(extent);
      const int id = draft_.add(std::move(tensor));
      made.emplace(target, id);
      rolled_.push_back(id);
      for (size_t k = 0; k < loop_.count; ++k) {
        steps_[draft_.items[loop_.at(k, p)].equation.tensor] = {id, static_cast<int64_t>(k)};
      }
    }
  }

  // Values that leave the program or go to PyTorch keep their tensor; the others are gone.
  void add_copies(std::vector<DraftItem>& items, const Size& steps) {
    std::set<int> wanted;
    for (const DraftOpaque& opaque : draft_.opaques) {
      for (const auto& argument : opaque.arguments) wanted.insert(argument.tensor);
    }
    for (const auto& [id, place] : steps_) {
      DraftTensor& tensor = draft_.tensors[static_cast<size_t>(id)];
      tensor.steps_in = place.first;
      tensor.step = place.second;
      if (tensor.kind != DraftKind::kOutput && tensor.into < 0 && !wanted.count(id)) {
        tensor.kind = DraftKind::kLocal;
        tensor.rolled = place.first;
        continue;
      }
      std::vector<Index> at;
      DraftItem item;
      for (const Size& extent : tensor.shape) at.push_back(position_along(extent));
      std::vector<Index> from = at;
      const bool last = place.second + 1 == steps.value();
      from.insert(from.begin(), last ? Index(steps - Size(1)) : Index(place.second));
      item.equation = {id, at, read(place.first, std::move(from))};
      items.push_back(std::move(item));
    }
  }

  Index position_along(const Size& extent) {
    const auto dim = single_dim(extent);
    const DimId id = dim ? *dim : draft_.dims().fresh(extent.value());
    if (!dim) draft_.dims().derive(id, {extent, 1, 0});
    return index_of(draft_.loops().fresh(id));
  }

  Draft& draft_;
  const Unrolled& loop_;
  std::vector<int> rolled_;                       // of each place
  std::map<int, std::pair<int, int64_t>> steps_;  // a step's tensor -> rolled tensor, step
};

}  // namespace

void roll(Draft& draft, const Unrolled& loop) { Roller(draft, loop).run(); }

}  // namespace solstice::importer
