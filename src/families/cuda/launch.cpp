#include "families/cuda/launch.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

#include "codegen/flatten.h"
#include "codegen/materialised.h"
#include "families/cuda/descriptor.h"

namespace solstice::families::cuda {
namespace {

using Kind = ir::KnobValue::Kind;
using Rules = std::vector<Rule<CudaLaunch>>;

constexpr int64_t kMostThreads = 1024, kMostDeep = 64;  // of a block; of its third extent
constexpr int64_t kMostCluster = 8;                     // blocks that every GPU of the kind takes
constexpr int64_t kMostGridX = std::numeric_limits<int32_t>::max(), kMostGridYZ = 65535;

std::vector<ir::KnobValue> items_of(const ir::KnobValue* value) {
  if (!value) return {};
  return value->kind == Kind::kTuple ? value->items : std::vector<ir::KnobValue>{*value};
}

Extents extents_of(const ir::Knobs& knobs, std::string_view name) {
  Extents out;
  const ir::KnobValue* const value = knobs.find(name);
  if (!value || value->is_auto()) return out;
  out.given = true;
  out.values.clear();
  for (const ir::KnobValue& item : items_of(value)) {
    out.integers = out.integers && item.kind == Kind::kInt;
    out.values.push_back(item.integer);
  }
  return out;
}

std::string text_of(const Extents& e) {
  return e.values.size() == 1 ? std::to_string(e.values[0]) : fmt::format("({})", fmt::join(e.values, ", "));
}

bool is_box(const Extents& e) {
  return e.integers && e.values.size() <= 3 &&
         std::all_of(e.values.begin(), e.values.end(), [](int64_t v) { return v > 0; });
}

int64_t most_of_grid(size_t dimension) { return dimension == 0 ? kMostGridX : kMostGridYZ; }

bool fits_grid(const Extents& e) {
  if (!is_box(e)) return false;
  for (size_t d = 0; d < e.values.size(); ++d) {
    if (e.values[d] > most_of_grid(d)) return false;
  }
  return true;
}

bool fits_block(const Extents& e) {
  return is_box(e) && e.count() <= kMostThreads && (e.values.size() < 3 || e.values[2] <= kMostDeep);
}

bool divides_grid(const CudaLaunch& c) {
  for (size_t d = 0; d < c.cluster.values.size(); ++d) {
    const int64_t blocks = d < c.grid.values.size() ? c.grid.values[d] : 1;
    if (blocks % c.cluster.values[d] != 0) return false;
  }
  return true;
}

void clamp(Extents& e, int64_t (*most)(size_t)) {
  if (e.values.size() > 3) e.values.resize(3);
  for (size_t d = 0; d < e.values.size(); ++d) e.values[d] = std::clamp<int64_t>(e.values[d], 1, most(d));
  e.integers = true;
}

// An argument that is a tensor in sight, or a number.
bool is_known(const ir::KnobValue& arg) { return arg.tensor >= 0 || arg.kind == Kind::kInt; }

const ir::KnobValue* unknown_arg(const CudaLaunch& c) {
  const auto found =
      std::find_if(c.args.begin(), c.args.end(), [](const ir::KnobValue& arg) { return !is_known(arg); });
  return found == c.args.end() ? nullptr : &*found;
}

const ir::KnobValue* extra_arg(const CudaLaunch& c) {
  const auto found = std::find_if(c.args.begin(), c.args.end(), [&](const ir::KnobValue& arg) {
    return arg.tensor >= 0 && !c.allowed.count(arg.tensor);
  });
  return found == c.args.end() ? nullptr : &*found;
}

const ir::KnobValue* second_arg(const CudaLaunch& c) {
  for (auto arg = c.args.begin(); arg != c.args.end(); ++arg) {
    const bool again = arg->tensor >= 0 &&
                       std::any_of(c.args.begin(), arg, [&](const auto& other) { return other.text == arg->text; });
    if (again) return &*arg;
  }
  return nullptr;
}

std::vector<int> missing_args(const CudaLaunch& c) {
  std::vector<int> out;
  for (const int id : c.needed) {
    if (std::none_of(c.args.begin(), c.args.end(), [&](const ir::KnobValue& arg) { return arg.tensor == id; }))
      out.push_back(id);
  }
  return out;
}

// The tensor's name in the kernel's scope.
std::string name_in(const CudaLaunch& c, int tensor) { return c.context->program.tensor(tensor).name; }

void drop(CudaLaunch& c, const ir::KnobValue* arg) {
  if (arg) c.args.erase(c.args.begin() + (arg - c.args.data()));
}

bool is_identifier(const std::string& name) {
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), fits);
}

std::string sources_in(const ir::Program& program) {
  std::vector<std::string> names;
  for (const ir::Source& source : program.sources) names.push_back(fmt::format("`{}`", source.name));
  return names.empty() ? "the program holds none" : fmt::format("the program holds {}", fmt::join(names, ", "));
}

void add_code_rules(Rules& out) {
  out.push_back({"cuda.source", "E119", Severity::kError,
                 "device code is a `source` item of the program, or a file beside the program, named by its path below "
                 "that folder",
                 [](const CudaLaunch& c) { return !c.source.empty() && !c.context->program.find_source(c.source); },
                 [](const CudaLaunch& c) {
                   return fmt::format("there is no source `{}`: {}", c.source, sources_in(c.context->program));
                 }});
  out.push_back({"cuda.entry", "E119", Severity::kError, "an entry is the name of an `extern \"C\"` kernel",
                 [](const CudaLaunch& c) { return c.has_entry && !is_identifier(c.entry); },
                 [](const CudaLaunch& c) { return fmt::format("`{}` is no name of a function", c.entry); }});
}

void add_argument_rules(Rules& out) {
  out.push_back({"cuda.args_known", "E119", Severity::kError,
                 "an argument is a tensor, a strided view of one, or an integer expression of dims",
                 [](const CudaLaunch& c) { return unknown_arg(c) != nullptr; },
                 [](const CudaLaunch& c) {
                   return fmt::format("argument `{}` is neither a visible tensor nor an integer",
                                      ir::to_text(*unknown_arg(c)));
                 }});
  out.push_back({"cuda.args_used", "E119", Severity::kError,
                 "a tensor argument is one that the equations read or write",
                 [](const CudaLaunch& c) { return extra_arg(c) != nullptr; },
                 [](const CudaLaunch& c) {
                   return fmt::format("argument `{}`: no equation reads or writes it", extra_arg(c)->text);
                 },
                 [](CudaLaunch& c) {
                   while (const auto* const arg = extra_arg(c)) drop(c, arg);
                 }});
  out.push_back({"cuda.args_once", "E119", Severity::kError, "a tensor is passed once",
                 [](const CudaLaunch& c) { return second_arg(c) != nullptr; },
                 [](const CudaLaunch& c) { return fmt::format("argument `{}` is given twice", second_arg(c)->text); },
                 [](CudaLaunch& c) {
                   while (const auto* const arg = second_arg(c)) drop(c, arg);
                 }});
  out.push_back({"cuda.args_whole", "E119", Severity::kError,
                 "every tensor that the equations read, or leave behind, is an argument",
                 [](const CudaLaunch& c) { return c.has_args && !missing_args(c).empty(); },
                 [](const CudaLaunch& c) {
                   return fmt::format("`{}` is used by the equations but is not an argument",
                                      name_in(c, missing_args(c)[0]));
                 },
                 [](CudaLaunch& c) {
                   for (const int id : missing_args(c)) {
                     ir::KnobValue arg = ir::KnobValue::of_name(name_in(c, id));
                     arg.tensor = id;
                     c.args.push_back(std::move(arg));
                   }
                 }});
}

void add_launch_rules(Rules& out) {
  out.push_back({"cuda.grid", "E119", Severity::kError,
                 "a grid has up to three extents of 1 or more, below 2^31, 2^16 and 2^16",
                 [](const CudaLaunch& c) { return !fits_grid(c.grid); },
                 [](const CudaLaunch& c) { return fmt::format("`grid={}` is no grid", text_of(c.grid)); },
                 [](CudaLaunch& c) { clamp(c.grid, most_of_grid); }});
  out.push_back({"cuda.block", "E119", Severity::kError,
                 "a block has up to three extents, 1 to 1024 threads, at most 64 along the third",
                 [](const CudaLaunch& c) { return !fits_block(c.block); },
                 [](const CudaLaunch& c) {
                   return is_box(c.block) ? fmt::format("`block={}`: {} threads", text_of(c.block), c.block.count())
                                          : fmt::format("`block={}` is no block", text_of(c.block));
                 },
                 [](CudaLaunch& c) {
                   clamp(c.block, [](size_t d) { return d < 2 ? kMostThreads : kMostDeep; });
                   for (size_t d = c.block.values.size(); c.block.count() > kMostThreads && d-- > 0;) {
                     const int64_t others = c.block.count() / c.block.values[d];
                     c.block.values[d] = std::max<int64_t>(1, kMostThreads / others);
                   }
                 }});
  out.push_back({"cuda.cluster", "E119", Severity::kError, "a cluster has up to three extents and 8 blocks",
                 [](const CudaLaunch& c) { return !is_box(c.cluster) || c.cluster.count() > kMostCluster; },
                 [](const CudaLaunch& c) {
                   return fmt::format("`cluster={}` is no cluster of 1 to 8 blocks", text_of(c.cluster));
                 }});
  out.push_back({"cuda.cluster_grid", "E119", Severity::kError, "each extent of a cluster divides the grid's",
                 [](const CudaLaunch& c) { return is_box(c.grid) && is_box(c.cluster) && !divides_grid(c); },
                 [](const CudaLaunch& c) {
                   return fmt::format("`cluster={}` does not divide `grid={}`", text_of(c.cluster), text_of(c.grid));
                 }});
  out.push_back({"cuda.shared", "E119", Severity::kError, "dynamic shared memory fits a block of the machine",
                 [](const CudaLaunch& c) { return c.shared < 0 || c.shared > c.most_shared(); },
                 [](const CudaLaunch& c) {
                   return fmt::format("`smem={}`: a block has 0 to {} bytes", c.shared, c.most_shared());
                 },
                 [](CudaLaunch& c) { c.shared = std::clamp<int64_t>(c.shared, 0, c.most_shared()); }});
}

// The mistake in one entry of `tma`; "": none.
std::string tma_mistake(const CudaLaunch& c, const ir::KnobValue& entry) {
  const bool passed = std::any_of(c.args.begin(), c.args.end(),
                                  [&](const auto& arg) { return arg.tensor >= 0 && arg.text == entry.text; });
  if (entry.kind != Kind::kStruct || !passed) return fmt::format("`{}` is not a tensor argument", ir::to_text(entry));
  const Result<TensorMap> descriptor = descriptor_of(c.context->program, entry);
  return descriptor.ok() ? "" : descriptor.error().message;
}

std::string tma_mistake(const CudaLaunch& c) {
  for (const ir::KnobValue& entry : c.tma) {
    if (std::string mistake = tma_mistake(c, entry); !mistake.empty()) return mistake;
  }
  return "";
}

void add_tma_rule(Rules& out) {
  out.push_back(
      {"cuda.tma", "E119", Severity::kError,
       "`tma` names tensor arguments, each with a box of one to five extents of 1 to 256 and a swizzle of none, "
       "32, 64 or 128; one dimension is contiguous, and base, other strides and the box along that dimension "
       "are multiples of 16 bytes, the box at most the swizzle",
       [](const CudaLaunch& c) { return !tma_mistake(c).empty(); },
       [](const CudaLaunch& c) { return tma_mistake(c); }});
}

}  // namespace

int64_t Extents::count() const {
  int64_t out = 1;
  for (const int64_t v : values) out = std::min<int64_t>(kMostGridX, out * std::min<int64_t>(v, kMostGridX));
  return out;
}

std::vector<std::pair<std::string, std::string>> CudaLaunch::knobs() const {
  std::vector<std::string> names;
  for (const ir::KnobValue& arg : args) names.push_back(ir::to_text(arg));
  return {{"args", names.size() == 1 ? names[0] : fmt::format("({})", fmt::join(names, ", "))},
          {"grid", text_of(grid)},
          {"block", text_of(block)},
          {"cluster", text_of(cluster)},
          {"smem", std::to_string(shared)}};
}

const std::vector<Rule<CudaLaunch>>& launch_rules() {
  static const Rules rules = [] {
    Rules out;
    add_code_rules(out);
    add_argument_rules(out);
    add_launch_rules(out);
    add_tma_rule(out);
    return out;
  }();
  return rules;
}

CudaLaunch launch_of(const Context& context, const ir::Kernel& kernel) {
  CudaLaunch out;
  out.context = &context;
  const auto string = [&](std::string_view name) {
    const ir::KnobValue* const value = kernel.knobs.find(name);
    return value && value->kind == Kind::kString ? std::optional(value->text) : std::nullopt;
  };
  out.source = string("").value_or("");
  const std::optional<std::string> entry = string("entry");
  out.has_entry = entry.has_value();
  out.entry = entry.value_or("");
  const ir::KnobValue* const args = kernel.knobs.find("args");
  out.has_args = args && !args->is_auto();
  if (out.has_args) out.args = items_of(args);
  std::set<int> written;
  for (const int id : kernel.equations) written.insert(context.program.equation(id).target);
  for (const int id : codegen::materialised(context.program, kernel)) out.needed.insert(id);
  for (const int id : kernel.equations) {
    ir::walk(context.program.equation(id).rhs, [&](const ir::Expr& e) {
      if (e.op == ir::Op::kRead && !written.count(e.id)) out.needed.insert(e.id);
    });
  }
  out.allowed = out.needed;
  for (const int id : written) {
    if (context.program.tensor(id).dtype) out.allowed.insert(id);
  }
  out.grid = extents_of(kernel.knobs, "grid"), out.block = extents_of(kernel.knobs, "block");
  out.cluster = extents_of(kernel.knobs, "cluster");
  out.shared = kernel.knobs.int_or("smem", 0);
  if (const ir::KnobValue* const tma = kernel.knobs.find("tma"); tma && !tma->is_auto()) out.tma = items_of(tma);
  return out;
}

}  // namespace solstice::families::cuda
