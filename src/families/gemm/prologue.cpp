#include "families/gemm/prologue.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "codegen/access.h"
#include "codegen/emitter.h"
#include "codegen/variables.h"
#include "families/tensor_core/tile_config.h"

namespace solstice::families::gemm {
namespace {

using codegen::Access;
using ir::ExprRef;
using ir::Op;

// A read that a load takes neighbours of: strides by variable (batch, line, k) in elements.
struct Stream {
  ExprRef read;
  int tensor = -1;
  int64_t base = 0, batch = 0, line = 0, k = 0;
  int vector = 1;
};

class PrologueWriter {
 public:
  PrologueWriter(const ir::Program& program, const Contraction& c, bool is_a)
      : program_(program),
        c_(c),
        is_a_(is_a),
        operand_(is_a ? c.a : c.b),
        lines_(is_a ? c.m : c.n),
        by_k_(major_of(operand_, lines_, c.k) != Major::kMN),
        flat_(operand_.made->flat),
        emitter_(program, flat_.indices) {}

  Result<PrologueText> write() {
    std::vector<int> fused;
    const auto bind = [&](const char* name, const std::vector<int>& indices) {
      fused.push_back(codegen::bind_variable(emitter_, program_, flat_, name, indices, 0));
    };
    bind("batch", c_.batch_indices), bind("line", is_a_ ? c_.m_indices : c_.n_indices), bind("k", c_.k_indices);
    find_streams(fused);
    emitter_.set_hook([this](codegen::Emitter&, const ExprRef& node) -> Result<std::optional<codegen::Value>> {
      for (size_t i = 0; i < streams_.size(); ++i) {
        if (streams_[i].read == node)
          return std::optional(emitter_.variable(codegen::CType::kF32, fmt::format("s{}", i), 0));
      }
      return std::optional<codegen::Value>();
    });
    if (operand_.made->brief) emitter_.set_short_values(codegen::short_values_of(program_, flat_));
    SOLSTICE_TRY(const codegen::Value value, emitter_.emit(operand_.made->value()));
    const std::string result = emitter_.convert(value, codegen::CType::kF32).text;
    for (const Stream& s : streams_) emitter_.note_read(s.tensor);
    return text_of(result, emitter_.take(0));
  }

 private:
  void find_streams(const std::vector<int>& fused) {
    const bool one_step = std::find(fused.begin(), fused.end(), codegen::kSeveralSteps) == fused.end();
    for (const Access& access : codegen::accesses_of(program_, flat_)) {
      const DType dtype = *program_.tensor(access.tensor).dtype;
      if (!access.read || !access.offset || access.tested || (dtype != DType::kF32 && !is_16_bit_float(dtype)))
        continue;
      Stream s{access.read, access.tensor, access.offset->offset};
      if (access.read == operand_.made->main) {
        s.batch = operand_.batch, s.line = operand_.line, s.k = operand_.k;
      } else if (one_step) {
        const auto stride = [&](int step) { return step < 0 ? 0 : access.offset->coefficient(step); };
        s.batch = stride(fused[0]), s.line = stride(fused[1]), s.k = stride(fused[2]);
      }
      if ((by_k_ ? s.k : s.line) != 1) continue;
      const OperandAccess as{s.tensor, dtype, s.base, s.batch, s.line, s.k, {}};
      s.vector = vector_of(as, by_k_ ? Major::kK : Major::kMN, 4);
      streams_.push_back(s);
    }
  }

  PrologueText text_of(const std::string& result, const std::string& statements) const {
    const char* const letter = is_a_ ? "a" : "b";
    PrologueText out;
    out.reads = emitter_.tensors_read();
    std::string members, loads, parameters, arguments;
    for (const int tensor : emitter_.tensors_read()) {
      const std::string type =
          fmt::format("const {}* SOLSTICE_RESTRICT", codegen::storage_type(*program_.tensor(tensor).dtype));
      const std::string name = fmt::format("{}_{}", letter, emitter_.pointer_name(tensor));
      members += fmt::format("{} {};\n", type, emitter_.pointer_name(tensor));
      out.parameters += fmt::format(", {} {}", type, name);
      out.value += (out.value.empty() ? "" : ", ") + name;
    }
    for (size_t i = 0; i < streams_.size(); ++i) {
      const Stream& s = streams_[i];
      parameters += fmt::format("float s{}, ", i);
      arguments += fmt::format("s{}[j], ", i);
      loads += fmt::format(
          "float s{0}[kCount];\ngemm::load_neighbours<{1}>(s{0}, {2} + (i64({3}) + batch * i64({4}) + line * i64({5}) "
          "+ k * i64({6})), valid);\n",
          i, s.vector, emitter_.pointer_name(s.tensor), s.base, s.batch, s.line, s.k);
    }
    out.name = is_a_ ? "PrologueA" : "PrologueB";
    out.value = fmt::format("{}{{{}}}", out.name, out.value);
    // Lines and k beyond the operand are computed as its last ones, and dropped.
    out.text = fmt::format(
        "struct {0} {{\nstatic constexpr bool kStored = false, kByK = {1};\n{2}\n"
        "SOLSTICE_DEVICE float value({3}int batch, int line, int k) const {{\n{4}return {5};\n}}\n\n"
        "template <int kCount>\nSOLSTICE_DEVICE void load(float (&v)[kCount], int batch, int line, int k, int valid) "
        "const {{\n{6}"
        "#pragma unroll\nfor (int j = 0; j < kCount; ++j) {{\n"
        "const float x = value({7}batch, smaller({8}, {9}), smaller({10}, {11}));\nv[j] = j < valid ? x : "
        "0.f;\n}}\n}}\n}};\n\n",
        out.name, by_k_, members, parameters, statements, result, loads, arguments, by_k_ ? "line" : "line + j",
        lines_ - 1, by_k_ ? "k + j" : "k", c_.k - 1);
    return out;
  }

  const ir::Program& program_;
  const Contraction& c_;
  const bool is_a_;
  const OperandAccess& operand_;
  const int64_t lines_;
  const bool by_k_;
  codegen::FlatKernel flat_;
  codegen::Emitter emitter_;
  std::vector<Stream> streams_;
};

}  // namespace

Status write_prologues(const ir::Program& program, Contraction& product) {
  for (const bool is_a : {true, false}) {
    OperandAccess& operand = is_a ? product.a : product.b;
    if (!operand.made) continue;
    auto made = std::make_shared<Prologue>(*operand.made);
    SOLSTICE_TRY(made->text, PrologueWriter(program, product, is_a).write());
    operand.made = std::move(made);
  }
  return success();
}

OperandText operand_text(const OperandAccess& operand, const std::string& name) {
  if (!operand.made) {
    const std::string type(codegen::storage_type(operand.dtype));
    return {"", fmt::format(", const {}* SOLSTICE_RESTRICT {}", type, name), type, name, ""};
  }
  const PrologueText& made = operand.made->text;
  return {made.text, made.parameters, fmt::format("float, {}", made.name), "nullptr", ", " + made.value};
}

std::string prologue_head(const std::string& above) {
  if (above.empty()) return "";
  return fmt::format("\nnamespace solstice {{\nusing namespace math;\n\n{}}}  // namespace solstice\n", above);
}

std::string strided_text(const OperandAccess& x, const OperandText& text) {
  return fmt::format("gemm::StridedOperand<{}>{{{}, i64({}), i64({}), i64({}){}}}", text.type, text.data, x.batch,
                     x.line, x.k, text.made);
}

}  // namespace solstice::families::gemm
