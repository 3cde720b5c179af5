#include "flow/run/problem/unscheduled.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace solstice::flow {
namespace {

using Names = std::map<std::string, std::string>;  // of tensors: the new one by the old one

lang::ExprRef renamed(const lang::ExprRef& root, const Names& names) {
  if (!root) return root;
  auto out = std::make_shared<lang::Expr>(*root);
  if (const auto found = names.find(root->text); root->kind == lang::ExprKind::kRead && found != names.end())
    out->text = found->second;
  for (lang::ExprRef& arg : out->args) arg = renamed(arg, names);
  out->otherwise = renamed(root->otherwise, names);
  out->where = renamed(root->where, names);
  return out;
}

void rename(std::string& name, const Names& names) {
  if (const auto found = names.find(name); found != names.end()) name = found->second;
}

void rename(lang::Equation& equation, const Names& names) {
  rename(equation.target, names);
  for (lang::ExprRef& index : equation.lhs) index = renamed(index, names);
  equation.rhs = renamed(equation.rhs, names);
}

void rename(lang::Item& item, const Names& names) {
  if (auto* equation = std::get_if<lang::Equation>(&item.node)) rename(*equation, names);
  if (auto* view = std::get_if<lang::View>(&item.node)) rename(view->equation, names);
  if (auto* decl = std::get_if<lang::Decl>(&item.node)) rename(decl->name, names);
}

// The name that an item gives to a tensor; "": none.
std::string named_by(const lang::Item& item) {
  if (const auto* equation = std::get_if<lang::Equation>(&item.node)) return equation->target;
  if (const auto* view = std::get_if<lang::View>(&item.node)) return view->equation.target;
  if (const auto* decl = std::get_if<lang::Decl>(&item.node)) return decl->name;
  return "";
}

// One scope with kernels: the program, or a definition.
class Scope {
 public:
  explicit Scope(std::vector<lang::Item>& items) : items_(items) {
    for (const lang::Item& item : items_) {
      const std::string name = named_by(item);
      if (!name.empty()) taken_.insert(name);
      if (std::holds_alternative<lang::Decl>(item.node)) declared_.insert(name);
      if (const auto* dims = std::get_if<lang::Dims>(&item.node)) {
        for (const lang::Dim& dim : dims->dims) taken_.insert(dim.name);
      }
    }
  }

  void declare(const std::string& name) {
    taken_.insert(name);
    declared_.insert(name);
  }

  std::vector<lang::Item> loose() {
    std::vector<lang::Item> out;
    for (lang::Item& item : items_) {
      if (std::holds_alternative<lang::Source>(item.node)) continue;
      if (auto* call = std::get_if<lang::Call>(&item.node)) call->overrides.clear();
      auto* const kernel = std::get_if<lang::Kernel>(&item.node);
      if (!kernel) {
        out.push_back(std::move(item));
        continue;
      }
      const Names names = names_for(*kernel);
      if (!kernel->items.empty())
        kernel->items[0].before.insert(kernel->items[0].before.begin(), item.before.begin(), item.before.end());
      for (lang::Item& inner : kernel->items) {
        rename(inner, names);
        out.push_back(std::move(inner));
      }
    }
    return out;
  }

 private:
  Names names_for(const lang::Kernel& kernel) {
    std::set<std::string> locals;
    for (const lang::Item& item : kernel.items) {
      const std::string name = named_by(item);
      if (!name.empty() && !declared_.contains(name)) locals.insert(name);
    }
    Names out;
    for (const std::string& local : locals) {
      std::string name = local;
      while (!taken_.insert(name).second) name = kernel.name + "_" + name;
      if (name != local) out[local] = name;
    }
    return out;
  }

  std::vector<lang::Item>& items_;
  std::set<std::string> taken_, declared_;
};

}  // namespace

lang::Program unscheduled(lang::Program program) {
  for (lang::Item& item : program.items) {
    auto* const def = std::get_if<lang::Def>(&item.node);
    if (!def) continue;
    Scope scope(def->items);
    for (const auto* formals : {&def->formals, &def->results}) {
      for (const lang::Formal& formal : *formals) scope.declare(formal.name);
    }
    def->items = scope.loose();
  }
  program.items = Scope(program.items).loose();
  return program;
}

}  // namespace solstice::flow
