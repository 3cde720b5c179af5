#include "codegen/epilogue/equations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/walk_distinct.h"

namespace solstice::codegen {
namespace {

using ir::ExprRef;
using ir::Op;

// The nodes of an equation that decide how it is unified.
struct Survey {
  std::set<const ir::Expr*> reads;  // of accumulators
  std::set<int> accumulators;       // that are read
  std::set<int> bound;              // indices that reductions bind
  bool reduces = false, ranks = false;
};

class Unifier {
 public:
  Unifier(const ir::Program& program, const EpilogueRequest& request) : program_(program), request_(request) {}

  Result<EpilogueEquations> run(const ir::Kernel& kernel) {
    out_.accumulator = static_cast<int>(program_.tensors.size());
    std::vector<Anchor> anchors = {{request_.equation, request_.contraction, out_.accumulator}};
    if (request_.second)
      anchors.push_back({request_.second->equation, request_.second->contraction, out_.accumulator + 1});
    SOLSTICE_TRY(out_.flat, flatten(program_, kernel, anchors));
    for (const int id : anchor().free) {
      const ir::Index& index = anchor().indices[static_cast<size_t>(id)];
      out_.canonical.push_back(out_.flat.indices.add_index(index.name, index.extent));
    }
    for (FlatEquation& equation : out_.flat.equations) SOLSTICE_CHECK(unify(equation));
    for (const IndexVariable& variable : request_.variables) out_.digits.push_back(digits_of(variable));
    for (size_t i = 0; i < out_.canonical.size(); ++i) {
      if (out_.reduced.contains(out_.canonical[i])) out_.anchor_reduced.push_back(anchor().free[i]);
    }
    return std::move(out_);
  }

 private:
  const ir::Equation& anchor() const { return program_.equation(request_.equation); }
  const ir::Index& index(int id) const { return out_.flat.indices.index(id); }

  Error refuse(const FlatEquation& equation, const std::string& why) const {
    return fail(Code::not_yet,
                fmt::format("`{}` {}; an epilogue reads the product only at its own element",
                            program_.tensor(equation.target).name, why),
                "store the product, and read it in another kernel");
  }

  Survey survey(const FlatEquation& equation) const {
    Survey out;
    walk_distinct(equation.rhs, [&](const ir::Expr& e) {
      if (out_.is_accumulator(e)) out.reads.insert(&e), out.accumulators.insert(e.id);
      if (e.op == Op::kReduce) out.bound.insert(e.binders.begin(), e.binders.end());
      out.reduces |= e.op == Op::kReduce;
      out.ranks |= e.op == Op::kRank;
    });
    return out;
  }

  Status unify(FlatEquation& equation) {
    const Survey found = survey(equation);
    if (found.ranks || (found.reduces && !request_.terms)) return refuse(equation, found.ranks ? "ranks" : "reduces");
    return found.reduces ? unify_reduction(equation, found) : unify_element(equation, found);
  }

  Status unify_element(FlatEquation& equation, const Survey& found) {
    const bool twice = found.reads.size() > found.accumulators.size();
    if (found.reads.empty() || twice)
      return refuse(equation, twice ? "reads the contraction at two places" : "does not use the contraction");
    std::map<int, ExprRef> rename;
    for (const ir::Expr* read : found.reads) SOLSTICE_CHECK(add_renaming(equation, *read, rename));
    for (const int id : equation.free) {
      if (!rename.count(id) && index(id).extent != 1)
        return refuse(equation, "has an index that the contraction lacks");
    }
    substitute(equation, rename);
    equation.free = out_.canonical;
    return success();
  }

  void substitute(FlatEquation& equation, const std::map<int, ExprRef>& rename) {
    equation.rhs = out_.flat.indices.substitute(equation.rhs, rename);
    for (ExprRef& e : equation.lhs) e = out_.flat.indices.substitute(e, rename);
  }

  // A row's result: reductions bind some of the canonical indices, the equation has the others.
  Status unify_reduction(FlatEquation& equation, const Survey& found) {
    std::map<int, ExprRef> rename;
    std::set<int> free, reduced;  // canonical
    for (const ir::Expr* read : found.reads) {
      SOLSTICE_TRY(const auto places, places_of(equation, *read));
      for (const auto& [id, place] : places) {
        if (!rename.emplace(id, place).second && rename[id] != place)
          return refuse(equation, "reads the contraction at another element");
        if (index(place->id).extent > 1) (found.bound.count(id) ? reduced : free).insert(place->id);
      }
    }
    const auto unknown = [&](int id) { return !rename.count(id) && index(id).extent != 1; };
    if (std::any_of(equation.free.begin(), equation.free.end(), unknown))
      return refuse(equation, "has an index that the contraction lacks");
    if (std::any_of(found.bound.begin(), found.bound.end(), unknown))
      return refuse(equation, "reduces over an index that the contraction lacks");
    const bool mixed = std::any_of(reduced.begin(), reduced.end(), [&](int id) { return free.count(id) > 0; });
    if (mixed && !request_.row_resident) return refuse(equation, "needs a reduction's result for each of its elements");
    if (mixed) SOLSTICE_CHECK(check_row_invariance(equation, rename, reduced));
    out_.row_resident |= mixed;
    substitute(equation, rename);
    equation.free.clear();
    for (const int id : out_.canonical) {
      if (mixed || !reduced.count(id)) equation.free.push_back(id);
    }
    SOLSTICE_CHECK(check_one_direction(equation, reduced));
    if (!mixed) out_.row_results.insert(equation.equation);
    return success();
  }

  // No reduction depends on the element that needs it.
  Status check_row_invariance(const FlatEquation& equation, const std::map<int, ExprRef>& rename,
                              const std::set<int>& reduced) const {
    bool depends = false;
    walk_distinct(equation.rhs, [&](const ir::Expr& e) {
      if (e.op != Op::kReduce) return;
      for (const int id : equation.free) {
        const auto canonical = rename.find(id);
        if (canonical == rename.end() || !reduced.count(canonical->second->id)) continue;
        for (const ExprRef& arg : e.args) depends |= depends_on(arg, id);
      }
    });
    return depends ? Status(refuse(equation, "has a reduction that depends on the column")) : success();
  }

  // All reductions of the kernel run over the same indices.
  Status check_one_direction(const FlatEquation& equation, const std::set<int>& reduced) {
    if (!out_.reduce) out_.reduced = reduced;
    out_.reduce = true;
    bool same = reduced == out_.reduced && !reduced.empty();
    walk_distinct(equation.rhs, [&](const ir::Expr& e) {
      if (e.op != Op::kReduce) return;
      std::set<int> own;
      for (const int id : e.binders) {
        if (index(id).extent > 1) own.insert(id);
      }
      same &= own == reduced;
    });
    if (same) return success();
    return refuse(equation, "reduces along other indices than its kernel's other reductions");
  }

  // An equation's indices are the anchor's that stand at their places in this read.
  Status add_renaming(const FlatEquation& equation, const ir::Expr& read, std::map<int, ExprRef>& out) {
    SOLSTICE_TRY(const auto places, places_of(equation, read));
    for (const auto& [id, place] : places) {
      if (out.emplace(id, place).first->second->id != place->id)
        return refuse(equation, "reads the contractions at different elements");
    }
    return success();
  }

  // The equation's indices in a read of a contraction, each with the canonical index of its place.
  Result<std::map<int, ExprRef>> places_of(const FlatEquation& equation, const ir::Expr& read) {
    std::map<int, ExprRef> out;
    for (size_t i = 0; i < read.args.size(); ++i) {
      const int canonical = read.id == out_.accumulator ? out_.canonical[i] : canonical_of_second(i);
      if (canonical < 0) continue;
      const ir::Index& place = index(canonical);
      const ExprRef& at = read.args[i];
      const bool constant = at->op == Op::kInt && at->integer == 0 && place.extent == 1;
      if (constant) continue;
      if (at->op != Op::kIndex || index(at->id).extent != place.extent ||
          !out.emplace(at->id, out_.flat.indices.index_node(canonical)).second) {
        return refuse(equation, "reads the contraction at another element");
      }
    }
    return out;
  }

  // The index like the second anchor's free index i; -1 if it has one value only.
  int canonical_of_second(size_t i) const {
    const int own = program_.equation(request_.second->equation).free[i];
    for (size_t v = 0; v < request_.variables.size(); ++v) {
      const std::vector<int>& indices = request_.second->indices[v];
      const auto found = std::find(indices.begin(), indices.end(), own);
      if (found != indices.end())
        return canonical_of(request_.variables[v].indices[static_cast<size_t>(found - indices.begin())]);
    }
    return -1;
  }

  int canonical_of(int anchor_index) const {
    const auto& order = anchor().free;
    return out_.canonical[static_cast<size_t>(std::find(order.begin(), order.end(), anchor_index) - order.begin())];
  }

  std::vector<int> digits_of(const IndexVariable& variable) const {
    std::vector<int> out;
    for (const int id : variable.indices) out.push_back(canonical_of(id));
    return out;
  }

  const ir::Program& program_;
  const EpilogueRequest& request_;
  EpilogueEquations out_;
};

}  // namespace

Result<EpilogueEquations> epilogue_equations(const ir::Program& program, const ir::Kernel& kernel,
                                             const EpilogueRequest& request) {
  return Unifier(program, request).run(kernel);
}

}  // namespace solstice::codegen
