// The binder (private to src/ir/bind): one pass over the items of a scope in text order. A block (the
// equations of a kernel, or a run of loose ones) is elaborated, its extents are solved, then its rules are
// checked, then it is ordered.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/diagnostic.h"
#include "ir/bind/scope.h"
#include "ir/program.h"
#include "lang/tree.h"

namespace solstice::ir {

class Binder {
 public:
  Binder(const lang::Program& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics), lost_(source.lost.begin(), source.lost.end()) {}
  std::optional<Program> run();

 private:
  friend class Elaborator;

  // The budget for the expansion of calls, functions and views (budget.cpp); false: it is spent, and that was said
  bool afford_items(size_t count, Span span);
  bool afford_nodes(int64_t count, Span span);
  bool afford_depth(int depth, Span span);
  // E022 where a tensor of that shape is larger than any address.
  bool check_size(const std::string& name, const std::vector<int64_t>& shape, int64_t element_bytes, Span span);
  bool too_large(const std::string& what, Span span, std::string hint);

  // diagnostics (binder.cpp)
  void error(std::string_view code, Span span, std::string message, std::string hint = "");
  void warning(std::string_view code, Span span, std::string message, std::string hint = "");

  // scopes and declarations (declare.cpp)
  std::optional<int64_t> value_of(const lang::ExprRef& e, const Scope& scope);
  lang::ExprRef outer(const lang::ExprRef& e, const Scope& scope) const;
  void declare_dims(const lang::Dims& dims, Scope& scope);
  bool name_is_free(const std::string& name, const Scope& scope, Span span);
  int declare_tensor(const lang::Type& type, const std::string& name, TensorKind kind, Span span, Scope& scope);
  void declare(const lang::Decl& decl, Span span, Scope& scope);
  void declare_path(const std::string& path, int id, Span span);
  void declare_fn(const lang::Fn& fn, Span span, Scope& scope);
  void declare_opaque(const lang::Opaque& opaque, Span span, Scope& scope);
  int add_tensor(Tensor tensor);
  std::string unique_name(const std::string& wanted);
  void give_name(Scope& scope, const std::string& name, const Symbol& symbol);
  Knobs bind_knobs(const std::vector<lang::Knob>& knobs, const Scope& scope);
  KnobValue bind_knob(const lang::KnobValue& value, const Scope& scope);
  void name_tensors(std::vector<std::pair<std::string, KnobValue>>& knobs, const Scope& scope);
  void name_tensors(KnobValue& value, const Scope& scope);
  struct Strided {
    int tensor = -1;
    int64_t offset = 0;
    std::vector<int64_t> shape, strides;
  };
  std::optional<Strided> strided(const View& view) const;
  std::optional<Strided> strided(const Symbol& symbol) const;

  // storage, clauses and sources (storage.cpp, clauses.cpp, sources.cpp)
  void declare_storage(const lang::Decl& decl, Tensor& tensor, Span span, Scope& scope);
  void declare_layout(const lang::Decl& decl, Tensor& tensor, Span span, const Scope& scope);
  void check_strides(const Tensor& tensor, Span span);
  void declare_shared(const lang::Decl& decl, Tensor& tensor, Span span, const Scope& scope);
  void check_draw(const Tensor& tensor, Span span);
  void declare_draw(const lang::Decl& decl, Tensor& tensor, Span span, const Scope& scope);
  int existing(const std::string& name, Span span, const Scope& scope);
  void check_updates();
  void check_sharing();
  void clause(const lang::Clause& clause, Span span, const Scope& scope);
  void check_options(const char* clause_word, const lang::Clause& clause, const Knobs& given, Span span);
  void check_version();
  void check_frozen();
  void source(const lang::Source& source, Span span);
  void check_sources();
  bool one_of(const std::vector<std::string>& names, const std::string& word, const char* clause_word, Span span);

  // items and defs (binder.cpp, calls.cpp)
  void items(const std::vector<lang::Item>& items, Scope& scope);
  void item(const lang::Item& item, Scope& scope);
  void kernel(const lang::Kernel& kernel, Span span, Scope& scope);
  void call(const lang::Call& call, Span span, Scope& scope);
  std::string unique_instance(const std::string& wanted);
  bool bind_statics(const lang::Call& call, const lang::Def& def, Span span, const Scope& outer_scope, Scope& inner);
  bool bind_formal(const lang::CallArg& arg, const lang::Formal& formal, Scope& outer_scope, Scope& inner);
  bool check_kind(const Symbol& symbol, const std::string& name, const lang::Formal& formal, const char* role,
                  Span span);
  void check_unbound_defs();
  void bind_alone(const lang::Def& def);
  bool bind_result(const std::string& name, const lang::Formal& formal, Span span, Scope& outer_scope, Scope& inner);

  // blocks (block.cpp)
  void block(const std::vector<const lang::Item*>& items, int kernel, Scope& scope);
  void draft(const lang::Equation& equation, Span span, Scope& scope);
  // An equation that stands in no block, elaborated and checked; nothing where that found errors.
  std::optional<Draft> lone_draft(const lang::Equation& equation, Span span, int target, Scope& scope);
  void view(const lang::Equation& equation, Span span, Scope& scope);
  void assume(const lang::Equation& equation, Span span, Scope& scope);
  int target_of(const lang::Equation& equation, Span span, Scope& scope);
  int local(const std::string& name, size_t rank, Span span, Scope& scope);
  bool check_target(const std::string& name, const Symbol& symbol, Span span);
  void report_crossing(const std::string& name, const Scope::Gone& from, Span span);
  void check_once(const Kernel& kernel, const Draft& d);

  // extents (extents.cpp)
  int64_t extent_of(const Symbol& symbol, size_t dimension) const;
  void solve(Draft& d);
  void solve_pending();
  void settle_local(Draft& d);
  void check_extents(Draft& d);
  void check_uses(Draft& d, int index);
  void check_kinds(Draft& d);

  // ranges (ranges.cpp)
  Integers integers(const Draft& d, const std::vector<Fact>& facts) const;
  void check_ranges(Draft& d);
  void check_read(Draft& d, const SourceRead& read);
  void check_write(Draft& d);
  void note_values(const Draft& d);

  // order and recurrences (order.cpp, recurrence.cpp)
  void order(int kernel);
  void place(const std::vector<int>& group, int first, const std::vector<int>& needed, int kernel_id);
  bool may_touch(const Draft& reader, const TensorRead& read, const Equation& writer) const;
  void check_recurrence(const std::vector<int>& members);
  void report_cycle(const Draft& first);
  bool try_step(const std::vector<int>& members, const std::string& name);
  bool try_step(const std::vector<int>& members, const std::string& name, int sign);
  void emit(int draft, int kernel);
  using Writers = std::unordered_map<int, std::vector<int>>;  // of the block: drafts by the tensor they write
  std::vector<int> dependencies(int reader, const Writers& writers, bool& forward) const;
  void check_defined(const Draft& d);

  // cover (cover.cpp)
  void check_cover();
  void check_cover(const std::string& name, const std::vector<int64_t>& shape,
                   const std::vector<const Equation*>& pieces, Span span);

  // warnings (warnings.cpp)
  void warn(const Draft& d);

  const lang::Program& source_;
  Diagnostics& diagnostics_;
  Program program_;
  std::vector<TensorState> states_;
  std::vector<View> views_;
  std::vector<std::pair<std::string, const lang::Def*>> defs_;
  std::set<const lang::Def*> bound_defs_;   // defs that a call has reached
  std::set<std::string> lost_;              // names whose definition had a mistake: nothing is said of their uses
  std::vector<Draft> drafts_;               // of the block at work
  const TensorRead* early_read_ = nullptr;  // of a recurrence: below its definition's place in the step
  std::map<std::string, size_t> upcoming_;  // locals that the block at work will define: name -> rank
  int kernel_ = -1;                         // kernel at work
  std::unordered_set<int> written_;         // tensors that the block at work writes, and reads, so far
  std::unordered_set<int> read_;
  std::unordered_set<int> noted_;          // tensors whose integers' range note_values has looked at
  std::vector<const lang::Def*> calling_;  // calls at work, outermost first
  Span outermost_call_;
  int groups_ = 0;                                  // recurrences so far
  std::unordered_map<std::string, int> names_;      // of tensors: the last number that was appended to each
  std::unordered_map<std::string, int> instances_;  // the same of instances
  std::set<std::string> kernel_names_;
  std::unordered_map<std::string, int> paths_;  // the first param or buffer of each
  int64_t nodes_ = 0, items_ = 0;               // expanded so far
  bool spent_ = false;                          // the program is too large: nothing more is bound
};

}  // namespace solstice::ir
