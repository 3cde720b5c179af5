#include "propose/cut/spotlight.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace solstice::propose {
namespace {

// The number of a member of an ascending list.
int place_in(const std::vector<int>& list, int member) {
  return static_cast<int>(std::lower_bound(list.begin(), list.end(), member) - list.begin());
}

// Copies equations into a program of fewer tensors. What they share, their copies share.
class Renumbering {
 public:
  Renumbering(const ir::Program& whole, const Dataflow& flow, const std::vector<int>& equations)
      : whole_(whole), tensors_(tensors_of(flow, equations)) {}

  std::vector<ir::Tensor> tensors() const {
    std::vector<ir::Tensor> out;
    for (const int id : tensors_) {
      ir::Tensor& tensor = out.emplace_back(whole_.tensor(id));
      tensor.into = tensor.into < 0 ? -1 : place_in(tensors_, tensor.into);
      tensor.same = tensor.same < 0 ? -1 : place_in(tensors_, tensor.same);
      tensor.kernel = tensor.kernel < 0 ? -1 : 0;
    }
    return out;
  }

  ir::Equation equation(int id) {
    ir::Equation out = whole_.equation(id);
    out.target = place_in(tensors_, out.target);
    out.rhs = copy_of(out.rhs);
    return out;
  }

 private:
  std::vector<int> tensors_of(const Dataflow& flow, const std::vector<int>& equations) const {
    std::set<int> out;
    for (const int id : equations) {
      out.insert(whole_.equation(id).target);
      out.insert(flow.reads[static_cast<size_t>(id)].begin(), flow.reads[static_cast<size_t>(id)].end());
    }
    for (const int id : std::vector<int>(out.begin(), out.end())) {
      for (const int other : {whole_.tensor(id).into, whole_.tensor(id).same}) {
        if (other >= 0) out.insert(other);
      }
    }
    return {out.begin(), out.end()};
  }

  ir::ExprRef copy_of(const ir::ExprRef& e) {
    if (e->op != ir::Op::kRead && e->args.empty()) return e;
    const auto known = copies_.find(e.get());
    if (known != copies_.end()) return known->second;
    ir::Expr copy = *e;
    for (ir::ExprRef& arg : copy.args) arg = copy_of(arg);
    if (e->op == ir::Op::kRead) copy.id = place_in(tensors_, e->id);
    const bool same = copy.op != ir::Op::kRead && copy.args == e->args;
    return copies_.emplace(e.get(), same ? e : std::make_shared<const ir::Expr>(std::move(copy))).first->second;
  }

  const ir::Program& whole_;
  const std::vector<int> tensors_;  // ascending
  std::unordered_map<const ir::Expr*, ir::ExprRef> copies_;
};

}  // namespace

Spotlight::Spotlight(const ir::Program& program, const Dataflow& flow) : whole_(program), flow_(flow), shown_() {
  shown_.name = program.name;
  shown_.target = program.target;
  shown_.numerics = program.numerics;
  shown_.allow = program.allow;
  shown_.kernels.resize(1);
}

// The equations, others that write their tensors, and one reader elsewhere of each of these.
std::vector<int> Spotlight::equations_around(const std::vector<int>& own) const {
  const std::set<int> kernel(own.begin(), own.end());
  std::set<int> out = kernel;
  for (const int id : own) {
    const auto target = static_cast<size_t>(whole_.equation(id).target);
    out.insert(flow_.writers[target].begin(), flow_.writers[target].end());
    const std::vector<int>& readers = flow_.readers[target];
    const auto other = std::find_if(readers.begin(), readers.end(), [&](int r) { return !kernel.contains(r); });
    if (other != readers.end()) out.insert(*other);
  }
  return {out.begin(), out.end()};
}

void Spotlight::show(const std::vector<int>& equations) {
  const std::vector<int> around = equations_around(equations);
  Renumbering renumbering(whole_, flow_, around);
  shown_.equations.clear();
  for (const int id : around) shown_.equations.push_back(renumbering.equation(id));
  shown_.tensors = renumbering.tensors();
  ir::Kernel& kernel = shown_.kernels.front();
  kernel = {};
  kernel.name = "k";
  for (const int id : equations) kernel.equations.push_back(place_in(around, id));
}

}  // namespace solstice::propose
