#include <fmt/format.h>

#include <algorithm>

#include "families/tensor_core/row_resident.h"

namespace solstice::families::tensor_core {

size_t RowResident::reduction_count() const {
  size_t out = 0;
  for (const ResidentSweep& sweep : sweeps) out += sweep.reductions.size();
  return out;
}

size_t RowResident::most_at_once() const {
  size_t out = 0;
  for (const ResidentSweep& sweep : sweeps) out = std::max(out, sweep.reductions.size());
  return out;
}

std::string resident_text(const Product& c, const RowResident& rows) {
  std::string ins, sweeps, starts, combines, firsts;
  size_t most = 0, found = 0;
  for (size_t s = 0; s < rows.sweeps.size(); ++s) {
    const ResidentSweep& sweep = rows.sweeps[s];
    firsts += fmt::format("{}{}", s ? ", " : "", found);
    for (const reduction::Reduction& r : sweep.reductions) {
      starts += fmt::format("if (result == {}) return reduction::{}::start<T>();\n", found, r.op);
      combines += fmt::format("if (result == {}) return reduction::{}::combine<T>(a, b);\n", found, r.op);
      ++found;
    }
    most = std::max(most, sweep.values.size());
    std::string values;
    for (size_t v = 0; v < sweep.values.size(); ++v)
      values += fmt::format("out[{}] = static_cast<float>({});\n", v, sweep.values[v]);
    if (!sweep.kept.empty()) values += fmt::format("acc = {};\n", sweep.kept);
    std::string members, given, taken;
    for (const codegen::Field& field : sweep.fields) {
      members += fmt::format("{} {};\n", field.type, field.name);
      given += fmt::format("in.{0} = {0};\n", field.name);
      taken += fmt::format("const {0} {1} = in.{1};\n", field.type, field.name);
    }
    ins += fmt::format("struct In{} {{\n{}}};\n", s, members);
    sweeps += fmt::format(
        "{0}if constexpr (kSweep == {1}) {{\n{2}const auto load = [&](int n) {{\nIn{1} in;\n{3}{4}return in;\n}};\n"
        "visit(load, [&](float& acc, const In{1}& in, int n, float (&out)[kValues]) {{\n{5}{6}{7}}});\n}}\n",
        s ? "else " : "", s, sweep.row, sweep.load, given, taken, sweep.element, values);
  }
  return fmt::format(
      "static constexpr int kSweeps = {}, kResults = {}, kColumns = {}, kValues = {};\n"
      "static constexpr int kFirst[] = {{{}, {}}};\n{}\n"
      "template <class T>\nSOLSTICE_DEVICE static T start(int result) {{\n{}return T(0);\n}}\n"
      "template <class T>\nSOLSTICE_DEVICE static T combine(int result, T a, T b) {{\n{}return a;\n}}\n\n"
      "template <int kSweep, class Visit>\nSOLSTICE_DEVICE void walk(int batch, int m, const double "
      "(&results)[kResults], Visit&& visit) "
      "const {{\n{}}}\n\n"
      "static constexpr bool kStoresRows = {};\n"
      "SOLSTICE_DEVICE void store_row(int batch, int m, const double (&results)[kResults]) const {{\n{}}}\n",
      rows.sweeps.size() - 1, found, c.n, most, firsts, found, ins, starts, combines, sweeps, !rows.row_stores.empty(),
      rows.row_stores);
}

}  // namespace solstice::families::tensor_core
