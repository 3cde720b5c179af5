#include "families/reduction/accumulate.h"

#include <fmt/format.h>

#include "codegen/text/marks.h"

namespace solstice::families::reduction {
namespace {

// Accumulators of a thread: one a lane, but one alone for sums in doubles, to which a vector's lanes are added
// together.
int count_of(const Reduction& r, int vector) { return r.wide ? 1 : vector; }

std::string start_text(const Reduction& r, const std::string& name, int vector) {
  return fmt::format(
      "{0} {1}[{2}];\n#pragma unroll\nfor (int lane = 0; lane < {2}; ++lane) {1}[lane] = "
      "reduction::{3}::start<{0}>();\n",
      r.type, name, vector, r.op);
}

std::string accumulator(size_t number) { return fmt::format("a{}", number); }
std::string of_run(size_t number) { return fmt::format("b{}", number); }
std::string of_vector(size_t number) { return fmt::format("p{}", number); }

}  // namespace

std::string open_accumulators(const std::vector<Reduction>& reductions, int vector) {
  if (reductions.empty()) return "";
  std::string results, starts;
  for (size_t i = 0; i < reductions.size(); ++i) {
    results += fmt::format("{} {};\n", reductions[i].type, reductions[i].name);
    starts += start_text(reductions[i], accumulator(i), count_of(reductions[i], vector));
  }
  return results + "{\n" + starts;
}

std::string accumulate(const Reduction& r, size_t number, bool in_runs) {
  const std::string a = (in_runs && r.rounds() ? of_run(number) : accumulator(number)) + "[lane]";
  const std::string mark = codegen::mark(r.equation);
  if (r.wide) return mark + fmt::format("{}{} += {};\n", r.test, of_vector(number), r.term);
  if (r.in_order()) return mark + fmt::format("{0} = reduction::{1}::take({0}, {2});\n", a, r.op, r.term);
  return mark + fmt::format("{}{} = reduction::{}::combine<{}>({}, {});\n", r.test, a, r.op, r.type, a, r.term);
}

std::string open_vector(const std::vector<Reduction>& reductions) {
  std::string out;
  for (size_t i = 0; i < reductions.size(); ++i) {
    if (reductions[i].wide) out += fmt::format("float {} = 0.0f;\n", of_vector(i));
  }
  return out;
}

std::string close_vector(const std::vector<Reduction>& reductions) {
  std::string out;
  for (size_t i = 0; i < reductions.size(); ++i) {
    if (!reductions[i].wide) continue;
    out += codegen::mark(reductions[i].equation) +
           fmt::format("{}[0] += static_cast<double>({});\n", accumulator(i), of_vector(i));
  }
  return out;
}

std::string fold_lanes(const Reduction& r, size_t number, int vector) {
  const std::string text = fmt::format(
      "{0} = {1}[0];\n#pragma unroll\nfor (int lane = 1; lane < {2}; ++lane) {0} = reduction::{3}::combine<{4}>({0}, "
      "{1}[lane]);\n",
      r.name, accumulator(number), count_of(r, vector), r.op, r.type);
  return codegen::marked(text, r.equation);
}

std::string start_run(const std::vector<Reduction>& reductions, int vector) {
  std::string out;
  for (size_t i = 0; i < reductions.size(); ++i) {
    if (reductions[i].rounds()) out += start_text(reductions[i], of_run(i), vector);
  }
  return out;
}

std::string end_run(const std::vector<Reduction>& reductions, int vector) {
  std::string out;
  for (size_t i = 0; i < reductions.size(); ++i) {
    if (!reductions[i].rounds()) continue;
    const std::string text =
        fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {}[lane] += {}[lane];\n", vector,
                    accumulator(i), of_run(i));
    out += codegen::marked(text, reductions[i].equation);
  }
  return out;
}

}  // namespace solstice::families::reduction
