#include "ir/bind/binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/bind.h"
#include "lang/parse.h"
#include "lang/prelude.h"

namespace solstice::ir {

void Binder::error(std::string_view code, Span span, std::string message, std::string hint) {
  diagnostics_.error(std::string(code), span, std::move(message), std::move(hint));
}

void Binder::warning(std::string_view code, Span span, std::string message, std::string hint) {
  diagnostics_.warning(std::string(code), span, std::move(message), std::move(hint));
}

void Binder::item(const lang::Item& it, Scope& scope) {
  if (const auto* c = std::get_if<lang::Clause>(&it.node)) return clause(*c, it.span, scope);
  if (const auto* d = std::get_if<lang::Dims>(&it.node)) return declare_dims(*d, scope);
  if (const auto* d = std::get_if<lang::Decl>(&it.node)) return declare(*d, it.span, scope);
  if (const auto* f = std::get_if<lang::Fn>(&it.node)) return declare_fn(*f, it.span, scope);
  if (const auto* o = std::get_if<lang::Opaque>(&it.node)) return declare_opaque(*o, it.span, scope);
  if (const auto* c = std::get_if<lang::Call>(&it.node)) return call(*c, it.span, scope);
  if (const auto* k = std::get_if<lang::Kernel>(&it.node)) return kernel(*k, it.span, scope);
  if (const auto* s = std::get_if<lang::Source>(&it.node)) return source(*s, it.span);
  if (const auto* a = std::get_if<lang::Assume>(&it.node)) return assume(a->equation, it.span, scope);
  if (const auto* d = std::get_if<lang::Def>(&it.node)) {
    const bool known = std::any_of(defs_.begin(), defs_.end(), [&](const auto& e) { return e.first == d->name; });
    if (known) error("E008", it.span, fmt::format("`{}` is defined twice", d->name), "choose another name");
    if (!known) name_is_free(d->name, scope, it.span);
    defs_.emplace_back(d->name, d);
  }
}

// A run of loose equations (with the views and declarations among them) is one block.
void Binder::items(const std::vector<lang::Item>& list, Scope& scope) {
  std::vector<const lang::Item*> run;
  if (!afford_items(list.size(), list.empty() ? Span() : list.front().span)) return;
  const auto flush = [&] {
    const bool any = std::any_of(run.begin(), run.end(), [](const lang::Item* i) {
      return std::holds_alternative<lang::Equation>(i->node) || std::holds_alternative<lang::View>(i->node);
    });
    if (any) {
      block(run, -1, scope);
    } else {
      for (const lang::Item* i : run) item(*i, scope);
    }
    run.clear();
  };
  for (const lang::Item& it : list) {
    if (spent_) return;
    const bool breaks = std::holds_alternative<lang::Kernel>(it.node) || std::holds_alternative<lang::Call>(it.node) ||
                        std::holds_alternative<lang::Opaque>(it.node);
    if (!breaks) {
      run.push_back(&it);
      continue;
    }
    flush();
    item(it, scope);
  }
  flush();
}

void Binder::kernel(const lang::Kernel& k, Span span, Scope& scope) {
  Kernel out;
  out.name = scope.instance.empty() ? k.name : scope.instance + "." + k.name;
  if (!kernel_names_.insert(out.name).second)
    error("E008", span, fmt::format("kernel `{}` is defined twice", out.name), "choose another name");
  out.family = k.family;
  out.once = k.once;
  out.instance = scope.instance;
  out.span = span;
  out.knobs = bind_knobs(k.knobs, scope);
  const auto changed = scope.overrides.find(k.name);
  if (changed != scope.overrides.end()) {
    // A knob that is given anew leaves what it was tied to.
    for (auto& [name, value] : bind_knobs(changed->second, scope).items) {
      const std::vector<std::string> names = tied_knobs(name);
      std::erase_if(out.knobs.items, [&](const auto& old) {
        const std::vector<std::string> given = tied_knobs(old.first);
        return std::find_first_of(given.begin(), given.end(), names.begin(), names.end()) != given.end();
      });
      out.knobs.items.emplace_back(name, std::move(value));
    }
  }
  const int id = static_cast<int>(program_.kernels.size());
  program_.kernels.push_back(std::move(out));
  Item entry;
  entry.kernel = id;
  program_.items.push_back(entry);
  if (!afford_items(k.items.size(), span)) return;
  std::vector<const lang::Item*> content;
  for (const lang::Item& it : k.items) content.push_back(&it);
  block(content, id, scope);
}

// Kernels that run only at load assume that weights do not change.
void Binder::check_frozen() {
  const auto allowed = std::find(program_.allow.begin(), program_.allow.end(), "frozen");
  for (const Kernel& kernel : program_.kernels) {
    if (!kernel.once || allowed != program_.allow.end()) continue;
    error("E015", kernel.span,
          fmt::format("kernel `{}` runs `once`, at load, and nothing says that weights do not change", kernel.name),
          "`allow frozen`; without `once` it runs in every call");
  }
}

std::optional<Program> Binder::run() {
  Scope top;
  for (const lang::Fn& fn : lang::prelude()) top.functions[{fn.name, fn.parameters.size()}] = &fn;
  program_.name = source_.name;
  check_version();
  items(source_.items, top);
  if (!spent_) check_unbound_defs();
  if (spent_) return std::nullopt;
  check_frozen();
  check_sources();
  check_cover();
  check_updates();
  if (!diagnostics_.has_errors()) check_sharing();
  return diagnostics_.has_errors() ? std::nullopt : std::optional(std::move(program_));
}

std::optional<Program> bind(const lang::Program& program, Diagnostics& diagnostics) {
  Diagnostics found;
  std::optional<Program> bound = Binder(program, found).run();
  found.sort();
  for (const Diagnostic& d : found.all()) {
    // A definition is bound once a call, and the parser may have said it already.
    const auto same = [&](const Diagnostic& o) {
      return o.code == d.code && o.span.begin == d.span.begin && o.span.end == d.span.end && d.span.end > 0;
    };
    if (std::none_of(diagnostics.all().begin(), diagnostics.all().end(), same)) diagnostics.add(d);
  }
  diagnostics.add_omitted(found.omitted());
  diagnostics.sort();
  return bound;
}

Result<Program> load_program(std::string_view text, std::string_view file, Diagnostics& diagnostics) {
  const lang::Program tree = lang::parse(text, diagnostics);
  const bool grammar = std::any_of(diagnostics.all().begin(), diagnostics.all().end(),
                                   [](const Diagnostic& d) { return d.code == "E000"; });
  if (!grammar) {
    std::optional<Program> program = bind(tree, diagnostics);
    if (program) return std::move(*program);
  }
  return refusal(diagnostics, text, file);
}

}  // namespace solstice::ir
