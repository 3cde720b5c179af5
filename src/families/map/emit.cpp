#include "families/map/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/emitter.h"
#include "codegen/serial.h"

namespace solstice::families::map {
namespace {

using codegen::Access;
using codegen::Binding;
using codegen::CType;
using codegen::Emitter;
using codegen::Interval;
using codegen::Value;

// A read that is loaded as a vector ahead of its use.
struct Stream {
  Access access;
  std::string name;       // "x0": array of vectors, one for each in flight
  std::string otherwise;  // value of all lanes where the read is out of range
};

class NestWriter {
 public:
  NestWriter(Emitter& emitter, const ir::Program& program, Nest& nest, int id, int unroll, const Settings& settings)
      : emitter_(emitter), program_(program), nest_(nest), id_(id), unroll_(unroll), settings_(settings),
        wide_(nest.vectors() > INT32_MAX / 2) {}

  Result<std::string> write() {
    choose_streams();
    emitter_.set_hook([this](Emitter& e, const ir::ExprRef& read) { return given(e, read); });
    SOLSTICE_TRY(const std::string loads, load_loop());
    SOLSTICE_TRY(const std::string computes, compute_loop());
    const std::string once = emitter_.take(0);
    return fmt::format("template <bool kFull>\nSOLSTICE_DEVICE void nest{}({}, {} first) {{\n{}{}{}{}}}\n", id_,
                       parameters(), index_type(), once, declarations(), loads, computes);
  }

  std::vector<int> written() const {
    std::vector<int> out;
    for (const codegen::FlatEquation& equation : nest_.flat.equations) {
      if (std::find(out.begin(), out.end(), equation.target) == out.end()) out.push_back(equation.target);
    }
    return out;
  }

  // The block's call: whole blocks skip all tests.
  std::string call(int64_t first_block) const {
    std::string pointers;
    for (const int tensor : emitter_.tensors_read()) pointers += emitter_.pointer_name(tensor) + ", ";
    for (const int tensor : written()) pointers += emitter_.pointer_name(tensor) + ", ";
    const int64_t step = int64_t{settings_.threads} * unroll_;
    const std::string first = fmt::format("const {0} first = static_cast<{0}>(blockIdx.x - {1}u) * {2};\n", index_type(), first_block, step);
    const bool all_full = nest_.points % (step * nest_.vector) == 0;
    if (all_full) return fmt::format("{}nest{}<true>({}first);\n", first, id_, pointers);
    return fmt::format("{}if (first + {} <= {}) nest{}<true>({}first);\nelse nest{}<false>({}first);\n", first, step,
                       nest_.points / nest_.vector, id_, pointers, id_, pointers);
  }

 private:
  std::string_view index_type() const { return wide_ ? "long long" : "int"; }

  void choose_streams() {
    for (const Access& access : codegen::accesses_of(program_, nest_.flat)) {
      if (!access.read || !is_stream(nest_, access)) continue;
      const auto same = [&](const Stream& s) { return s.access.read == access.read; };
      if (std::any_of(streams_.begin(), streams_.end(), same)) continue;
      streams_.push_back({access, fmt::format("x{}", streams_.size()), ""});
    }
  }

  Result<std::optional<Value>> given(Emitter& e, const ir::ExprRef& node) {
    if (node->op == ir::Op::kReduce) {
      SOLSTICE_TRY(Value value, codegen::emit_serial_reduction(e, node));
      return std::optional(value);
    }
    for (const Stream& stream : streams_) {
      if (stream.access.read != node || lane_depth_ < 0) continue;
      const DType dtype = *program_.tensor(node->id).dtype;
      return std::optional(e.define(codegen::computing_type(dtype), fmt::format("widen({}[u].v[lane])", stream.name), lane_depth_,
                                    codegen::values_of(dtype)));
    }
    return std::optional<Value>();
  }

  // Binds every loop's index from the vector's number `q`; the innermost steps by whole vectors.
  void bind_loops(int depth) {
    const CType type = wide_ ? CType::kI64 : CType::kI32;
    Value rest = emitter_.variable(type, "q", depth, {0, nest_.vectors() - 1});
    for (size_t k = nest_.loops.size(); k-- > 0;) {
      const codegen::Loop& loop = nest_.loops[k];
      const bool innermost = k + 1 == nest_.loops.size();
      const int64_t steps = innermost ? (loop.extent + nest_.vector - 1) / nest_.vector : loop.extent;
      Value at = rest;
      if (k > 0) {
        const std::string_view as = wide_ ? "unsigned long long" : "unsigned";
        const auto part = [&](char op) {
          return fmt::format("static_cast<{}>(static_cast<{}>({}) {} {}u)", index_type(), as, rest.text, op, steps);
        };
        at = emitter_.define(type, part('%'), depth, {0, steps - 1});
        rest = emitter_.define(type, part('/'), depth, {0, rest.range.hi / steps});
      }
      Binding binding;
      binding.terms = {{at, innermost ? nest_.vector : 1}};
      if (innermost) innermost_ = binding;
      emitter_.bind(loop.stepping(), std::move(binding));
    }
  }

  void bind_lane(int depth) {
    if (nest_.loops.empty()) return;
    Binding binding = innermost_;
    if (nest_.vector > 1) {
      binding.terms.push_back({emitter_.variable(CType::kI32, "lane", depth, {0, nest_.vector - 1}), 1});
    }
    emitter_.bind(nest_.loops.back().stepping(), std::move(binding));
  }

  std::string declarations() const {
    std::string out;
    for (const Stream& s : streams_) {
      out += fmt::format("Vec<{}, {}> {}[{}];\n", codegen::storage_type(*program_.tensor(s.access.tensor).dtype), nest_.vector, s.name, unroll_);
    }
    return out;
  }

  std::string loop_head() const {
    return fmt::format("#pragma unroll\nfor (int u = 0; u < {}; ++u) {{\nconst {} q = first + u * {} + static_cast<int>(threadIdx.x);\n"
                       "if (!kFull && q >= {}) break;\n", unroll_, index_type(), settings_.threads, nest_.vectors());
  }

  // The last vector of a flat nest may be short.
  bool has_tail() const { return nest_.points % nest_.vector != 0; }

  std::string load_hint(bool reused) const { return settings_.streaming.loads && !reused ? "kStream" : "kPlain"; }
  std::string store_hint() const { return settings_.streaming.stores ? "kStream" : "kPlain"; }

  // Data that fewer loops than the nest's step through is read again by other threads.
  bool is_reused(const Access& access) const {
    return std::any_of(nest_.loops.begin(), nest_.loops.end(), [&](const codegen::Loop& loop) {
      return std::none_of(loop.indices.begin(), loop.indices.end(), [&](int id) { return access.depends_on(id); });
    });
  }

  Result<std::string> load_loop() {
    if (streams_.empty()) return std::string();
    const int depth = emitter_.push();
    bind_loops(depth);
    std::string text;
    for (Stream& s : streams_) {
      const ir::Tensor& tensor = program_.tensor(s.access.tensor);
      emitter_.note_read(s.access.tensor);
      SOLSTICE_TRY(const Emitter::Place at, emitter_.place(tensor, s.access.args));
      const std::string load = fmt::format("load<{}, {}>({} + {})", nest_.vector, load_hint(is_reused(s.access)), emitter_.pointer_name(s.access.tensor), at.offset.text);
      if (!at.inside && !has_tail()) {
        text += fmt::format("{}[u] = {};\n", s.name, load);
        continue;
      }
      SOLSTICE_TRY(const std::string guarded, guarded_load(s, at, load));
      text += guarded;
    }
    text = loop_head() + emitter_.take(depth) + text + "}\n";
    emitter_.pop();
    return text;
  }

  Result<std::string> guarded_load(const Stream& s, const Emitter::Place& at, const std::string& load) {
    const ir::Tensor& tensor = program_.tensor(s.access.tensor);
    const std::string pointer = emitter_.pointer_name(s.access.tensor);
    std::string text = fmt::format("{}[u] = {};\n", s.name, load);
    if (has_tail()) {
      text = fmt::format("if (kFull || q < {0}) {1}else for (int lane = 0; lane < {2}; ++lane) {3}[u].v[lane] = {4}[{5} + lane];\n",
                         nest_.points / nest_.vector, text, nest_.points % nest_.vector, s.name, pointer, at.offset.text);
    }
    if (!at.inside) return text;
    std::string otherwise = "0";
    if (s.access.read->has_else) {
      SOLSTICE_TRY(const Value value, emitter_.emit(s.access.read->args.back()));
      otherwise = value.text;
    }
    const auto type = codegen::storage_type(*tensor.dtype);
    return fmt::format("if ({}) {{\n{}}} else {{\n#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {}[u].v[lane] = narrow<{}>({});\n}}\n",
                       at.inside->text, text, nest_.vector, s.name, type, otherwise);
  }

  struct Stored {
    int equation;
    bool vector;
    std::string base;    // offset of a vector store
    std::string name;    // "y0"
  };

  Result<std::string> compute_loop() {
    const int depth = emitter_.push();
    bind_loops(depth);
    std::vector<Stored> stores;
    for (const Access& access : codegen::accesses_of(program_, nest_.flat)) {
      if (access.read) continue;
      Stored stored{access.equation, nest_.vector > 1 && is_stream(nest_, access), "", fmt::format("y{}", stores.size())};
      if (stored.vector) {
        SOLSTICE_TRY(const Emitter::Place at, emitter_.place(program_.tensor(access.tensor), access.args));
        stored.base = at.offset.text;
      }
      stores.push_back(stored);
    }
    lane_depth_ = emitter_.push();
    bind_lane(lane_depth_);
    std::string lanes;
    for (const Stored& stored : stores) {
      SOLSTICE_TRY(const std::string text, lane_store(stored));
      lanes += text;
    }
    lanes = emitter_.take(lane_depth_) + lanes;
    emitter_.pop();
    const std::string text = loop_head() + emitter_.take(depth) + compute_body(stores, lanes) + "}\n";
    emitter_.pop();
    lane_depth_ = -1;
    return text;
  }

  Result<std::string> lane_store(const Stored& stored) {
    const codegen::FlatEquation& equation = nest_.flat.equations[static_cast<size_t>(stored.equation)];
    const ir::Tensor& target = program_.tensor(equation.target);
    SOLSTICE_TRY(const Value value, emitter_.emit(equation.rhs));
    const auto type = codegen::storage_type(*target.dtype);
    if (stored.vector) return fmt::format("{}.v[lane] = narrow<{}>({});\n", stored.name, type, value.text);
    SOLSTICE_TRY(const Emitter::Place at, emitter_.place(target, equation.lhs));
    return fmt::format("store_one<{}>({} + {}, {});\n", store_hint(), emitter_.pointer_name(equation.target), at.offset.text, value.text);
  }

  std::string compute_body(const std::vector<Stored>& stores, const std::string& lanes) const {
    std::string text;
    for (const Stored& s : stores) {
      if (s.vector) text += fmt::format("Vec<{}, {}> {};\n", codegen::storage_type(*target_of(s).dtype), nest_.vector, s.name);
    }
    const std::string valid = has_tail() ? fmt::format("if (!kFull && q * {} + lane >= {}) break;\n", nest_.vector, nest_.points) : "";
    if (nest_.vector > 1) text += fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n{}{}}}\n", nest_.vector, valid, lanes);
    else text += streams_.empty() ? lanes : "constexpr int lane = 0;\n" + lanes;
    for (const Stored& s : stores) {
      if (!s.vector) continue;
      const std::string pointer = emitter_.pointer_name(nest_.flat.equations[static_cast<size_t>(s.equation)].target);
      const std::string store = fmt::format("store<{}>({} + {}, {});\n", store_hint(), pointer, s.base, s.name);
      if (!has_tail()) text += store;
      else text += fmt::format("if (kFull || q < {}) {}else for (int lane = 0; lane < {}; ++lane) {}[{} + lane] = {}.v[lane];\n",
                               nest_.points / nest_.vector, store, nest_.points % nest_.vector, pointer, s.base, s.name);
    }
    return text;
  }

  const ir::Tensor& target_of(const Stored& s) const {
    return program_.tensor(nest_.flat.equations[static_cast<size_t>(s.equation)].target);
  }

  std::string parameters() const {
    std::vector<std::string> out;
    for (const int tensor : emitter_.tensors_read()) {
      out.push_back(fmt::format("const {}* SOLSTICE_RESTRICT {}", codegen::storage_type(*program_.tensor(tensor).dtype), emitter_.pointer_name(tensor)));
    }
    for (const int tensor : written()) {
      out.push_back(fmt::format("{}* SOLSTICE_RESTRICT {}", codegen::storage_type(*program_.tensor(tensor).dtype), emitter_.pointer_name(tensor)));
    }
    return fmt::format("{}", fmt::join(out, ", "));
  }

  Emitter& emitter_;
  const ir::Program& program_;
  Nest& nest_;
  int id_;
  int unroll_;
  const Settings& settings_;
  bool wide_;
  std::vector<Stream> streams_;
  Binding innermost_;
  int lane_depth_ = -1;
};

struct Written {
  std::string function;
  std::string call;
  std::vector<int> reads;
  std::vector<int> writes;
};

Result<Written> write_nest(const ir::Program& program, Nest& nest, int id, int unroll, int64_t first_block, const Settings& settings) {
  Emitter emitter(program, nest.flat.indices);
  NestWriter writer(emitter, program, nest, id, unroll, settings);
  SOLSTICE_TRY(std::string function, writer.write());
  return Written{std::move(function), writer.call(first_block), emitter.tensors_read(), writer.written()};
}

void merge(std::vector<int>& all, const std::vector<int>& more) {
  for (const int id : more) {
    if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
  }
}

}  // namespace

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, std::vector<Nest>& nests, const Settings& settings) {
  Text out;
  out.entry = codegen::identifier(kernel.name);
  std::string functions, body;
  std::vector<int> reads, writes;
  for (size_t k = 0; k < nests.size(); ++k) {
    const int unroll = unroll_of(program, nests[k], settings);
    SOLSTICE_TRY(const Written nest, write_nest(program, nests[k], static_cast<int>(k), unroll, out.blocks, settings));
    functions += nest.function + "\n";
    const int64_t step = int64_t{settings.threads} * unroll;
    out.blocks += (nests[k].vectors() + step - 1) / step;
    const bool last = k + 1 == nests.size();
    body += last ? nest.call : fmt::format("if (blockIdx.x < {}u) {{\n{}return;\n}}\n", out.blocks, nest.call);
    merge(reads, nest.reads);
    merge(writes, nest.writes);
  }
  std::vector<std::string> parameters;
  const Emitter names(program, nests.front().flat.indices);
  for (const int id : reads) {
    parameters.push_back(fmt::format("const {}* SOLSTICE_RESTRICT {}", codegen::storage_type(*program.tensor(id).dtype), names.pointer_name(id)));
  }
  for (const int id : writes) {
    parameters.push_back(fmt::format("{}* SOLSTICE_RESTRICT {}", codegen::storage_type(*program.tensor(id).dtype), names.pointer_name(id)));
  }
  out.parameters = reads;
  out.parameters.insert(out.parameters.end(), writes.begin(), writes.end());
  out.code = fmt::format("#include \"math/special.h\"\n#include \"math/vector.h\"\n\nnamespace solstice {{\nusing namespace math;\n\n{}"
                         "}}  // namespace solstice\n\nSOLSTICE_KERNEL void SOLSTICE_BOUNDS({}, 1) {}({}) {{\nusing namespace solstice;\n{}}}\n",
                         functions, settings.threads, out.entry, fmt::join(parameters, ", "), body);
  return out;
}

}  // namespace solstice::families::map
