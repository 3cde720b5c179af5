// Interned expressions: structurally equal trees are one node, so that equality is a pointer comparison and a value
// that occurs twice is computed once. All nodes that the code generators see come from one interner a kernel, with one
// table of indices.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace solstice::codegen {

class Interner {
 public:
  // A new index of this extent; the id is unique within the interner.
  int add_index(std::string name, int64_t extent);
  const ir::Index& index(int id) const { return indices_[static_cast<size_t>(id)]; }

  // The one node equal to `node`, whose args must be interned already.
  ir::ExprRef intern(ir::Expr node);
  // `root` with indices replaced. Binders that the map does not name get fresh ids, once per call; `extents` gives
  // their extents (the equation's index table). Root may be of another interner or of none.
  ir::ExprRef substitute(const ir::ExprRef& root, std::map<int, ir::ExprRef> map,
                         const std::vector<ir::Index>& extents);
  // The same for a node of this interner.
  ir::ExprRef substitute(const ir::ExprRef& root, const std::map<int, ir::ExprRef>& map);

  // The equation of the program that a node was first made for: what set_source() said then, -1 where nothing.
  int source_of(const ir::Expr& node) const;
  // Gives what was set before.
  int set_source(int equation) { return std::exchange(source_, equation); }

  size_t nodes() const { return nodes_.size(); }

  ir::ExprRef index_node(int id);
  ir::ExprRef integer(int64_t value);
  ir::ExprRef real(double value);
  ir::ExprRef node(ir::Op op, ir::ValueKind kind, std::vector<ir::ExprRef> args);

 private:
  struct Hash {
    size_t operator()(const ir::Expr* e) const;
  };
  struct Equal {
    bool operator()(const ir::Expr* a, const ir::Expr* b) const;
  };
  std::vector<ir::Index> indices_;
  struct Known {
    ir::ExprRef node;
    int source = -1;
  };
  std::unordered_map<const ir::Expr*, Known, Hash, Equal> nodes_;
  int source_ = -1;
};

// `root` depends on index `id` outside reductions that bind it.
bool depends_on(const ir::ExprRef& root, int id);

// The same for many questions about nodes that share parts: each node is looked at once. They outlive it.
class FreeIndices {
 public:
  bool depends_on(const ir::ExprRef& root, int id);

 private:
  const std::vector<int>& of(const ir::ExprRef& root);  // ascending

  std::unordered_map<const ir::Expr*, std::vector<int>> known_;
};

}  // namespace solstice::codegen
