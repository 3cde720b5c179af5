#include "families/tensor_core/functor.h"

#include <fmt/format.h>

#include "codegen/text/marks.h"

namespace solstice::families::tensor_core {
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
std::string output_text(const codegen::EpilogueCode& code, size_t i) {
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

Functor functor_of(const ir::Program& program, const Product& product, const Epilogue& epilogue, bool by_copy_engine) {
  const codegen::EpilogueCode& code = epilogue.code;
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
    stores += codegen::marked(output_text(code, i), code.stores[i].equation);
    elements += fmt::format("{}if constexpr (kOutput == {}) return {}{{}};\n", i ? "else " : "", i, type);
    if (!epilogue.resident)
      values += codegen::mark(code.stores[i].equation) +
                fmt::format("out[{}] = static_cast<float>({});\n", i, code.stores[i].value);
  }
  std::string finder;
  if (epilogue.rows) {
    for (size_t i = 0; i < code.rows->terms.size(); ++i)
      values += fmt::format("out[{}] = static_cast<float>({});\n", code.stores.size() + i, code.rows->terms[i]);
    pointer("float* SOLSTICE_RESTRICT", "parts");
    finder = finder_text(program, product, *epilogue.rows, code.stores.size());
  }
  if (epilogue.resident) {
    for (size_t i = 0; i < epilogue.resident->row_writes.size(); ++i)
      pointer(storage(program, epilogue.resident->row_writes[i]) + "* SOLSTICE_RESTRICT",
              epilogue.resident->row_names[i]);
  }
  std::string place;
  if (by_copy_engine) {
    place = fmt::format(
        "template <int kOutput>\nSOLSTICE_DEVICE auto place(int batch, int m, int n) const {{\nreturn o0 + "
        "({});\n}}\n",
        offset_text(code.stores.front()));
    place = codegen::marked(place, code.stores.front().equation);
  }
  const std::string access = fmt::format(
      "template <int kOutput>\nSOLSTICE_DEVICE static constexpr auto element() {{\n{}}}\n\n"
      "template <int kOutput, class T>\nSOLSTICE_DEVICE void store(int batch, int m, int n, T value) const "
      "{{\n{}}}\n{}",
      elements, stores, place);
  if (epilogue.resident) {
    out.text = fmt::format(
        "struct Epilogue {{\nstatic constexpr int kOutputs = {};\nstatic constexpr bool kReduces = false, kRowResident "
        "= "
        "true, kTma = {}, kLong = {};\n{}\n{}\n{}}};\n",
        code.stores.size(), by_copy_engine, epilogue.is_long(), members, resident_text(product, *epilogue.resident),
        access);
    return out;
  }
  for (const codegen::Field& field : code.fields) fields += fmt::format("{} {};\n", field.type, field.name);
  out.text = fmt::format(
      "struct Epilogue {{\nstatic constexpr int kOutputs = {}, kValues = {};\nstatic constexpr bool kReduces = {}, "
      "kRowResident = false, kTma = {}, kLong = {};\n{}\nstruct In {{\n{}}};\n\n"
      "SOLSTICE_DEVICE In load(int batch, int m, int n) const {{\nIn in;\n{}return in;\n}}\n\n"
      "SOLSTICE_DEVICE void compute(float acc, {}const In& in, int batch, int m, int n, float "
      "(&out)[kValues]) const {{\n{}{}}}\n\n{}{}}};\n",
      code.stores.size(), code.stores.size() + (epilogue.rows ? code.rows->terms.size() : 0), epilogue.rows.has_value(),
      by_copy_engine, epilogue.is_long(), members, fields, code.load, code.dual ? "float acc1, " : "", code.compute,
      values, access, finder);
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

}  // namespace solstice::families::tensor_core
