#include "codegen/serial.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"

namespace solstice::codegen {
namespace {

using ir::Reducer;

CType accumulator_type(const ir::Expr& e, const Value& term) {
  if (e.reducer == Reducer::kAny || e.reducer == Reducer::kAll) return CType::kBool;
  if (is_real(term.type)) return term.type;
  return CType::kI64;
}

std::string binder_name(int id) { return fmt::format("i{}", id); }

constexpr int64_t kLongestRun = 64;  // terms of a real sum that are added one after the other
constexpr int64_t kRun = 32;

struct SerialLoop {
  std::string head;
  int64_t trips = 1;
};

// One loop a binder; an innermost loop that is longer than a run is cut into runs.
std::vector<SerialLoop> serial_loops(const Interner& indices, const std::vector<int>& binders) {
  std::vector<SerialLoop> out;
  for (const int binder : binders) {
    const int64_t extent = indices.index(binder).extent;
    const std::string i = binder_name(binder);
    if (binder != binders.back() || extent <= kLongestRun) {
      out.push_back({fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{\n", i, extent), extent});
      continue;
    }
    const std::string rest = extent % kRun == 0 ? "" : fmt::format(" && {} < {}", i, extent);
    out.push_back({fmt::format("for (int {0}_run = 0; {0}_run < {1}; {0}_run += {2}) {{\n", i, extent, kRun),
                   ceil_div(extent, kRun)});
    out.push_back({fmt::format("for (int {0} = {0}_run; {0} < {0}_run + {1}{2}; ++{0}) {{\n", i, kRun, rest), kRun});
  }
  return out;
}

// The loop from which on a sum has an accumulator of its own: the roundings of a run then meet a small sum. All loops
// for sums that are short anyway.
size_t run_of(const std::vector<SerialLoop>& loops) {
  int64_t total = 1;
  for (const SerialLoop& loop : loops) total *= loop.trips;
  if (total <= kLongestRun) return loops.size();
  size_t best = loops.size();
  int64_t fewest = total;  // additions of the longest chain
  int64_t inside = 1;
  for (size_t i = loops.size(); i-- > 1;) {
    inside *= loops[i].trips;
    const int64_t longest = std::max(inside, total / inside);
    if (longest >= fewest) continue;
    fewest = longest;
    best = i;
  }
  return best;
}

}  // namespace

Result<ReducerText> text_of(Reducer reducer, CType type) {
  const auto number = [&](double v) {
    return is_real(type) ? literal(v, type) : literal(static_cast<int64_t>(v), type);
  };
  const auto lowest =
      is_real(type) ? fmt::format("-static_cast<{}>(infinity())", name_of(type)) : literal(INT64_MIN, CType::kI64);
  const auto highest =
      is_real(type) ? fmt::format("static_cast<{}>(infinity())", name_of(type)) : literal(INT64_MAX, CType::kI64);
  switch (reducer) {
    case Reducer::kSum:
      return ReducerText{number(0), "{0} + {1}"};
    case Reducer::kProd:
      return ReducerText{number(1), "{0} * {1}"};
    case Reducer::kMax:
      return ReducerText{lowest, "maximum({0}, {1})"};
    case Reducer::kMin:
      return ReducerText{highest, "minimum({0}, {1})"};
    case Reducer::kAny:
      return ReducerText{"false", "{0} || {1}"};
    case Reducer::kAll:
      return ReducerText{"true", "{0} && {1}"};
    default:
      return fail(Code::internal, fmt::format("reducer `{}` is no combination of two values", ir::name_of(reducer)));
  }
}

namespace {

// What a step of the loops computes.
struct SerialBody {
  std::string text;
  Value term;
  std::string test;  // "if (..) ", or nothing
  int around = 0;    // depth of the innermost scope that the loops need
};

Result<SerialBody> emit_body(Emitter& emitter, const ir::Expr& e) {
  const int inner = emitter.push();
  for (const int binder : e.binders) {
    const Interval range{0, emitter.indices().index(binder).extent - 1};
    Binding binding;
    binding.terms = {{emitter.variable(CType::kI32, binder_name(binder), inner, range), 1}};
    emitter.bind(binder, std::move(binding));
  }
  SerialBody out;
  SOLSTICE_TRY(out.term, emitter.emit(e.args[0]));
  out.term = emitter.convert(out.term, accumulator_type(e, out.term));
  if (e.args.size() > 1) {
    SOLSTICE_TRY(const Value condition, emitter.emit(e.args[1]));
    out.test = fmt::format("if ({}) ", emitter.convert(condition, CType::kBool).text);
  }
  out.around = emitter.deepest_used();
  out.text = emitter.take(inner);
  emitter.pop();
  return out;
}

// The first extremum, or the first NaN before any, and where it stands; nowhere (-1): nothing was taken yet.
std::string position_code(const ir::Expr& e, const SerialBody& body, const std::vector<SerialLoop>& loops,
                          const std::string& position) {
  const std::string best = position + "_best";
  std::string code = fmt::format("int {} = -1;\n{} {} = 0;\n", position, name_of(body.term.type), best);
  for (const SerialLoop& loop : loops) code += loop.head;
  code += fmt::format("{0}{1}if ({2} < 0 || (!({3} {4} {5}) && {5} == {5})) {{\n{5} = {3};\n{2} = {6};\n}}\n",
                      body.text, body.test, position, body.term.text, e.reducer == Reducer::kArgMax ? "<=" : ">=", best,
                      binder_name(e.binders[0]));
  return code + std::string(loops.size(), '}') + fmt::format("\nif ({0} < 0) {0} = 0;\n", position);
}

}  // namespace

Result<Value> emit_serial_reduction(Emitter& emitter, const ir::ExprRef& reduction) {
  const ir::Expr& e = *reduction;
  SOLSTICE_TRY(const SerialBody body, emit_body(emitter, e));
  const int outer = body.around;
  const CType type = body.term.type;
  // The loops' variables make the accumulator's name unique.
  const std::string accumulator = fmt::format("r{}", emitter.fresh());
  const std::vector<SerialLoop> loops = serial_loops(emitter.indices(), e.binders);
  if (e.reducer == Reducer::kArgMax || e.reducer == Reducer::kArgMin) {
    emitter.statement(outer, position_code(e, body, loops, accumulator));
    return emitter.variable(CType::kI32, accumulator, outer, {0, emitter.indices().index(e.binders[0]).extent - 1});
  }
  SOLSTICE_TRY(const ReducerText text, text_of(e.reducer, type));
  const bool rounds = e.reducer == Reducer::kSum && type == CType::kF32;
  const size_t run = rounds ? run_of(loops) : loops.size();
  const std::string partial = run < loops.size() ? accumulator + "_run" : accumulator;
  const std::string start = fmt::format("{} = {};\n", partial, text.start);
  const std::string step = fmt::format("{}{}{} = {};\n", body.text, body.test, partial,
                                       fmt::format(fmt::runtime(text.step), partial, body.term.text));
  std::string code = fmt::format("{} {} = {};\n", name_of(type), accumulator, text.start);
  for (size_t i = 0; i < loops.size(); ++i) {
    if (i == run) code += fmt::format("{} {}", name_of(type), start);
    code += loops[i].head;
  }
  code += step;
  if (run < loops.size())
    code += std::string(loops.size() - run, '}') + fmt::format("\n{} += {};\n", accumulator, partial);
  code += std::string(std::min(run, loops.size()), '}');
  emitter.statement(outer, code);
  return emitter.variable(type, accumulator, outer);
}

}  // namespace solstice::codegen
