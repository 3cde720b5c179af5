#include "evaluate/computes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "families/conv/convolution.h"
#include "ir/count.h"
#include "sol/fusion.h"
#include "sol/rates.h"

namespace solstice::evaluate {
namespace {

using Words = std::vector<std::string>;

bool has_word(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void add_once(Words& words, std::string word) {
  if (!has_word(words, word)) words.push_back(std::move(word));
}

// The last part of "instance.name".
std::string own_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

const lang::Kernel* kernel_in(const std::vector<lang::Item>& items, const std::string& name) {
  for (const lang::Item& item : items) {
    if (const auto* kernel = std::get_if<lang::Kernel>(&item.node); kernel && kernel->name == name) return kernel;
    const auto* def = std::get_if<lang::Def>(&item.node);
    if (const lang::Kernel* inner = def ? kernel_in(def->items, name) : nullptr) return inner;
  }
  return nullptr;
}

bool reads_any(const lang::ExprRef& e) {
  return e && (e->kind == lang::ExprKind::kRead || std::any_of(e->args.begin(), e->args.end(), reads_any));
}

void add_functions(const lang::ExprRef& e, Words& out) {
  if (!e) return;
  if (e->kind == lang::ExprKind::kApply && reads_any(e)) add_once(out, e->text);
  for (const lang::ExprRef& arg : e->args) add_functions(arg, out);
}

// Functions that the kernel applies, in text order; casts and selections are none.
Words functions_of(const lang::Program& tree, const ir::Kernel& kernel) {
  Words out;
  const lang::Kernel* written = kernel_in(tree.items, own_name(kernel.name));
  for (const lang::Item& item : written ? written->items : std::vector<lang::Item>()) {
    if (const auto* equation = std::get_if<lang::Equation>(&item.node)) add_functions(equation->rhs, out);
  }
  std::erase_if(out, [](const std::string& name) {
    return dtype_from_name(name).has_value() || name == "where" || name == "max" || name == "min" || name == "select";
  });
  return out;
}

const ir::Expr* first_reduction(const ir::Equation& equation) {
  const ir::Expr* found = nullptr;
  ir::walk(equation.rhs, [&](const ir::Expr& node) {
    if (!found && node.op == ir::Op::kReduce) found = &node;
  });
  return found;
}

int64_t extent_of(const ir::Equation& equation, int index) {
  return equation.indices[static_cast<size_t>(index)].extent;
}

int64_t points_of(const ir::Equation& equation, const std::vector<int>& indices) {
  int64_t out = 1;
  for (const int index : indices) out *= extent_of(equation, index);
  return out;
}

std::set<int> indices_in(const ir::ExprRef& e) {
  std::set<int> out;
  ir::walk(e, [&](const ir::Expr& node) {
    if (node.op == ir::Op::kIndex) out.insert(node.id);
  });
  return out;
}

// Rows, columns and depth of a sum over a product of two reads, with the number of such products.
std::string product_text(const ir::Equation& equation, const ir::Expr& sum) {
  std::vector<std::set<int>> factors;
  ir::walk(sum.args.front(), [&](const ir::Expr& node) {
    if (node.op != ir::Op::kRead) return;
    std::set<int>& used = factors.emplace_back();
    for (const ir::ExprRef& arg : node.args) used.merge(indices_in(arg));
  });
  int64_t batch = 1, left = 1, right = 1;
  for (const int index : equation.free) {
    const bool in_left = !factors.empty() && factors.front().contains(index);
    const bool in_right = factors.size() > 1 && factors[1].contains(index);
    (in_left && in_right ? batch : in_right ? right : left) *= extent_of(equation, index);
  }
  const std::string size = fmt::format("{}x{}x{}", left, right, points_of(equation, sum.binders));
  return fmt::format("product {}{}", size, batch > 1 ? fmt::format(", batch of {}", batch) : "");
}

std::string convolution_text(const ir::Program& program, const families::conv::Convolution& conv) {
  const ir::Tensor& filter = program.tensor(conv.filter);
  const size_t rank = std::min(static_cast<size_t>(conv.rank), filter.shape.size());
  const std::vector<int64_t> window(filter.shape.end() - static_cast<std::ptrdiff_t>(rank), filter.shape.end());
  const bool depthwise = conv.groups > 1 && conv.groups == conv.channels;
  return fmt::format("{}{}convolution {}, {} to {} channels", depthwise ? "depthwise " : "",
                     conv.transposed ? "transposed " : "", fmt::join(window, "x"), conv.channels, conv.filters);
}

// The reductions of a kernel that are no contractions.
struct RowWork {
  Words reducers;
  std::string over;  // of the first: "rows of 4096", "windows of 3x3"
  void add(const ir::Equation& equation, const ir::Expr& reduction);
};

void RowWork::add(const ir::Equation& equation, const ir::Expr& reduction) {
  const bool prefix = reduction.op == ir::Op::kReduce && reduction.args.size() > 1;
  add_once(reducers, (prefix ? "running " : "") + std::string(ir::name_of(reduction.reducer)));
  if (!over.empty()) return;
  if (!sol::reads_windows(equation)) {
    over = fmt::format("rows of {}", points_of(equation, reduction.binders));
    return;
  }
  std::vector<int64_t> window;
  for (const int index : reduction.binders) window.push_back(extent_of(equation, index));
  over = fmt::format("windows of {}", fmt::join(window, "x"));
}

// A softmax and a normalisation take several reductions and functions, which it has a name for.
std::string row_text(const RowWork& work, Words& functions) {
  if (work.reducers.empty()) return "";
  const bool exponential = has_word(functions, "exp") && has_word(work.reducers, "sum");
  const bool scaled = has_word(functions, "rsqrt") || has_word(functions, "sqrt");
  const auto drop = [&](const Words& used) {
    std::erase_if(functions, [&](const std::string& name) { return has_word(used, name); });
  };
  if (exponential && has_word(work.reducers, "max")) {
    const bool logs = has_word(functions, "log");
    drop({"exp", "log"});
    return (logs ? "log softmax over " : "softmax over ") + work.over;
  }
  if (scaled && (has_word(work.reducers, "var") || has_word(work.reducers, "mean"))) {
    drop({"rsqrt", "sqrt"});
    return "normalisation over " + work.over;
  }
  return fmt::format("{} over {}", fmt::join(work.reducers, ", "), work.over);
}

// An addend of a contraction that has fewer indices than its result.
bool adds_bias(const ir::Equation& equation) {
  if (equation.rhs->op != ir::Op::kAdd) return false;
  return std::any_of(equation.rhs->args.begin(), equation.rhs->args.end(), [&](const ir::ExprRef& arg) {
    return arg->op == ir::Op::kRead && indices_in(arg).size() < equation.free.size();
  });
}

bool gathers(const ir::Equation& equation) {
  bool found = false;
  ir::walk(equation.rhs, [&](const ir::Expr& node) {
    if (node.op != ir::Op::kRead) return;
    for (const ir::ExprRef& index : node.args)
      ir::walk(index, [&](const ir::Expr& inner) { found = found || inner.op == ir::Op::kRead; });
  });
  return found;
}

bool ranks(const ir::Equation& equation) {
  bool found = false;
  ir::walk(equation.rhs, [&](const ir::Expr& node) { found = found || node.op == ir::Op::kRank; });
  return found;
}

}  // namespace

EquationKinds kinds_of(const ir::Program& program, const machine::Machine& machine) {
  const ir::Count count = ir::count(program);
  EquationKinds out;
  for (const ir::EquationCount& each : count.equations) {
    if (each.work.contraction > 0) out.contractions.insert(each.equation);
  }
  for (const sol::FusedKernel& fused : sol::fuse(program, count, machine.shared_per_block * machine.max_cluster)) {
    if (fused.kind != sol::KernelKind::kAttention) continue;
    for (const size_t i : fused.equations) out.attention.insert(count.equations[i].equation);
  }
  return out;
}

std::string computes(const ir::Program& program, const ir::Kernel& kernel, const lang::Program& tree,
                     const EquationKinds& kinds) {
  const auto conv = families::conv::find_convolution(program, kernel);
  Words parts, functions = functions_of(tree, kernel);
  RowWork rows;
  for (const int id : kernel.equations) {
    const ir::Equation& equation = program.equation(id);
    const ir::Expr* reduction = first_reduction(equation);
    if (equation.group >= 0 && equation.step_index >= 0)
      add_once(parts, fmt::format("recurrence of {} steps", extent_of(equation, equation.step_index)));
    if (ranks(equation)) add_once(parts, "ranking");
    if (reduction && conv && conv->equation == id) {
      add_once(parts, convolution_text(program, *conv));
    } else if (reduction && kinds.contractions.contains(id)) {
      add_once(parts, product_text(equation, *reduction));
    } else if (reduction) {
      rows.add(equation, *reduction);
    }
    if (reduction && kinds.contractions.contains(id) && adds_bias(equation)) add_once(parts, "bias");
    if (gathers(equation)) add_once(parts, "gather");
  }
  if (std::string text = row_text(rows, functions); !text.empty()) parts.push_back(std::move(text));
  if (parts.empty()) parts.emplace_back("elementwise");
  constexpr size_t kMost = 4;
  if (functions.size() > kMost) functions.resize(kMost);
  parts.insert(parts.end(), functions.begin(), functions.end());
  return fmt::format("{}{}", kernel.once ? "at load: " : "", fmt::join(parts, " + "));
}

std::string missing_family(const ir::Program& program, const ir::Kernel& kernel, const EquationKinds& kinds) {
  const auto any = [&](auto&& holds) { return std::any_of(kernel.equations.begin(), kernel.equations.end(), holds); };
  const bool recurs = any([&](int id) { return program.equation(id).group >= 0 && kinds.contractions.contains(id); });
  if (recurs && kernel.family != "recurrent") return "recurrence";
  const auto conv = families::conv::find_convolution(program, kernel);
  const bool slides = conv && (conv->transposed || sol::reads_windows(program.equation(conv->equation)));
  if (slides && kernel.family != "conv") return "convolution";
  const bool attends = any([&](int id) { return kinds.attention.contains(id); });
  if (attends && kernel.family != "attention") return "attention";
  if (any([&](int id) { return ranks(program.equation(id)); })) return "ranking";
  const bool multiplies = any([&](int id) { return kinds.contractions.contains(id); });
  static const std::set<std::string> kPlain = {"map", "rows", "reduce", "scan"};
  return multiplies && kPlain.contains(kernel.family) ? "product" : "";
}

}  // namespace solstice::evaluate
