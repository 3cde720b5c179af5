// Items and programs to text: one item a line, a blank line around blocks.
#include "lang/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace solstice::lang {

namespace {

std::string tight(const ExprRef& e) { return print_tight(e); }

std::string tight_list(const std::vector<ExprRef>& expressions, std::string_view separator) {
  std::string out;
  for (const ExprRef& e : expressions) {
    if (!out.empty()) out += separator;
    out += tight(e);
  }
  return out;
}

template <typename T, typename F>
std::string joined(const std::vector<T>& list, F&& one) {
  std::string out;
  for (const T& entry : list) {
    if (!out.empty()) out += ", ";
    out += one(entry);
  }
  return out;
}

std::string type_text(const Type& t) { return fmt::format("{}[{}]", t.dtype, tight_list(t.extents, ", ")); }

std::string formal_text(const Formal& f) { return fmt::format("{} : {}", f.name, type_text(f.type)); }

std::string knob_text(const Knob& k) {
  if (k.names.empty()) return print(k.value);
  const std::string names = k.names.size() == 1 ? k.names[0] : fmt::format("({})", fmt::join(k.names, ", "));
  return fmt::format("{}={}", names, print(k.value));
}

std::string dim_text(const Dim& d) {
  std::string out = fmt::format("{} = {}", d.name, tight(d.value));
  if (d.low) out += fmt::format(" in {}..{}", tight(d.low), tight(d.high));
  if (d.step) out += fmt::format(" step {}", d.step);
  return out;
}

std::string equation_text(const Equation& e) {
  std::string out = fmt::format("{}[{}] = {}", e.target, tight_list(e.lhs, ","), print(e.rhs));
  if (!e.ranges.empty()) {
    out += " for " + joined(e.ranges, [](const Range& r) { return fmt::format("{} < {}", r.name, tight(r.extent)); });
  }
  return out;
}

std::string opaque_arg_text(const OpaqueArg& a) {
  const std::string value = a.string ? fmt::format("\"{}\"", *a.string) : print(a.expr);
  return a.keyword.empty() ? value : fmt::format("{}={}", a.keyword, value);
}

std::string call_arg_text(const CallArg& a) {
  return a.fixed.empty() ? a.tensor : fmt::format("{}[{}]", a.tensor, tight_list(a.fixed, ","));
}

class ItemPrinter {
 public:
  ItemPrinter(std::string indent, const std::string& after) : indent_(std::move(indent)), after_(after) {}

  std::string operator()(const Clause& c) const {
    static const char* const words[] = {"target", "numerics", "launch", "allow"};
    std::string out = fmt::format("{} {}", words[static_cast<int>(c.kind)], fmt::join(c.names, ", "));
    if (!c.knobs.empty()) out += fmt::format("({})", print(c.knobs));
    return line(out);
  }
  std::string operator()(const Dims& d) const { return line("dim " + joined(d.dims, dim_text)); }
  std::string operator()(const Decl& d) const;
  std::string operator()(const Fn& f) const {
    return line(fmt::format("fn {}({}) = {}", f.name, fmt::join(f.parameters, ", "), print(f.body)));
  }
  std::string operator()(const View& v) const { return line("view " + equation_text(v.equation)); }
  std::string operator()(const Assume& a) const { return line("assume " + equation_text(a.equation)); }
  std::string operator()(const Equation& e) const { return line(equation_text(e)); }
  std::string operator()(const Opaque& o) const {
    return line(
        fmt::format("opaque {} = \"{}\"({})", joined(o.results, formal_text), o.op, joined(o.args, opaque_arg_text)));
  }
  std::string operator()(const Call& c) const;
  // Nothing stands behind the marks on their lines.
  std::string operator()(const Source& s) const {
    const std::string comment = after_.empty() ? "" : indent_ + "# " + after_ + "\n";
    return fmt::format("{}{}source \"{}\" \"\"\"\n{}\"\"\"\n", comment, indent_, s.name, s.text);
  }
  std::string operator()(const Kernel& k) const {
    const std::string knobs = fmt::format("({})", print(k.knobs));
    return block(fmt::format("kernel {}{} by {}{}", k.name, k.once ? " once" : "", k.family, knobs), k.items, k.tail);
  }
  std::string operator()(const Def& d) const {
    std::string statics = joined(
        d.statics, [](const Static& s) { return s.value ? fmt::format("{}={}", s.name, tight(s.value)) : s.name; });
    if (!d.statics.empty()) statics = "[" + statics + "]";
    return block(fmt::format("def {}{}({}) -> {}", d.name, statics, joined(d.formals, formal_text),
                             joined(d.results, formal_text)),
                 d.items, d.tail);
  }

 private:
  std::string ended(std::string text) const {
    if (!after_.empty()) text += "  # " + after_;
    return indent_ + text + "\n";
  }
  std::string line(std::string text) const { return ended(std::move(text)); }
  std::string block(const std::string& header, const std::vector<Item>& items,
                    const std::vector<std::string>& tail) const;

  std::string indent_;
  const std::string& after_;
};

std::string comment_lines(const std::vector<std::string>& comments, const std::string& indent) {
  std::string out;
  for (const std::string& c : comments) out += indent + (c.empty() ? "#" : "# " + c) + "\n";
  return out;
}

bool is_block(const Item& item) {
  return std::holds_alternative<Kernel>(item.node) || std::holds_alternative<Def>(item.node) ||
         std::holds_alternative<Source>(item.node);
}

std::string item_text(const Item& item, const std::string& indent) {
  return comment_lines(item.before, indent) + std::visit(ItemPrinter(indent, item.after), item.node);
}

std::string items_text(const std::vector<Item>& items, const std::vector<std::string>& tail, const std::string& indent,
                       bool after_header) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    const bool apart = i > 0 ? is_block(items[i]) || is_block(items[i - 1]) : after_header && is_block(items[i]);
    if (apart) out += "\n";
    out += item_text(items[i], indent);
  }
  return out + comment_lines(tail, indent);
}

std::string ItemPrinter::block(const std::string& header, const std::vector<Item>& items,
                               const std::vector<std::string>& tail) const {
  return ended(header + " {") + items_text(items, tail, indent_ + "  ", false) + indent_ + "}\n";
}

std::string ItemPrinter::operator()(const Decl& d) const {
  static const char* const words[] = {"param", "buffer", "input", "output", "tensor", "random"};
  std::string out = fmt::format("{} {} : {}", words[static_cast<int>(d.kind)], d.name, type_text(d.type));
  if (d.path) out += fmt::format(" \"{}\"", *d.path);
  if (!d.order.empty()) out += fmt::format(" order({})", fmt::join(d.order, ", "));
  if (!d.strides.empty()) out += fmt::format(" strides({})", tight_list(d.strides, ", "));
  if (!d.same.empty()) out += " same " + d.same;
  if (!d.same_at.empty()) out += fmt::format("[{}]", tight_list(d.same_at, ","));
  if (!d.into.empty()) out += " into " + d.into;
  if (!d.distribution.empty()) {
    out += fmt::format(" from {}({})", d.distribution, tight_list(d.distribution_args, ", "));
  }
  return line(out);
}

std::string ItemPrinter::operator()(const Call& c) const {
  std::string out = fmt::format("{} = {}", fmt::join(c.results, ", "), c.def);
  if (!c.statics.empty()) {
    out += "[" + joined(c.statics, [](const auto& s) { return s.first + "=" + tight(s.second); }) + "]";
  }
  out += "(" + joined(c.args, call_arg_text) + ")";
  if (c.at) out += fmt::format(" at \"{}\"", *c.at);
  if (!c.overrides.empty()) {
    out += " with " +
           joined(c.overrides, [](const Override& o) { return fmt::format("{}({})", o.kernel, print(o.knobs)); });
  }
  return line(out);
}

}  // namespace

std::string print(const KnobValue& v) {
  switch (v.kind) {
    case KnobValue::Kind::kSize:
      return fmt::format("{}", fmt::join(v.sizes, "x"));
    case KnobValue::Kind::kString:
      return fmt::format("\"{}\"", v.text);
    case KnobValue::Kind::kExpr:
      return tight(v.expr);
    case KnobValue::Kind::kTuple:
      return "(" + joined(v.items, [](const KnobValue& i) { return print(i); }) + ")";
    case KnobValue::Kind::kSet:
      return "{" + joined(v.items, [](const KnobValue& i) { return print(i); }) + "}";
    case KnobValue::Kind::kStruct:
      return v.text + "(" + print(v.members) + ")";
  }
  return "";
}

std::string print(const std::vector<Knob>& knobs) { return joined(knobs, knob_text); }

std::string print(const Item& item) { return item_text(item, ""); }

std::string print(const Program& p) {
  std::string out = comment_lines(p.before, "");
  if (p.version) out += fmt::format("ucut {}\n", p.version);
  out += "program " + p.name;
  if (!p.after.empty()) out += "  # " + p.after;
  return out + "\n" + items_text(p.items, p.tail, "", true);
}

}  // namespace solstice::lang
