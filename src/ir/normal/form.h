// A program on its way to normal form: what the passes read and change.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/normal/terms/pool.h"
#include "ir/rewrite/finite.h"

namespace solstice::ir::normal {

// Passes that run.
struct Enabled {
  bool expand = true, hoist = true, split_radix = true, solve = true, absorb = true, pieces = true, algebra = true,
       name = true;
};

// One equation: tensor[left] = value, over `free`.
struct Definition {
  int equation = -1;
  int tensor = -1;
  std::vector<TermId> left;
  std::vector<int> free;
  TermId value = 0;
  int step = -1;  // of a recurrence: the variable that it advances along
  bool recurrent = false;
};

// The value to normalise: an element of a tensor, as a function of its free indices.
struct Root {
  int tensor = -1;
  std::vector<TermId> left;
  std::vector<int> free;
  TermId value = 0;
};

std::vector<std::vector<int>> writers_of(const Program& program);  // equations, by tensor

struct Form {
  Form(Pool& p, const Program& program_of, std::string prefix_of, Enabled on)
      : pool(p), program(program_of), prefix(std::move(prefix_of)), enabled(on) {}

  Pool& pool;
  const Program& program;
  std::string prefix;  // of the names of tensors that are not shared
  Enabled enabled;
  // By tensor the equations that define it, where somebody knows them already.
  const std::vector<std::vector<int>>* writers = nullptr;
  std::set<int> shared;  // tensors that stay reads: the interface, cut points
  // Tensors that are kept as nodes of a DAG: these, and where `keep_nodes` those whose definition has a reduction.
  std::set<int> wanted;
  bool keep_nodes = false;
  FiniteValues* finite = nullptr;       // of the program; null: of its interface alone
  std::vector<Definition> definitions;  // in text order
  std::vector<Definition> assumptions;
  std::vector<Root> roots;

  int symbol(int tensor);
  int tensor_of(int symbol_id) const;  // -1: none

 private:
  std::unordered_map<int, int> symbols_, tensors_;  // by tensor, by symbol
};

// Every term below `t`, arguments first, through `change`, which gets a term whose arguments have been changed.
class Rewriter {
 public:
  Rewriter(Pool& pool, std::function<TermId(TermId)> change) : pool_(pool), change_(std::move(change)) {}
  TermId operator()(TermId t);

 private:
  Pool& pool_;
  std::function<TermId(TermId)> change_;
  std::unordered_map<TermId, TermId> done_;
};

// Applies `change` to every definition's and root's value, and to the indices of roots.
void rewrite_all(Form& form, const std::function<TermId(TermId)>& change);

// 0 <= index < extent in every dimension; a condition for each side.
std::vector<TermId> within(Pool& pool, const std::vector<int64_t>& shape, const std::vector<TermId>& at);
TermId all_of(Pool& pool, const std::vector<TermId>& conditions);  // of none: true

// Equations as terms; only those that the roots and the wanted tensors need. The passes follow (passes.h).
void translate(Form& form);

// Forgets definitions that nothing reads any more.
void drop_unused(Form& form);

}  // namespace solstice::ir::normal
