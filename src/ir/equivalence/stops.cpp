#include "ir/equivalence/stops.h"

#include <algorithm>

#include "ir/equivalence/stop_program.h"
#include "ir/interpret/rounding.h"
#include "ir/normal/expression.h"
#include "ir/normal/name.h"
#include "ir/normal/pipeline.h"
#include "ir/normal/terms/facts.h"
#include "ir/normal/terms/range.h"

namespace solstice::ir {
namespace {

using normal::Form;
using normal::Kind;
using normal::Pool;
using normal::Substitution;
using normal::TermId;

// A stop in normal form.
struct Stopped {
  TermId term = 0;
  std::vector<int> points;
  std::vector<TermId> conditions;
  int function = -1;  // symbol
  TermId value = 0;
};

// Values that never stop.
bool is_harmless(const Stop& stop, const ValueRange& range) {
  switch (stop.kind) {
    case Stop::Kind::kOutside:
      return range.low >= 0 && range.high < stop.limit;
    case Stop::Kind::kUnfit: {
      const IntegerRange fits = integer_range(stop.dtype);
      return range.bounded() && static_cast<double>(range.low) >= fits.low &&
             static_cast<double>(range.high) <= fits.high;
    }
    case Stop::Kind::kZero:
      return range.low > 0 || range.high < 0;
    case Stop::Kind::kNothing:
      return range.low > 0;
  }
  return false;
}

class StopMatcher {
 public:
  explicit StopMatcher(Pool& pool) : pool_(pool), normal_(pool, {}) {}

  // Does `there` stop wherever `here` does?
  bool covers(const Stopped& there, const Stopped& here) {
    if (there.term == here.term) return true;
    Substitution values;
    if (there.function != here.function || !matches(there, there.value, here.value, values)) return false;
    return conditions_hold(there, here, 0, values);
  }

 private:
  // The pattern's points as functions of the other's, such that both are one term.
  bool matches(const Stopped& there, TermId pattern, TermId target, Substitution& values) {
    const normal::Term p = pool_.at(pattern), t = pool_.at(target);
    if (!pool_.depends(pattern, there.points)) return pattern == target;
    if (p.kind == Kind::kVar) {
      const auto [known, made] = values.emplace(p.id, target);
      if (!made) return known->second == target;
      const ValueRange range = normal::range_of(pool_, target);
      const bool free = std::none_of(t.free.begin(), t.free.end(), [&](int v) { return pool_.var(v).bound; });
      return free && pool_.is_integral(target) && range.low >= 0 && range.high < pool_.var(p.id).extent;
    }
    const bool alike = p.kind == t.kind && p.op == t.op && p.id == t.id && p.dtype == t.dtype &&
                       p.reducer == t.reducer && p.has_else == t.has_else && p.binders == t.binders &&
                       p.weights == t.weights && p.args.size() == t.args.size();
    for (size_t i = 0; alike && i < p.args.size(); ++i) {
      if (!matches(there, p.args[i], t.args[i], values)) return false;
    }
    return alike;
  }

  bool conditions_hold(const Stopped& there, const Stopped& here, size_t from, const Substitution& values) {
    if (from == there.conditions.size()) return true;
    const TermId condition = there.conditions[from];
    const auto& needs = pool_.at(condition).free;
    const bool known = std::all_of(needs.begin(), needs.end(), [&](int v) {
      return values.count(v) || std::find(there.points.begin(), there.points.end(), v) == there.points.end();
    });
    if (known)
      return holds(pool_.substitute(condition, values), here.conditions) &&
             conditions_hold(there, here, from + 1, values);
    return std::any_of(here.conditions.begin(), here.conditions.end(), [&](TermId c) {
      Substitution more = values;
      return matches(there, condition, c, more) && conditions_hold(there, here, from + 1, more);
    });
  }

  bool holds(TermId condition, const std::vector<TermId>& known) {
    const std::vector<TermId> parts = normal_.conjuncts(normal_.of_integers(condition));
    return std::all_of(parts.begin(), parts.end(), [&](TermId c) {
      return normal_.is_true(c) || std::find(known.begin(), known.end(), c) != known.end() ||
             normal::implied(pool_, known, c);
    });
  }

  Pool& pool_;
  normal::Expressions normal_;
};

// The stops of one side in the pool. Nothing: one has no form that is understood, or a budget ran out.
class SideStops {
 public:
  SideStops(Pool& pool, const StopSide& side)
      : pool_(pool), made_(stop_program(side.program, side.settled)), form_(pool, made_.program, side.prefix, {}) {
    form_.shared = side.shared;
    for (const auto& [tensor, stop] : made_.functions) {
      form_.shared.insert(tensor);
      by_symbol_[form_.symbol(tensor)] = stop;
    }
  }

  std::optional<std::vector<Stopped>> run() {
    std::vector<Stopped> out;
    if (made_.stops.empty()) return out;
    for (const int tensor : made_.stops) form_.roots.push_back({tensor, {}, {}, pool_.read(form_.symbol(tensor), {})});
    translate(form_);
    run_passes(form_);
    for (const normal::Root& r : form_.roots) {
      if (pool_.exceeded()) return std::nullopt;
      if (pool_.at(r.value).kind == Kind::kConst && pool_.is_const(r.value, 0)) continue;
      const auto each = taken_apart(r.value);
      if (!each) return std::nullopt;
      if (!is_harmless(by_symbol_.at(each->function), normal::range_of(pool_, each->value))) out.push_back(*each);
    }
    return out;
  }

 private:
  std::optional<Stopped> taken_apart(TermId id) {
    Stopped out;
    out.term = id;
    TermId body = id;
    if (pool_.at(id).kind == Kind::kReduce && pool_.at(id).reducer == Reducer::kAny) {
      const normal::Opened open = normal::opened(pool_, id);
      out.points = open.binders;
      out.conditions.assign(open.args.begin() + 1, open.args.end());
      body = open.args[0];
    }
    return strip(body, out) ? std::optional(out) : std::nullopt;
  }

  // select(c, body, false) and c and body.
  bool strip(TermId body, Stopped& out) {
    const normal::Term t = pool_.at(body);
    if (t.kind == Kind::kRead && by_symbol_.count(t.id)) {
      out.function = t.id, out.value = t.args[0];
      return true;
    }
    if (t.kind != Kind::kOp || (t.op != Op::kAnd && t.op != Op::kSelect)) return false;
    if (t.op == Op::kSelect) {
      const std::vector<TermId> more = conjuncts(t.args[0]);
      out.conditions.insert(out.conditions.end(), more.begin(), more.end());
      return pool_.is_const(t.args[2], 0) && strip(t.args[1], out);
    }
    bool found = false;
    for (const TermId a : t.args) {
      const bool stop = pool_.at(a).kind == Kind::kRead && by_symbol_.count(pool_.at(a).id);
      if (stop && found) return false;
      if (stop) strip(a, out), found = true;
      if (!stop) out.conditions.push_back(a);
    }
    return found;
  }

  std::vector<TermId> conjuncts(TermId c) const {
    const normal::Term& t = pool_.at(c);
    return t.kind == Kind::kOp && t.op == Op::kAnd ? t.args : std::vector<TermId>{c};
  }

  Pool& pool_;
  StopProgram made_;
  Form form_;
  std::map<int, Stop> by_symbol_;
};

}  // namespace

bool stops_only_with(const StopSide& problem, const StopSide& candidate, const normal::Limits& limits) {
  const bool none =
      std::all_of(candidate.program.equations.begin(), candidate.program.equations.end(), [&](const Equation& e) {
        return candidate.settled.count(e.target) || (!can_stop(e.rhs) && stops_of_store(candidate.program, e).empty());
      });
  if (none) return true;
  Pool pool(limits);
  const auto here = SideStops(pool, candidate).run();
  if (!here || here->empty()) return here.has_value();
  const auto there = SideStops(pool, problem).run();
  if (!there) return false;
  StopMatcher matcher(pool);
  return std::all_of(here->begin(), here->end(), [&](const Stopped& h) {
    return std::any_of(there->begin(), there->end(), [&](const Stopped& t) { return matcher.covers(t, h); });
  });
}

}  // namespace solstice::ir
