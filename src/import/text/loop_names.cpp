#include "import/text/loop_names.h"

namespace solstice::importer {

void LoopNames::name_left(const std::vector<Index>& indices) {
  std::set<int> seen;
  for (const Index& index : indices) {
    for (const IndexTerm& part : index.terms) {
      const Atom& atom = *part.atom;
      if (atom.kind == AtomKind::kLoop && seen.insert(atom.loop.id).second) left_.push_back(atom.loop);
    }
  }
  for (const bool hinted : {true, false}) {  // hints come first, or a dim's usual letter takes theirs
    for (const Loop& loop : left_) {
      if (loop.hint.empty() != hinted) choose(loop, {});
    }
  }
}

LoopNames::Scope LoopNames::enter(const Term& reducer) {
  const Scope outer{used_, binders_};
  // Names under this reducer that its binders may not hide.
  std::map<int, Loop> inside;
  for (const TermRef& arg : reducer.args) collect_loops(arg, inside);
  std::set<std::string> occupied;
  for (const auto& [id, loop] : inside) {
    if (chosen_.count(id)) occupied.insert(chosen_.at(id));
  }
  // A left index that does not occur inside may be shadowed; names of enclosing reducers may not.
  for (const Loop& loop : left_) {
    if (!occupied.count(of(loop.id))) used_.erase(of(loop.id));
  }
  used_.insert(binders_.begin(), binders_.end());
  for (const Loop& binder : reducer.binders) {
    choose(binder, occupied);
    binders_.insert(of(binder.id));
  }
  return outer;
}

void LoopNames::leave(const Scope& outer) {
  used_ = outer.used;
  binders_ = outer.binders;
}

// `inside`: names that this loop may not take because they occur in its scope.
void LoopNames::choose(const Loop& loop, const std::set<std::string>& inside) {
  std::vector<std::string> wishes;
  if (!loop.hint.empty()) wishes.push_back(loop.hint);
  const DimId dim = dims_.find(loop.dim);
  const auto usual = names_.indices.find(dim);
  if (usual != names_.indices.end()) wishes.insert(wishes.end(), usual->second.begin(), usual->second.end());
  for (const char* letter : {"i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v"}) {
    wishes.push_back(letter);
  }
  for (int n = 1;; ++n) {
    for (const std::string& wish : wishes) {
      const std::string name = n == 1 ? wish : wish + std::to_string(n);
      const bool free = !names_.taken.count(name) && !inside.count(name) && !used_.count(name);
      if (!free) continue;
      chosen_[loop.id] = name;
      used_.insert(name);
      return;
    }
  }
}

}  // namespace solstice::importer
