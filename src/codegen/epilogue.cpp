#include "codegen/epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "codegen/access.h"
#include "codegen/emitter.h"
#include "codegen/flatten.h"
#include "codegen/need.h"

namespace solstice::codegen {
namespace {

using ir::ExprRef;
using ir::Op;

// Names `vN` that occur in `text`.
std::set<std::string> values_in(const std::string& text) {
  std::set<std::string> out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts =
        text[i] == 'v' && (i == 0 || !(std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '_'));
    size_t end = i + 1;
    while (starts && end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    const bool ends = end >= text.size() || !(std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_');
    if (starts && end > i + 1 && ends) out.insert(text.substr(i, end - i));
  }
  return out;
}

// `const float v3 = ...;`: type and name of what a statement defines.
std::optional<EpilogueField> definition_in(const std::string& line) {
  for (const std::string type : {"bool", "int", "long long", "float", "double", "Divisor"}) {
    const std::string head = fmt::format("const {} v", type);
    if (line.rfind(head, 0) != 0) continue;
    const size_t name = head.size() - 1;
    return EpilogueField{type, line.substr(name, line.find(' ', name) - name)};
  }
  return std::nullopt;
}

class EpilogueWriter {
 public:
  EpilogueWriter(const ir::Program& program, const ir::Kernel& kernel, const EpilogueRequest& request)
      : program_(program), kernel_(kernel), request_(request), pseudo_(static_cast<int>(program.tensors.size())) {}

  Result<EpilogueCode> write() {
    std::vector<Anchor> anchors = {{request_.equation, request_.contraction, pseudo_}};
    if (request_.second) anchors.push_back({request_.second->equation, request_.second->contraction, pseudo_ + 1});
    out_.dual = request_.second.has_value();
    SOLSTICE_TRY(flat_, flatten(program_, kernel_, anchors));
    SOLSTICE_CHECK(unify());
    if (needs_whole_rows_) return whole();
    SOLSTICE_TRY(const std::vector<ExprRef> terms, asked_for());
    Emitter emitter(program_, flat_.indices);
    emitter.set_short_values(short_values_of(program_, flat_));
    bind_variables(emitter);
    const int depth = emitter.push();
    emitter.set_hook([&](Emitter& e, const ExprRef& node) -> Result<std::optional<Value>> {
      if (is_accumulator(*node))
        return std::optional(e.variable(CType::kF32, node->id == pseudo_ ? "acc" : "acc1", depth));
      return std::optional<Value>();
    });
    for (const FlatEquation& equation : flat_.equations) {
      if (!is_of_rows(equation)) SOLSTICE_CHECK(store(emitter, equation));
    }
    for (const ExprRef& term : terms) {
      SOLSTICE_TRY(const Value value, emitter.emit(term));
      out_.rows->terms.push_back(emitter.convert(value, CType::kF32).text);
    }
    out_.domain = domain();
    out_.compute = emitter.take(depth);
    split(emitter.take(0));
    out_.reads = emitter.tensors_read();
    for (const int id : out_.reads) out_.names.push_back(emitter.pointer_name(id));
    return std::move(out_);
  }

 private:
  const ir::Equation& anchor() const { return program_.equation(request_.equation); }
  bool is_accumulator(const ir::Expr& e) const { return e.op == Op::kRead && e.id >= pseudo_; }

  Error refuse(const FlatEquation& equation, const std::string& why) const {
    return fail(Code::not_yet, fmt::format("`{}` {}; an epilogue reads the product at its own element alone: store the "
                                           "product, and read it in another kernel",
                                           program_.tensor(equation.target).name, why));
  }

  // All equations over one set of indices: those of the anchor, in its order.
  Status unify() {
    for (const int id : anchor().free) {
      const ir::Index& index = anchor().indices[static_cast<size_t>(id)];
      canonical_.push_back(flat_.indices.add_index(index.name, index.extent));
    }
    for (FlatEquation& equation : flat_.equations) {
      std::set<const ir::Expr*> reads;
      std::set<int> accumulators, bound;  // that are read; that reductions bind
      bool reduces = false, ranks = false;
      ir::walk(equation.rhs, [&](const ir::Expr& e) {
        if (is_accumulator(e)) reads.insert(&e), accumulators.insert(e.id);
        if (e.op == Op::kReduce) bound.insert(e.binders.begin(), e.binders.end());
        reduces |= e.op == Op::kReduce;
        ranks |= e.op == Op::kRank;
      });
      if (ranks || (reduces && !request_.terms)) return refuse(equation, ranks ? "ranks" : "reduces");
      if (reduces) {
        SOLSTICE_CHECK(unify_rows(equation, reads, bound));
        continue;
      }
      const bool twice = reads.size() > accumulators.size();
      if (reads.empty() || twice)
        return refuse(equation, twice ? "reads the contraction at two places" : "does not use the contraction");
      std::map<int, ExprRef> rename;
      for (const ir::Expr* read : reads) SOLSTICE_CHECK(add_renaming(equation, *read, rename));
      for (const int id : equation.free) {
        if (!rename.count(id) && flat_.indices.index(id).extent != 1)
          return refuse(equation, "has an index that the contraction lacks");
      }
      equation.rhs = flat_.indices.substitute(equation.rhs, rename);
      for (ExprRef& e : equation.lhs) e = flat_.indices.substitute(e, rename);
      equation.free = canonical_;
    }
    return success();
  }

  // A row's result: reductions bind some of the canonical indices, the equation has the others.
  Status unify_rows(FlatEquation& equation, const std::set<const ir::Expr*>& reads, const std::set<int>& bound) {
    std::map<int, ExprRef> rename;
    std::set<int> free, reduced;  // canonical
    for (const ir::Expr* read : reads) {
      SOLSTICE_TRY(const auto found, places_of(equation, *read));
      for (const auto& [id, index] : found) {
        if (!rename.emplace(id, index).second && rename[id] != index)
          return refuse(equation, "reads the contraction at another element");
        if (flat_.indices.index(index->id).extent > 1) (bound.count(id) ? reduced : free).insert(index->id);
      }
    }
    const auto unknown = [&](int id) { return !rename.count(id) && flat_.indices.index(id).extent != 1; };
    if (std::any_of(equation.free.begin(), equation.free.end(), unknown))
      return refuse(equation, "has an index that the contraction lacks");
    if (std::any_of(bound.begin(), bound.end(), unknown))
      return refuse(equation, "reduces over an index that the contraction lacks");
    const bool mixed = std::any_of(reduced.begin(), reduced.end(), [&](int id) { return free.count(id) > 0; });
    if (mixed && !request_.whole_rows) return refuse(equation, "needs a reduction's result for each of its elements");
    if (mixed) SOLSTICE_CHECK(require_rows(equation, rename, reduced));
    needs_whole_rows_ |= mixed;
    equation.rhs = flat_.indices.substitute(equation.rhs, rename);
    for (ExprRef& e : equation.lhs) e = flat_.indices.substitute(e, rename);
    equation.free.clear();
    for (const int id : canonical_) {
      if (mixed || !reduced.count(id)) equation.free.push_back(id);
    }
    return one_way(equation, reduced, mixed);
  }

  // No reduction depends on the element that needs it.
  Status require_rows(const FlatEquation& equation, const std::map<int, ExprRef>& rename,
                      const std::set<int>& reduced) const {
    bool depends = false;
    ir::walk(equation.rhs, [&](const ir::Expr& e) {
      if (e.op != Op::kReduce) return;
      for (const int id : equation.free) {
        const auto canonical = rename.find(id);
        if (canonical == rename.end() || !reduced.count(canonical->second->id)) continue;
        for (const ExprRef& arg : e.args) depends |= depends_on(arg, id);
      }
    });
    return depends ? Status(refuse(equation, "has a reduction that depends on the column")) : success();
  }

  // All reductions run over the same indices.
  Status one_way(const FlatEquation& equation, const std::set<int>& reduced, bool mixed) {
    if (!out_.rows) {
      out_.rows.emplace();
      reduced_ = reduced;
    }
    bool same = reduced == reduced_ && !reduced.empty();
    ir::walk(equation.rhs, [&](const ir::Expr& e) {
      if (e.op != Op::kReduce) return;
      std::set<int> own;
      for (const int id : e.binders) {
        if (flat_.indices.index(id).extent > 1) own.insert(id);
      }
      same &= own == reduced;
    });
    if (!same) return refuse(equation, "reduces along other indices than its kernel's other reductions");
    if (!mixed) rows_.insert(equation.equation);
    return success();
  }

  bool is_of_rows(const FlatEquation& equation) const { return rows_.count(equation.equation) > 0; }

  // The caller writes the sweeps; here is what the copy engine wants to know of the stores.
  Result<EpilogueCode> whole() {
    WholeEpilogue& whole = out_.whole.emplace();
    whole.accumulator = pseudo_;
    whole.canonical = canonical_;
    for (size_t i = 0; i < canonical_.size(); ++i) {
      if (reduced_.count(canonical_[i])) whole.reduced.push_back(anchor().free[i]);
    }
    for (const EpilogueVariable& variable : request_.variables) whole.digits.push_back(digits_of(variable));
    Emitter emitter(program_, flat_.indices);
    bind_variables(emitter);
    for (const FlatEquation& equation : flat_.equations) {
      whole.of_rows.push_back(is_of_rows(equation));
      if (whole.of_rows.back()) continue;
      EpilogueStore store;
      store.tensor = equation.target;
      set_strides(equation, store);
      if (!store.strides) {
        Emitter own(program_, flat_.indices);
        for (const EpilogueVariable& variable : request_.variables)
          bind_variable(own, program_, flat_, variable.name, digits_of(variable), 0);
        SOLSTICE_TRY(const Emitter::Place at, own.place(program_.tensor(equation.target), equation.lhs));
        store.offset = at.offset.text;
        store.before = own.take(0);
      }
      out_.stores.push_back(std::move(store));
    }
    out_.rows.reset();
    whole.flat = std::move(flat_);
    return std::move(out_);
  }

  Result<std::vector<ExprRef>> asked_for() {
    if (!out_.rows) return std::vector<ExprRef>();
    EpilogueRows& rows = *out_.rows;
    rows.flat.indices = flat_.indices;
    rows.canonical = canonical_;
    for (size_t i = 0; i < canonical_.size(); ++i) {
      if (reduced_.count(canonical_[i])) rows.reduced.push_back(anchor().free[i]);
    }
    for (const FlatEquation& equation : flat_.equations) {
      if (is_of_rows(equation))
        rows.flat.equations.push_back(equation);
      else
        rows.elements.push_back(equation.rhs);
    }
    return request_.terms(rows);
  }

  // An equation's indices are the anchor's that stand at their places in this read.
  Status add_renaming(const FlatEquation& equation, const ir::Expr& read, std::map<int, ExprRef>& out) {
    SOLSTICE_TRY(const auto found, places_of(equation, read));
    for (const auto& [id, index] : found) {
      if (out.emplace(id, index).first->second->id != index->id)
        return refuse(equation, "reads the contractions at different elements");
    }
    return success();
  }

  // Which canonical index stands at each place of a read of a contraction.
  Result<std::map<int, ExprRef>> places_of(const FlatEquation& equation, const ir::Expr& read) {
    std::map<int, ExprRef> out;
    for (size_t i = 0; i < read.args.size(); ++i) {
      const int canonical = read.id == pseudo_ ? canonical_[i] : canonical_of_second(i);
      if (canonical < 0) continue;
      const ir::Index& index = flat_.indices.index(canonical);
      const ExprRef& at = read.args[i];
      const bool constant = at->op == Op::kInt && at->integer == 0 && index.extent == 1;
      if (constant) continue;
      if (at->op != Op::kIndex || flat_.indices.index(at->id).extent != index.extent ||
          !out.emplace(at->id, flat_.indices.index_node(canonical)).second) {
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
    return canonical_[static_cast<size_t>(std::find(order.begin(), order.end(), anchor_index) - order.begin())];
  }

  void bind_variables(Emitter& emitter) {
    for (const EpilogueVariable& variable : request_.variables)
      fused_.push_back(bind_variable(emitter, program_, flat_, variable.name, digits_of(variable), 0));
  }

  std::vector<int> digits_of(const EpilogueVariable& variable) const {
    std::vector<int> out;
    for (const int id : variable.indices) out.push_back(canonical_of(id));
    return out;
  }

  Status store(Emitter& emitter, const FlatEquation& equation) {
    EpilogueStore out;
    out.tensor = equation.target;
    SOLSTICE_TRY(const Value value, emitter.emit(equation.rhs));
    out.value = value.text;
    out.type = value.type;
    set_strides(equation, out);
    if (!out.strides) {
      SOLSTICE_TRY(const Emitter::Place at, emitter.place(program_.tensor(equation.target), equation.lhs));
      out.offset = at.offset.text;
    }
    out_.stores.push_back(std::move(out));
    return success();
  }

  void set_strides(const FlatEquation& equation, EpilogueStore& out) const {
    ir::Affine offset;
    const ir::Tensor& target = program_.tensor(equation.target);
    for (size_t d = 0; d < equation.lhs.size(); ++d) {
      const auto form = linear_form(flat_.indices, equation.lhs[d]);
      if (!form) return;
      offset = add(offset, scale(*form, target.strides[d]));
    }
    std::vector<int64_t> strides;
    for (const int step : fused_) {
      if (step == -2) return;
      strides.push_back(step < 0 ? 0 : offset.coefficient(step));
    }
    out.base = offset.offset;
    out.strides = std::move(strides);
  }

  // One for all outputs, over variables of one digit each.
  std::optional<EpilogueDomain> domain() const {
    const auto is_value = [&](const ir::Expr& e) { return is_accumulator(e); };
    std::optional<ir::Affine> form;
    for (size_t i = 0; i < flat_.equations.size(); ++i) {
      const auto where = needed_where(flat_.indices, flat_.equations[i].rhs, is_value);
      if (!where || (i > 0 && where != form)) return std::nullopt;
      form = where;
    }
    EpilogueDomain out;
    out.base = form->offset;
    size_t terms = 0;
    for (const EpilogueVariable& variable : request_.variables) {
      out.coefficients.push_back(0);
      if (variable.indices.size() != 1) continue;
      out.coefficients.back() = form->coefficient(canonical_of(variable.indices[0]));
      terms += out.coefficients.back() != 0;
    }
    return terms == form->terms.size() ? std::optional(out) : std::nullopt;
  }

  // Values that `compute` and the stores need from `load` become fields; their definitions turn into assignments.
  void split(const std::string& load) {
    std::set<std::string> wanted = values_in(out_.compute);
    if (out_.rows) {
      for (const std::string& term : out_.rows->terms) wanted.merge(values_in(term));
    }
    for (const EpilogueStore& s : out_.stores) {
      wanted.merge(values_in(s.value));
      wanted.merge(values_in(s.offset));
    }
    std::set<std::string> kept;
    for (size_t at = 0; at < load.size();) {
      const size_t end = load.find('\n', at);
      const std::string line = load.substr(at, end - at);
      out_.load += line + "\n";
      at = end + 1;
      const auto defined = definition_in(line);
      if (!defined || !wanted.count(defined->name)) continue;
      out_.fields.push_back(*defined);
      out_.load += fmt::format("in.{0} = {0};\n", defined->name);
      kept.insert(defined->name);
    }
    std::string head;
    for (const EpilogueField& field : out_.fields)
      head += fmt::format("const {} {} = in.{};\n", field.type, field.name, field.name);
    out_.compute = head + out_.compute;
  }

  const ir::Program& program_;
  const ir::Kernel& kernel_;
  const EpilogueRequest& request_;
  int pseudo_;
  FlatKernel flat_;
  std::vector<int> canonical_;
  std::set<int> reduced_;  // canonical
  std::set<int> rows_;     // equations that reduce
  bool needs_whole_rows_ = false;
  std::vector<int> fused_;  // by variable: the index it steps; -1 none, -2 several
  EpilogueCode out_;
};

}  // namespace

std::vector<EpilogueField> fields_between(const std::string& load, const std::string& wanted) {
  const std::set<std::string> names = values_in(wanted);
  std::vector<EpilogueField> out;
  for (size_t at = 0; at < load.size();) {
    const size_t end = load.find('\n', at);
    const auto defined = definition_in(load.substr(at, end - at));
    if (defined && names.count(defined->name)) out.push_back(*defined);
    at = end + 1;
  }
  return out;
}

// A variable of fused digits is their value; else each digit is divided out.
int bind_variable(Emitter& emitter, const ir::Program& program, const FlatKernel& flat, const std::string& name,
                  const std::vector<int>& digits, int depth) {
  int64_t extent = 1;
  for (const int id : digits) extent *= flat.indices.index(id).extent;
  const std::vector<Loop> loops = fused_loops(program, flat, digits);
  Value rest = emitter.variable(CType::kI32, name, depth, {0, extent - 1});
  for (size_t k = loops.size(); k-- > 0;) {
    Value digit = rest;
    if (k > 0) {
      const int64_t by = loops[k].extent;
      digit =
          emitter.define(CType::kI32, fmt::format("static_cast<int>(static_cast<unsigned>({}) % {}u)", rest.text, by),
                         depth, {0, by - 1});
      rest =
          emitter.define(CType::kI32, fmt::format("static_cast<int>(static_cast<unsigned>({}) / {}u)", rest.text, by),
                         depth, {0, rest.range.hi / by});
    }
    emitter.bind(loops[k].stepping(), Binding{0, {{digit, 1}}});
  }
  return loops.size() <= 1 ? (loops.empty() ? -1 : loops[0].stepping()) : -2;
}

Result<EpilogueCode> emit_epilogue(const ir::Program& program, const ir::Kernel& kernel,
                                   const EpilogueRequest& request) {
  return EpilogueWriter(program, kernel, request).write();
}

}  // namespace solstice::codegen
