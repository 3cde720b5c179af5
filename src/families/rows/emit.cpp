#include "families/rows/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "families/rows/layout.h"
#include "families/rows/reduction.h"

namespace solstice::families::rows {
namespace {

using codegen::Access;
using codegen::CType;
using codegen::Emitter;
using codegen::FlatEquation;
using codegen::Value;
using ir::ExprRef;
using ir::Op;

constexpr int64_t kLongestRun = 64;  // steps that a thread adds one after the other
constexpr int64_t kUnrolled = 4;     // steps of a loop that holds nothing in registers

class Writer {
 public:
  Writer(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Settings& settings)
      : program_(program), kernel_(kernel), shape_(shape), s_(settings), emitter_(program, shape.flat.indices),
        phases_(phases_of(shape, settings.residency != Residency::kReload)), steps_(settings.steps(shape)) {
    for (const Access& access : codegen::accesses_of(program, shape.flat)) {
      if (access.read) accesses_.emplace(access.read.get(), access);
    }
  }

  Result<Text> write() {
    name_kept();
    bind_rows(emitter_, shape_);
    emitter_.set_hook([this](Emitter&, const ExprRef& node) { return given(node); });
    for (size_t p = 0; p < phases_.sweeps.size(); ++p) SOLSTICE_CHECK(write_sweep(phases_.sweeps[p]));
    SOLSTICE_CHECK(write_row_outputs());
    return finish();
  }

 private:
  // --- what is kept between sweeps ---------------------------------------------------------------------------------
  void name_kept() {
    for (const Sweep& sweep : phases_.sweeps) {
      for (const ExprRef& e : sweep.keeps) {
        Kept kept{e, fmt::format("k{}", kept_.size()), "", streams(e), 0};
        if (kept.loaded) kept.element = codegen::storage_type(*program_.tensor(e->id).dtype);
        kept_.push_back(std::move(kept));
      }
    }
  }

  bool streams(const ExprRef& e) const {
    const auto found = accesses_.find(e.get());
    return found != accesses_.end() && is_stream(shape_, found->second, s_.vector);
  }

  const Kept* kept(const ExprRef& e) const {
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.value == e; });
    return found == kept_.end() ? nullptr : &*found;
  }

  std::string at_step(const std::string& name) const {
    return s_.residency == Residency::kShared ? fmt::format("{}[k * {}]", name, s_.threads) : name + "[k]";
  }

  // --- one sweep ---------------------------------------------------------------------------------------------------
  // A sweep's loop over a thread's vectors, and what closes it.
  struct LoopText {
    std::string head, tail;
  };

  std::string step_text(bool stops) const {
    std::string out = fmt::format("[[maybe_unused]] const int c = k * {} + position;\n", int64_t{s_.group} * s_.sharers());
    if (stops) out += fmt::format("if (c >= {}) break;\n", (shape_.column_count + s_.vector - 1) / s_.vector);
    return out;
  }

  LoopText plain_loop() const {
    const int64_t unrolled = s_.residency == Residency::kRegisters ? steps_ : std::min<int64_t>(steps_, kUnrolled);
    return {fmt::format("#pragma unroll {}\nfor (int k = 0; k < {}; ++k) {{\n{}", unrolled, steps_, step_text(s_.ragged(shape_))), "}\n"};
  }

  // Long sums are taken in runs of about the root of their length, so that the roundings of a run meet a small sum.
  bool in_runs(const std::vector<Reduction>& reductions) const {
    const bool sums = std::any_of(reductions.begin(), reductions.end(), [](const Reduction& r) { return r.rounds(); });
    return sums && steps_ > kLongestRun && s_.residency != Residency::kRegisters;
  }

  LoopText loop_in_runs(const std::vector<Reduction>& reductions) const {
    const auto run = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::sqrt(static_cast<double>(steps_)))));
    std::string starts, ends;
    for (size_t i = 0; i < reductions.size(); ++i) {
      if (!reductions[i].rounds()) continue;
      starts += start_text(reductions[i], fmt::format("b{}", i));
      ends += fmt::format("#pragma unroll\nfor (int lane = 0; lane < {0}; ++lane) a{1}[lane] += b{1}[lane];\n", s_.vector, i);
    }
    return {fmt::format("#pragma unroll 1\nfor (int first = 0; first < {}; first += {}) {{\n{}#pragma unroll {}\nfor (int k = first; k < first + {}; ++k) {{\n{}", steps_, run, starts,
                        kUnrolled, run, step_text(s_.ragged(shape_) || steps_ % run != 0)),
            "}\n" + ends + "}\n"};
  }

  std::string start_text(const Reduction& r, const std::string& name) const {
    return fmt::format("{0} {1}[{2}];\n#pragma unroll\nfor (int lane = 0; lane < {2}; ++lane) {1}[lane] = rows::{3}::start<{0}>();\n", r.type, name, s_.vector, r.op);
  }

  bool is_reread(const Sweep& sweep, const ExprRef& read) const {
    return s_.residency == Residency::kReload && phases_.sweeps.size() > 1 && &sweep != &phases_.sweeps.back() && read;
  }

  // The text of a vector load, under its test where it has one. The lanes must not be bound yet.
  Result<std::string> vector_load(const ExprRef& read, const std::string& to, bool once) {
    const Access& access = accesses_.at(read.get());
    emitter_.note_read(access.tensor);
    SOLSTICE_TRY(const Emitter::Place at, emitter_.place(program_.tensor(access.tensor), access.args));
    const std::string load = fmt::format("{} = load<{}, {}>({} + {});\n", to, s_.vector, once && s_.streaming.loads ? "kStream" : "kPlain", emitter_.pointer_name(access.tensor), at.offset.text);
    if (!at.inside) return load;
    std::string otherwise = "0";
    if (read->has_else) {
      SOLSTICE_TRY(const Value value, emitter_.emit(read->args.back()));
      otherwise = value.text;
    }
    return fmt::format("if ({}) {}else for (int lane = 0; lane < {}; ++lane) {}.v[lane] = narrow<{}>({});\n", at.inside->text, load, s_.vector, to,
                       codegen::storage_type(*program_.tensor(access.tensor).dtype), otherwise);
  }

  // The row's data, all loads in flight before the first use.
  Status write_loads(const Sweep& sweep) {
    std::string text;
    const int depth = emitter_.push();
    bind_columns(emitter_, shape_, s_.vector, depth);
    for (const ExprRef& read : sweep.reads) {
      if (!streams(read)) continue;
      const Kept* k = kept(read);
      if (!k && s_.residency != Residency::kRegisters) continue;
      std::string name = k ? k->name : fmt::format("x{}", emitter_.fresh());
      if (!k) {
        declarations_ += fmt::format("Vec<{}, {}> {}[{}];\n", codegen::storage_type(*program_.tensor(read->id).dtype), s_.vector, name, steps_);
        ahead_[read.get()] = name;
      }
      SOLSTICE_TRY(const std::string load, vector_load(read, at_step(name), true));
      text += load;
    }
    const std::string inner = emitter_.take(depth);
    emitter_.pop();
    body_ += emitter_.take(0);
    const LoopText loop = plain_loop();
    if (!text.empty()) body_ += loop.head + inner + text + loop.tail;
    return success();
  }

  Status write_sweep(const Sweep& sweep) {
    sweep_ = &sweep;
    SOLSTICE_CHECK(write_loads(sweep));
    vector_depth_ = emitter_.push();
    bind_columns(emitter_, shape_, s_.vector, vector_depth_);
    base_ = shape_.columns.empty() ? codegen::Binding{} : emitter_.binding(shape_.columns.back().stepping());
    std::string before, after, lanes;
    std::vector<std::string> bases;
    for (const int k : sweep.stores) {
      SOLSTICE_TRY(const std::string base, store_base(equation(k)));
      bases.push_back(base);
    }
    lane_depth_ = emitter_.push();
    bind_lanes(emitter_, shape_, s_.vector, lane_depth_);
    std::vector<Reduction> reductions;
    for (const ExprRef& r : sweep.reductions) {
      SOLSTICE_TRY(Reduction reduction, begin(*r));
      reductions.push_back(std::move(reduction));
    }
    const bool runs = in_runs(reductions);
    for (size_t i = 0; i < reductions.size(); ++i) lanes += accumulate(reductions[i], i, runs);
    for (size_t i = 0; i < sweep.stores.size(); ++i) {
      SOLSTICE_TRY(const std::string text, store(equation(sweep.stores[i]), bases[i], i, before, after));
      lanes += text;
    }
    for (const ExprRef& e : sweep.keeps) {
      SOLSTICE_TRY(const std::string text, keep(e, before, after));
      lanes += text;
    }
    lanes = emitter_.take(lane_depth_) + lanes;
    emitter_.pop();
    const std::string vectors = emitter_.take(vector_depth_);
    emitter_.pop();
    lane_depth_ = -1;
    if (s_.vector > 1) lanes = fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n{}}}\n", s_.vector, lanes);
    else lanes = "constexpr int lane = 0;\n" + lanes;
    const LoopText loop = runs ? loop_in_runs(reductions) : plain_loop();
    body_ += emitter_.take(0) + accumulators(reductions) + loop.head + vectors + before + lanes + after + loop.tail;
    combine(sweep, reductions);
    if (s_.parts > 1) {
      for (size_t i = 0; i < reductions.size(); ++i) partials_.push_back({sweep.reductions[i], reductions[i]});
    }
    return success();
  }

  const FlatEquation& equation(int k) const { return shape_.flat.equations[static_cast<size_t>(k)]; }

  // --- values ------------------------------------------------------------------------------------------------------
  Result<std::optional<Value>> given(const ExprRef& node) {
    if (node->op == Op::kReduce) {
      const auto found = results_.find(node.get());
      if (found == results_.end()) return fail(Code::internal, "a reduction is used before its sweep");
      return std::optional(found->second);
    }
    if (lane_depth_ < 0) return std::optional<Value>();
    const Kept* k = kept(node);
    const bool mine = k && std::find(sweep_->keeps.begin(), sweep_->keeps.end(), node) != sweep_->keeps.end();
    if (k && (!mine || k->loaded)) return std::optional(lane_of(node, copy_of(at_step(k->name), k->element), k->loaded));
    if (node->op != Op::kRead || !streams(node)) return std::optional<Value>();
    if (const auto found = ahead_.find(node.get()); found != ahead_.end()) {
      return std::optional(lane_of(node, copy_of(found->second + "[k]", std::string(codegen::storage_type(*program_.tensor(node->id).dtype))), true));
    }
    SOLSTICE_TRY(const std::string vector, load_here(node));
    return std::optional(lane_of(node, vector, true));
  }

  Value lane_of(const ExprRef& node, const std::string& vector, bool stored) {
    if (!stored) return emitter_.define(types_.at(node.get()), vector + ".v[lane]", lane_depth_);
    const DType dtype = *program_.tensor(node->id).dtype;
    return emitter_.define(codegen::computing_type(dtype), fmt::format("widen({}.v[lane])", vector), lane_depth_, codegen::values_of(dtype));
  }

  // A step's vector under a name of its own; the same one within a sweep.
  std::string copy_of(const std::string& source, const std::string& element) {
    const std::string name = fmt::format("u{}", emitter_.fresh());
    emitter_.statement(vector_depth_, fmt::format("const Vec<{}, {}> {} = {};", element, s_.vector, name, source));
    return name;
  }

  Result<std::string> load_here(const ExprRef& read) {
    const int inner = shape_.columns.back().stepping();
    const codegen::Binding lanes = emitter_.binding(inner);
    emitter_.bind(inner, base_);
    const std::string name = fmt::format("w{}", emitter_.fresh());
    const bool row_data = std::find(sweep_->reads.begin(), sweep_->reads.end(), read) != sweep_->reads.end();
    SOLSTICE_TRY(const std::string load, vector_load(read, name, row_data && !is_reread(*sweep_, read)));
    emitter_.statement(vector_depth_, fmt::format("Vec<{}, {}> {};\n{}", codegen::storage_type(*program_.tensor(read->id).dtype), s_.vector, name, load));
    emitter_.bind(inner, lanes);
    return name;
  }

  // What a reduction adds up; its body is evaluated in the lanes' scope.
  Result<Reduction> begin(const ir::Expr& r) {
    SOLSTICE_TRY(Value term, emitter_.emit(r.args[0]));
    SOLSTICE_TRY(Reduction out, reduction_of(r, term.type));
    out.name = fmt::format("r{}", emitter_.fresh());
    out.term = fmt::format("static_cast<{}>({})", out.type, term.text);
    if (out.ranked) {
      SOLSTICE_TRY(const Value index, emitter_.emit(emitter_.indices().index_node(r.binders.front())));
      out.term = fmt::format("{}{{{}, {}}}", out.type, term.text, index.text);
    }
    if (r.args.size() > 1) {
      SOLSTICE_TRY(const Value condition, emitter_.emit(r.args[1]));
      out.test = fmt::format("if ({}) ", condition.text);
    }
    return out;
  }

  // The accumulators of this sweep are arrays over lanes: independent chains, and a shorter sum each.
  std::string accumulate(const Reduction& r, size_t number, bool runs) const {
    const std::string a = fmt::format("{}{}[lane]", runs && r.rounds() ? "b" : "a", number);
    return fmt::format("{}{} = rows::{}::combine<{}>({}, {});\n", r.test, a, r.op, r.type, a, r.term);
  }

  // Results are declared outside the block of the accumulators.
  std::string accumulators(const std::vector<Reduction>& reductions) const {
    std::string results, starts;
    for (size_t i = 0; i < reductions.size(); ++i) {
      const Reduction& r = reductions[i];
      results += fmt::format("{} {};\n", r.type, r.name);
      starts += start_text(r, fmt::format("a{}", i));
    }
    return reductions.empty() ? "" : results + "{\n" + starts;
  }

  // --- reductions over threads -------------------------------------------------------------------------------------
  void combine(const Sweep& sweep, const std::vector<Reduction>& reductions) {
    if (reductions.empty()) return;
    const bool shuffles = !s_.strided && s_.group <= 32;
    const bool alone = s_.strided && s_.group == 1;
    std::string collected;
    for (size_t i = 0; i < reductions.size(); ++i) {
      const Reduction& r = reductions[i];
      body_ += fmt::format("{0} = a{1}[0];\n#pragma unroll\nfor (int lane = 1; lane < {2}; ++lane) {0} = rows::{3}::combine<{4}>({0}, a{1}[lane]);\n", r.name, i,
                           s_.vector, r.op, r.type);
      if (shuffles) collected += fmt::format("{0} = rows::reduce_lanes<rows::{1}, {2}>({0});\n", r.name, r.op, s_.group);
      else if (!alone) publish(r, collected);
      results_[sweep.reductions[i].get()] = emitter_.variable(r.value_type, r.ranked ? r.name + ".index" : r.name, 0);
    }
    if (!shuffles && !alone) body_ += s_.cluster > 1 ? "rows::sync_cluster();\n" : "rows::sync_block();\n";
    body_ += collected + "}\n";
  }

  void publish(const Reduction& r, std::string& collected) {
    const std::string slots = fmt::format("reinterpret_cast<{}*>(shared + {})", r.type, shared_);
    shared_ += 16 * (s_.strided ? s_.threads : s_.threads / 32 * s_.cluster);
    if (s_.strided) {
      body_ += fmt::format("{}[threadIdx.x] = {};\n", slots, r.name);
      collected += fmt::format("{} = rows::collect_columns<rows::{}, {}, {}>({});\n", r.name, r.op, s_.threads, s_.rows_per_block(), slots);
      return;
    }
    if (s_.cluster > 1 && !waited_) body_ += "rows::wait_for_start();\n";
    waited_ = true;
    const std::string parameters = fmt::format("rows::{}, {}, {}, {}", r.op, s_.threads, s_.group, s_.cluster);
    body_ += fmt::format("rows::publish<{}>({}, {}, rank);\n", parameters, r.name, slots);
    collected += fmt::format("{} = rows::collect<{}, {}>({});\n", r.name, parameters, r.type, slots);
  }

  // --- stores ------------------------------------------------------------------------------------------------------
  Access target_of(const FlatEquation& e) const {
    for (const Access& access : codegen::accesses_of(program_, shape_.flat)) {
      if (!access.read && &equation(access.equation) == &e) return access;
    }
    return {};
  }

  // Where a vector store goes; "" if elements are stored one by one.
  Result<std::string> store_base(const FlatEquation& e) {
    if (!is_stream(shape_, target_of(e), s_.vector)) return std::string();
    SOLSTICE_TRY(const Emitter::Place at, emitter_.place(program_.tensor(e.target), e.lhs));
    return fmt::format("{} + {}", emitter_.pointer_name(e.target), at.offset.text);
  }

  std::string store_hint() const { return s_.streaming.stores ? "kStream" : "kPlain"; }
  std::string guard() const { return shape_.row_count % s_.rows_per_block() != 0 ? "if (valid) " : ""; }

  Result<std::string> store(const FlatEquation& e, const std::string& base, size_t number, std::string& before, std::string& after) {
    SOLSTICE_TRY(const Value value, emitter_.emit(e.rhs));
    const auto type = codegen::storage_type(*program_.tensor(e.target).dtype);
    if (base.empty()) {
      SOLSTICE_TRY(const Emitter::Place at, emitter_.place(program_.tensor(e.target), e.lhs));
      return fmt::format("{}store_one<{}>({} + {}, {});\n", guard(), store_hint(), emitter_.pointer_name(e.target), at.offset.text, value.text);
    }
    before += fmt::format("Vec<{}, {}> y{};\n", type, s_.vector, number);
    after += fmt::format("{}store<{}>({}, y{});\n", guard(), store_hint(), base, number);
    return fmt::format("y{}.v[lane] = narrow<{}>({});\n", number, type, value.text);
  }

  Result<std::string> keep(const ExprRef& e, std::string& before, std::string& after) {
    Kept& k = *std::find_if(kept_.begin(), kept_.end(), [&](const Kept& other) { return other.value == e; });
    if (k.loaded) return std::string();
    SOLSTICE_TRY(const Value value, emitter_.emit(e));
    types_[e.get()] = value.type;
    k.element = codegen::name_of(value.type);
    before += fmt::format("Vec<{}, {}> {}_;\n", k.element, s_.vector, k.name);
    after += fmt::format("{} = {}_;\n", at_step(k.name), k.name);
    return fmt::format("{}_.v[lane] = {};\n", k.name, value.text);
  }

  // What this block found of its row, for the fold.
  void write_partials() {
    std::string stores;
    for (size_t i = 0; i < partials_.size(); ++i) {
      stores += fmt::format("{}[static_cast<long long>(row) * {} + rank] = {};\n", partial_name(i), s_.parts, partials_[i].reduction.name);
    }
    body_ += fmt::format("if (threadIdx.x == 0) {{\n{}}}\n", stores);
  }

  Status write_row_outputs() {
    if (phases_.row_outputs.empty()) return success();
    if (s_.parts > 1) {
      write_partials();
      return success();
    }
    std::string stores;
    for (const int k : phases_.row_outputs) {
      const FlatEquation& e = equation(k);
      SOLSTICE_TRY(const Value value, emitter_.emit(e.rhs));
      SOLSTICE_TRY(const Emitter::Place at, emitter_.place(program_.tensor(e.target), e.lhs));
      stores += fmt::format("store_one({} + {}, {});\n", emitter_.pointer_name(e.target), at.offset.text, value.text);
    }
    const std::string first = s_.cluster > 1 ? "position == 0 && rank == 0" : "position == 0";
    body_ += emitter_.take(0) + fmt::format("if ({}{}) {{\n{}}}\n", first, guard().empty() ? "" : " && valid", stores);
    return success();
  }

  // --- the whole ---------------------------------------------------------------------------------------------------
  std::string prologue() const {
    const bool wide = shape_.row_count > INT32_MAX / 2;
    const std::string_view type = wide ? "long long" : "int";
    std::string out = s_.sharers() > 1 ? fmt::format("const int rank = static_cast<int>(blockIdx.x % {}u);\n", s_.sharers()) : "constexpr int rank = 0;\n(void)rank;\n";
    if (s_.cluster > 1) out += "rows::arrive_at_start();\n";
    const std::string thread = "static_cast<int>(threadIdx.x)";
    const int rows = s_.rows_per_block();
    const std::string mine = s_.strided ? fmt::format("{} % {}", thread, rows) : fmt::format("{} / {}", thread, s_.group);
    const std::string place = s_.strided ? fmt::format("{} / {}", thread, rows) : fmt::format("{} % {}", thread, s_.group);
    out += fmt::format("const int position = {} + rank * {};\n", place, s_.group);
    out += fmt::format("{0} row = static_cast<{0}>(blockIdx.x / {1}u) * {2} + {3};\n", type, s_.sharers(), rows, mine);
    if (shape_.row_count % rows != 0) {
      out += fmt::format("const bool valid = row < {0};\nrow = valid ? row : {0} - 1;  // threads without a row of their own keep the others company\n", shape_.row_count);
    }
    return out;
  }

  size_t sweep_of(const Kept& k, bool last) const {
    size_t out = 0;
    for (size_t p = 0; p < phases_.sweeps.size(); ++p) {
      const auto& list = last ? phases_.sweeps[p].uses : phases_.sweeps[p].keeps;
      if (std::find(list.begin(), list.end(), k.value) != list.end()) out = p;
    }
    return out;
  }

  int element_bytes(const Kept& k) const {
    if (k.loaded) return size_of(*program_.tensor(k.value->id).dtype);
    return k.element == "double" || k.element == "long long" ? 8 : 4;
  }

  // Kept values in registers, or in shared memory behind the reductions' slots. A value takes over the place of one
  // that is last used in the sweep that computes it: a thread reads its old element before it writes the new one.
  std::string storage() {
    std::string out;
    int64_t at = (shared_ + 127) / 128 * 128;
    std::vector<const Kept*> placed;
    for (Kept& k : kept_) {
      const std::string type = fmt::format("Vec<{}, {}>", k.element, s_.vector);
      if (s_.residency == Residency::kRegisters) {
        out += fmt::format("{} {}[{}];\n", type, k.name, steps_);
        continue;
      }
      const auto free = std::find_if(placed.begin(), placed.end(), [&](const Kept* old) {
        return old && sweep_of(*old, true) <= sweep_of(k, false) && element_bytes(*old) == element_bytes(k) && !k.loaded;
      });
      k.offset = free != placed.end() ? (*free)->offset : at;
      if (free == placed.end()) at += (steps_ * s_.threads * s_.vector * element_bytes(k) + 127) / 128 * 128;
      else *free = nullptr;
      placed.push_back(&k);
      out += fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(shared + {2}) + threadIdx.x;\n", type, k.name, k.offset);
    }
    shared_ = at;
    return out;
  }

  Result<Text> finish() {
    Text out;
    out.entry = codegen::identifier(kernel_.name);
    const std::string kept = storage();
    std::vector<std::string> parameters;
    std::vector<int> writes;
    for (const FlatEquation& e : shape_.flat.equations) {
      if (s_.parts > 1) break;  // the fold writes them
      if (std::find(writes.begin(), writes.end(), e.target) == writes.end()) writes.push_back(e.target);
    }
    out.parameters = emitter_.tensors_read();
    for (const int id : out.parameters) parameters.push_back(fmt::format("const {}* SOLSTICE_RESTRICT {}", codegen::storage_type(*program_.tensor(id).dtype), emitter_.pointer_name(id)));
    for (const int id : writes) parameters.push_back(fmt::format("{}* SOLSTICE_RESTRICT {}", codegen::storage_type(*program_.tensor(id).dtype), emitter_.pointer_name(id)));
    for (size_t i = 0; i < partials_.size(); ++i) parameters.push_back(fmt::format("{}* SOLSTICE_RESTRICT {}", partials_[i].reduction.type, partial_name(i)));
    out.parameters.insert(out.parameters.end(), writes.begin(), writes.end());
    const bool uses_shared = shared_ > 0;
    out.code = fmt::format("#include \"math/special.h\"\n#include \"math/vector.h\"\n#include \"rows/reduce.h\"\n\n"
                           "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({}, {}) {}({}) {{\nusing namespace solstice;\nusing namespace solstice::math;\n{}{}{}{}{}}}\n",
                           s_.threads, s_.blocks, out.entry, fmt::join(parameters, ", "), uses_shared ? "unsigned char* const shared = shared_bytes();\n" : "",
                           prologue(), kept, declarations_, body_);
    out.blocks = (shape_.row_count + s_.rows_per_block() - 1) / s_.rows_per_block() * s_.sharers();
    out.partials = partials_;
    out.shared_bytes = shared_;
    return out;
  }

  const ir::Program& program_;
  const ir::Kernel& kernel_;
  Shape& shape_;
  const Settings& s_;
  Emitter emitter_;
  Phases phases_;
  int64_t steps_;
  std::map<const ir::Expr*, Access> accesses_;
  std::map<const ir::Expr*, Value> results_;
  std::map<const ir::Expr*, CType> types_;     // of computed kept values
  std::map<const ir::Expr*, std::string> ahead_;  // arrays of row data that is not kept
  std::vector<Kept> kept_;
  std::vector<Partial> partials_;
  const Sweep* sweep_ = nullptr;
  codegen::Binding base_;
  int vector_depth_ = -1;
  int lane_depth_ = -1;
  int64_t shared_ = 0;
  bool waited_ = false;
  std::string declarations_, body_;
};

}  // namespace

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Settings& settings) {
  return Writer(program, kernel, shape, settings).write();
}

}  // namespace solstice::families::rows
