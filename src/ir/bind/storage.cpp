// Storage and draws of tensors: layouts, shared storage, new values of buffers, distributions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "ir/bind/binder.h"

namespace solstice::ir {
namespace {

// Distributions by the number of their arguments; PyTorch draws them.
struct Distribution {
  std::string_view name;
  size_t arguments;
};
constexpr Distribution kDistributions[] = {
    {"bernoulli", 1}, {"uniform", 2}, {"normal", 2}, {"randint", 2}, {"exponential", 1}};

bool fits(const Tensor& part, const Tensor& base, const std::vector<int64_t>& at) {
  int64_t last = part.same_offset;
  for (size_t d = 0; d < part.shape.size(); ++d) last += (part.shape[d] - 1) * part.strides[d];
  int64_t most = 0;
  for (size_t d = 0; d < base.shape.size(); ++d) most += (base.shape[d] - 1) * base.strides[d];
  bool out = last <= most;
  for (size_t d = 0; d < at.size(); ++d) {
    const int64_t extent = part.shape.size() == base.shape.size() ? part.shape[d] : 1;
    out = out && at[d] >= 0 && at[d] + extent <= base.shape[d];
  }
  return out;
}

}  // namespace

int Binder::existing(const std::string& name, Span span, const Scope& scope) {
  const auto found = scope.symbols.find(name);
  if (found != scope.symbols.end() && found->second.tensor >= 0) return found->second.tensor;
  if (lost_.count(name)) return -1;
  error("E008", span, fmt::format("unknown tensor `{}`", name), "declare it before the tensor that refers to it");
  return -1;
}

void Binder::declare_storage(const lang::Decl& d, Tensor& t, Span span, Scope& scope) {
  declare_layout(d, t, span, scope);
  if (!d.into.empty()) {
    t.into = existing(d.into, span, scope);
    const Tensor* buffer = t.into >= 0 ? &program_.tensor(t.into) : nullptr;
    if (buffer && (buffer->kind != TensorKind::kBuffer || buffer->shape != t.shape)) {
      error("E022", span, fmt::format("`{}` cannot become the new value of `{}`", d.name, d.into),
            "`into` names a buffer of the same shape");
    }
  }
  if (!d.same.empty()) declare_shared(d, t, span, scope);
  declare_draw(d, t, span, scope);
}

void Binder::declare_layout(const lang::Decl& d, Tensor& t, Span span, const Scope& scope) {
  const size_t rank = t.shape.size();
  if (!d.order.empty()) {
    std::vector<int64_t> sorted = d.order;
    std::sort(sorted.begin(), sorted.end());
    bool permutation = sorted.size() == rank;
    for (size_t i = 0; i < sorted.size(); ++i) permutation = permutation && sorted[i] == static_cast<int64_t>(i);
    if (!permutation) {
      error("E022", span, fmt::format("`order` of `{}` is not a permutation of its {} dimensions", d.name, rank),
            "list every dimension's number once, outermost first: `order(0, 2, 3, 1)`");
    } else {
      int64_t stride = 1;
      for (size_t i = rank; i-- > 0;) {
        t.strides[static_cast<size_t>(d.order[i])] = stride;
        stride *= t.shape[static_cast<size_t>(d.order[i])];
      }
    }
  }
  if (!d.strides.empty()) {
    if (d.strides.size() != rank) {
      error("E022", span, fmt::format("`{}` has {} dimensions but {} strides", d.name, rank, d.strides.size()),
            "one stride a dimension");
    }
    for (size_t i = 0; i < std::min(rank, d.strides.size()); ++i)
      t.strides[i] = value_of(d.strides[i], scope).value_or(1);
    check_strides(t, span);
  }
}

// `same base[at]`: the tensor lies inside the other's storage, which is not the caller's to overwrite.
void Binder::declare_shared(const lang::Decl& d, Tensor& t, Span span, const Scope& scope) {
  t.same = existing(d.same, span, scope);
  if (t.same < 0 || states_[static_cast<size_t>(t.same)].poisoned) return;
  const Tensor& base = program_.tensor(t.same);
  if (d.same_at.size() > base.shape.size()) {
    error("E006", span, fmt::format("`{}` has rank {} but {} indices", d.same, base.shape.size(), d.same_at.size()),
          "at most one index a dimension");
    return;
  }
  std::vector<int64_t> at;
  for (const lang::ExprRef& e : d.same_at) {
    at.push_back(value_of(e, scope).value_or(0));
    t.same_offset += at.back() * base.strides[at.size() - 1];
  }
  if (!at.empty() && base.strides.size() == t.shape.size()) t.strides = base.strides;
  if (t.dtype != base.dtype) {
    error("E022", span, fmt::format("`{}` and `{}` share storage but not a dtype", d.name, d.same),
          "storage has one dtype");
  } else if (!fits(t, base, at)) {
    error("E022", span, fmt::format("`{}` does not lie inside `{}`", d.name, d.same),
          fmt::format("`{}` has the shape {}", d.same, fmt::join(base.shape, "x")));
  } else if (t.kind == TensorKind::kTensor && base.kind != TensorKind::kTensor && base.kind != TensorKind::kOutput) {
    error("E014", span, fmt::format("`{}` is stored in `{}`, which cannot be written", d.name, d.same),
          "a tensor shares storage with an output or another tensor");
  }
}

// `random` tensors say how they are drawn; no others do.
void Binder::declare_draw(const lang::Decl& d, Tensor& t, Span span, const Scope& scope) {
  const bool drawn = d.kind == lang::DeclKind::kRandom;
  if (drawn != !d.distribution.empty()) {
    error("E022", span,
          drawn ? fmt::format("`random {}` has no distribution", d.name) : fmt::format("`{}` is not drawn", d.name),
          "`random keep : bool[M] from bernoulli(0.9)`");
    return;
  }
  t.distribution = d.distribution;
  for (const lang::ExprRef& e : d.distribution_args) {
    const lang::ExprRef& magnitude = e->kind == lang::ExprKind::kNeg ? e->args[0] : e;
    const double sign = e->kind == lang::ExprKind::kNeg ? -1 : 1;
    const bool number = magnitude->kind == lang::ExprKind::kNumber;
    t.distribution_args.push_back(number ? sign * std::strtod(magnitude->text.c_str(), nullptr)
                                         : static_cast<double>(value_of(e, scope).value_or(0)));
  }
  const bool known = std::any_of(std::begin(kDistributions), std::end(kDistributions), [&](const Distribution& k) {
    return k.name == d.distribution && k.arguments == d.distribution_args.size();
  });
  if (drawn && known) check_draw(t, span);
  if (!drawn || known) return;
  std::string all;
  for (const Distribution& k : kDistributions)
    all += fmt::format("{}`{}` of {}", all.empty() ? "" : ", ", k.name, k.arguments);
  error("E022", span, fmt::format("no distribution `{}` of {} arguments", d.distribution, d.distribution_args.size()),
        all);
}

// Draws that PyTorch would refuse.
void Binder::check_draw(const Tensor& t, Span span) {
  const std::vector<double>& a = t.distribution_args;
  const auto refuse = [&](std::string what, std::string hint) {
    error("E022", span, std::move(what), std::move(hint));
  };
  const bool whole = t.distribution == "bernoulli" || t.distribution == "randint";
  if (!whole && t.value != ValueKind::kReal) {
    return refuse(fmt::format("`{}` is {} but `{}` draws reals", t.name, name_of(*t.dtype), t.distribution),
                  "declare it f32, or of another float format");
  }
  const std::string given = fmt::format("`{}({})`", t.distribution, fmt::join(a, ", "));
  if (t.distribution == "bernoulli" && !(a[0] >= 0 && a[0] <= 1))
    return refuse(given + " has no such probability", "0 to 1, as in `bernoulli(0.9)`");
  if (t.distribution == "uniform" && !(a[0] <= a[1]))
    return refuse(given + " is of no interval", "`uniform(low, high)`: the lower bound first");
  if (t.distribution == "randint" && !(a[0] < a[1]))
    return refuse(given + " has no integer to draw", "`randint(low, high)` draws low..high-1");
  if (t.distribution == "normal" && !(a[1] >= 0))
    return refuse(given + " has a negative deviation", "`normal(mean, std)`: std is 0 or more");
  if (t.distribution == "exponential" && !(a[0] > 0)) return refuse(given + " has no such rate", "a rate is above 0");
}

// A buffer, which several instances may own under one path, gets one new value, and none where its contents are
// assumed.
void Binder::check_updates() {
  const auto storage = [&](int buffer) {
    const Tensor& t = program_.tensor(buffer);
    return t.path.empty() ? t.name : t.path;
  };
  std::map<std::string, const Tensor*> updates;
  for (const Tensor& t : program_.tensors) {
    if (t.into < 0) continue;
    const auto [first, fresh] = updates.emplace(storage(t.into), &t);
    if (fresh) continue;
    error("E022", t.span,
          fmt::format("`{}` and `{}` both become the new value of `{}`", first->second->name, t.name, first->first),
          "a buffer is stored once, when the program ends");
  }
  for (const Equation& e : program_.assumptions) {
    const auto update = updates.find(storage(e.target));
    if (update == updates.end()) continue;
    error("E022", e.span,
          fmt::format("`assume` speaks of `{}`, which `{}` replaces", program_.tensor(e.target).name,
                      update->second->name),
          "only a buffer that nothing writes can be assumed");
  }
}

}  // namespace solstice::ir
