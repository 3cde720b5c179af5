#include "property/mutate.h"

#include <algorithm>
#include <utility>

#include "lang/print.h"
#include "property/mutate_expr.h"

namespace solstice::lang::testing {
namespace {

template <typename T>
using Each = std::function<void(const std::string& kind, T changed)>;

class ItemMutator {
 public:
  explicit ItemMutator(const Tensors& tensors) : tensors_(tensors) {}

  void mutate(const Equation& e, const Each<Equation>& each) const {
    const auto put = [&](auto slot) {
      return [&e, &each, slot](const std::string& kind, ExprRef changed) {
        Equation copy = e;
        slot(copy) = std::move(changed);
        each(kind, copy);
      };
    };
    for (size_t i = 0; i < e.lhs.size(); ++i)
      testing::mutate(e.lhs[i], tensors_, put([i](Equation& c) -> ExprRef& { return c.lhs[i]; }));
    testing::mutate(e.rhs, tensors_, put([](Equation& c) -> ExprRef& { return c.rhs; }));
    for (size_t i = 0; i < e.ranges.size(); ++i) {
      testing::mutate(e.ranges[i].extent, tensors_, put([i](Equation& c) -> ExprRef& { return c.ranges[i].extent; }));
      Equation copy = e;
      copy.ranges.erase(copy.ranges.begin() + static_cast<std::ptrdiff_t>(i));
      each("dropped range", copy);
    }
    for (size_t i = 1; i < e.lhs.size(); ++i) {
      Equation copy = e;
      std::swap(copy.lhs[i - 1], copy.lhs[i]);
      each("order of indices", copy);
    }
  }

  void mutate(const Call& call, const Each<Call>& each) const {
    for (size_t a = 0; a < call.args.size(); ++a) {
      for (size_t i = 0; i < call.args[a].fixed.size(); ++i) {
        testing::mutate(call.args[a].fixed[i], tensors_, [&](const std::string& kind, ExprRef changed) {
          Call copy = call;
          copy.args[a].fixed[i] = std::move(changed);
          each(kind, copy);
        });
      }
      if (a == 0) continue;
      Call copy = call;
      std::swap(copy.args[a - 1], copy.args[a]);
      each("order of arguments", copy);
    }
    for (size_t s = 0; s < call.statics.size(); ++s) {
      testing::mutate(call.statics[s].second, tensors_, [&](const std::string& kind, ExprRef changed) {
        Call copy = call;
        copy.statics[s].second = std::move(changed);
        each(kind, copy);
      });
    }
  }

  void mutate(const Dims& dims, const Each<Dims>& each) const {
    for (size_t d = 0; d < dims.dims.size(); ++d) {
      if (dims.dims[d].value->kind == ExprKind::kInt) continue;
      testing::mutate(dims.dims[d].value, tensors_, [&](const std::string& kind, ExprRef changed) {
        Dims copy = dims;
        copy.dims[d].value = std::move(changed);
        each(kind, copy);
      });
    }
  }

  void mutate(const Fn& fn, const Each<Fn>& each) const {
    testing::mutate(fn.body, tensors_, [&](const std::string& kind, ExprRef changed) {
      each(kind, Fn{fn.name, fn.parameters, std::move(changed)});
    });
  }

 private:
  const Tensors& tensors_;
};

void add(Tensors& tensors, size_t rank, const std::string& name) {
  auto& names = tensors[rank];
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Tensors tensors_of(const std::vector<Item>& items, const std::vector<Formal>& formals) {
  Tensors out;
  for (const Formal& f : formals) add(out, f.type.extents.size(), f.name);
  const std::function<void(const std::vector<Item>&)> look = [&](const std::vector<Item>& list) {
    for (const Item& item : list) {
      if (const auto* d = std::get_if<Decl>(&item.node)) add(out, d->type.extents.size(), d->name);
      if (const auto* e = std::get_if<Equation>(&item.node)) add(out, e->lhs.size(), e->target);
      if (const auto* v = std::get_if<View>(&item.node)) add(out, v->equation.lhs.size(), v->equation.target);
      if (const auto* k = std::get_if<Kernel>(&item.node)) look(k->items);
    }
  };
  look(items);
  return out;
}

using EachItems = std::function<void(const std::string& kind, const std::string& line, std::vector<Item> changed)>;

void mutate(const std::vector<Item>& items, const Tensors& tensors, const EachItems& each);

// Blocks pass on the line that changed inside them.
template <typename Block>
void of_block(const Block& block, const Tensors& tensors,
              const std::function<void(const std::string&, const std::string&, Node)>& each) {
  mutate(block.items, tensors, [&](const std::string& kind, const std::string& line, std::vector<Item> changed) {
    Block copy = block;
    copy.items = std::move(changed);
    each(kind, line, std::move(copy));
  });
}

void mutate(const std::vector<Item>& items, const Tensors& tensors, const EachItems& each) {
  const ItemMutator mutator(tensors);
  for (size_t i = 0; i < items.size(); ++i) {
    const auto put = [&](const std::string& kind, const std::string& line, Node node) {
      std::vector<Item> copy = items;
      copy[i].node = std::move(node);
      each(kind, line, std::move(copy));
    };
    const auto simple = [&](const std::string& kind, Node node) {
      const std::string text = print(Item(node));
      put(kind, text.substr(0, text.size() - 1), std::move(node));
    };
    const Node& node = items[i].node;
    if (const auto* e = std::get_if<Equation>(&node)) mutator.mutate(*e, simple);
    if (const auto* v = std::get_if<View>(&node))
      mutator.mutate(v->equation, [&](const std::string& k, Equation e) { simple(k, View{e}); });
    if (const auto* a = std::get_if<Assume>(&node))
      mutator.mutate(a->equation, [&](const std::string& k, Equation e) { simple(k, Assume{e}); });
    if (const auto* c = std::get_if<Call>(&node)) mutator.mutate(*c, simple);
    if (const auto* d = std::get_if<Dims>(&node)) mutator.mutate(*d, simple);
    if (const auto* f = std::get_if<Fn>(&node)) mutator.mutate(*f, simple);
    if (const auto* k = std::get_if<Kernel>(&node)) of_block(*k, tensors, put);
    if (const auto* d = std::get_if<Def>(&node)) of_block(*d, tensors_of(d->items, d->formals), put);
  }
}

}  // namespace

void each_mutant(const Program& program, const EachMutant& each) {
  mutate(program.items, tensors_of(program.items, {}),
         [&](const std::string& kind, const std::string& line, std::vector<Item> changed) {
           Program copy = program;
           copy.items = std::move(changed);
           each(kind, line, copy);
         });
}

}  // namespace solstice::lang::testing
