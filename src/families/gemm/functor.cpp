#include "families/gemm/functor.h"

#include <fmt/format.h>

namespace solstice::families::gemm {
namespace {

std::string storage(const ir::Program& program, int tensor) {
  return std::string(codegen::storage_type(*program.tensor(tensor).dtype));
}

std::string offset_text(const codegen::EpilogueStore& store) {
  const auto& s = *store.strides;
  return fmt::format("{} + batch * i64({}) + m * i64({}) + n * i64({})", store.base, s[0], s[1], s[2]);
}

// The store of one output; where its offset is no sum of strides, the statements that compute it are repeated
// (and everything else in them is dead code).
std::string store_text(const codegen::EpilogueCode& code, size_t i) {
  const codegen::EpilogueStore& store = code.stores[i];
  if (store.strides) return fmt::format("if constexpr (kOutput == {0}) o{0}[{1}] = value;\n", i, offset_text(store));
  if (code.whole)
    return fmt::format("if constexpr (kOutput == {0}) {{\n{1}o{0}[{2}] = value;\n}}\n", i, store.before, store.offset);
  return fmt::format(
      "if constexpr (kOutput == {0}) {{\nconst In in = load(batch, m, n);\nconst float acc = "
      "0.f{3};\n{1}o{0}[{2}] = value;\n}}\n",
      i, code.compute, store.offset, code.dual ? ", acc1 = 0.f" : "");
}

}  // namespace

std::string_view major_text(Major major) { return major == Major::kMN ? "mma::Major::kMN" : "mma::Major::kK"; }

Functor functor_of(const ir::Program& program, const Problem& problem, bool by_copy_engine) {
  const codegen::EpilogueCode& code = problem.epilogue;
  Functor out;
  std::string members, fields, stores, elements, values;
  const auto pointer = [&](const std::string& type, const std::string& name) {
    members += fmt::format("{} {};\n", type, name);
    out.parameters += fmt::format(", {} {}", type, name);
    out.arguments += (out.arguments.empty() ? "" : ", ") + name;
  };
  for (size_t i = 0; i < code.reads.size(); ++i)
    pointer(fmt::format("const {}* SOLSTICE_RESTRICT", storage(program, code.reads[i])), code.names[i]);
  for (size_t i = 0; i < code.stores.size(); ++i) {
    const std::string type = storage(program, code.stores[i].tensor);
    pointer(type + "* SOLSTICE_RESTRICT", fmt::format("o{}", i));
    stores += store_text(code, i);
    elements += fmt::format("{}if constexpr (kOutput == {}) return {}{{}};\n", i ? "else " : "", i, type);
    if (!problem.whole) values += fmt::format("out[{}] = static_cast<float>({});\n", i, code.stores[i].value);
  }
  std::string finder;
  if (problem.rows) {
    for (size_t i = 0; i < code.rows->terms.size(); ++i)
      values += fmt::format("out[{}] = static_cast<float>({});\n", code.stores.size() + i, code.rows->terms[i]);
    pointer("float* SOLSTICE_RESTRICT", "parts");
    finder = finder_text(program, problem.product, *problem.rows, code.stores.size());
  }
  if (problem.whole) {
    for (size_t i = 0; i < problem.whole->row_writes.size(); ++i)
      pointer(storage(program, problem.whole->row_writes[i]) + "* SOLSTICE_RESTRICT", problem.whole->row_names[i]);
  }
  const std::string place = !by_copy_engine ? ""
                                            : fmt::format(
                                                  "template <int kOutput>\nSOLSTICE_DEVICE auto place(int batch, int "
                                                  "m, int n) const {{\nreturn o0 + ({});\n}}\n",
                                                  offset_text(code.stores.front()));
  const std::string access = fmt::format(
      "template <int kOutput>\nSOLSTICE_DEVICE static constexpr auto element() {{\n{}}}\n\n"
      "template <int kOutput, class T>\nSOLSTICE_DEVICE void store(int batch, int m, int n, T value) const "
      "{{\n{}}}\n{}",
      elements, stores, place);
  if (problem.whole) {
    out.text = fmt::format(
        "struct Epilogue {{\nstatic constexpr int kOutputs = {};\nstatic constexpr bool kReduces = false, "
        "kRowResident = true, kTma = {}, kLong = {};\n{}\n{}\n{}}};\n",
        code.stores.size(), by_copy_engine, has_long_epilogue(problem), members,
        whole_text(problem.product, *problem.whole), access);
    return out;
  }
  for (const codegen::EpilogueField& field : code.fields) fields += fmt::format("{} {};\n", field.type, field.name);
  out.text = fmt::format(
      "struct Epilogue {{\nstatic constexpr int kOutputs = {}, kValues = {};\nstatic constexpr bool kReduces = {}, "
      "kRowResident = false, kTma = {}, kLong = {};\n{}\nstruct In {{\n{}}};\n\n"
      "SOLSTICE_DEVICE In load(int batch, int m, int n) const {{\nIn in;\n{}return in;\n}}\n\n"
      "SOLSTICE_DEVICE void compute(float acc, {}const In& in, int batch, int m, int n, float "
      "(&out)[kValues]) const {{\n{}{}}}\n\n{}{}}};\n",
      code.stores.size(), code.stores.size() + (problem.rows ? code.rows->terms.size() : 0), problem.rows.has_value(),
      by_copy_engine, has_long_epilogue(problem), members, fields, code.load, code.dual ? "float acc1, " : "",
      code.compute, values, access, finder);
  return out;
}

std::string head_text(const Functor& functor, std::initializer_list<std::string_view> headers) {
  std::string out = "#include \"math/special.h\"\n#include \"math/vector.h\"\n";
  for (const std::string_view header : headers) out += fmt::format("#include \"{}\"\n", header);
  return out + fmt::format(
                   "\nnamespace solstice {{\nusing namespace math;\n\n{}}}  // namespace solstice\n\nusing namespace "
                   "solstice;\n",
                   functor.text);
}

std::string strided_text(const OperandAccess& x, const OperandText& text) {
  return fmt::format("gemm::StridedOperand<{}>{{{}, i64({}), i64({}), i64({}){}}}", text.type, text.data, x.batch,
                     x.line, x.k, text.made);
}

}  // namespace solstice::families::gemm
