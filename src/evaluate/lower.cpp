#include "evaluate/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluate/like_sources.h"
#include "families/space.h"
#include "ir/opaque.h"

namespace solstice::evaluate {
namespace {

using ir::TensorKind;

std::string known_families() {
  std::string out;
  for (const families::Family* family : families::all_families())
    out += (out.empty() ? "" : ", ") + std::string(family->name);
  return out;
}

PlanBuffer buffer_of(const ir::Tensor& tensor, BufferKind kind) {
  PlanBuffer buffer;
  buffer.name = tensor.name;
  buffer.kind = kind;
  buffer.path = tensor.path;
  buffer.dtype = *tensor.dtype;
  buffer.shape = tensor.shape;
  buffer.strides = tensor.strides;
  buffer.bytes = spanned_elements(tensor) * size_of(*tensor.dtype);
  return buffer;
}

class Lowering {
 public:
  explicit Lowering(const families::Context& context)
      : context_(context), program_(context.program), like_(context.program) {}

  Result<Lowered> run(const StopTest& stop) {
    SOLSTICE_CHECK(supported());
    out_.plan.program = program_.name;
    out_.plan.target = context_.machine.arch;
    add_buffers();
    for (const ir::Kernel& kernel : program_.kernels) {
      if (is_asked(stop)) return fail(Code::deadline, "the time was up before all code was generated");
      SOLSTICE_CHECK(add_kernel(kernel));
    }
    add_state_updates();
    return std::move(out_);
  }

 private:
  Status supported() const {
    if (!program_.opaques.empty()) {
      return fail(Code::unsupported_operator, fmt::format("`{}` has no equations", program_.opaques[0].op),
                  ir::kRunByPyTorch);
    }
    for (const ir::Item& item : program_.items) {
      if (item.equation < 0) continue;
      return fail(Code::program_invalid,
                  fmt::format("`{}` has no schedule: it stands in no kernel",
                              ir::to_text(program_, program_.equation(item.equation))),
                  "put it into a kernel (`solstice plan` writes one), or let `solstice optimize` search");
    }
    const std::vector<ir::NotYet> lacking = not_built(program_);
    return lacking.empty() ? success() : fail(Code::not_yet, "not yet: " + lacking[0].what);
  }

  // By a kernel that runs at load; every call reads what it left.
  bool is_filled_once(const ir::Tensor& tensor) const {
    return tensor.kernel >= 0 && program_.kernels[static_cast<size_t>(tensor.kernel)].once;
  }

  void add_buffers() {
    const auto add = [&](TensorKind kind, BufferKind as) {
      for (const ir::Tensor& tensor : program_.tensors) {
        if (tensor.kind != kind) continue;
        out_.plan.buffers.push_back(buffer_of(tensor, as));
        out_.plan.buffers.back().persistent = as == BufferKind::kWorkspace && is_filled_once(tensor);
      }
    };
    add(TensorKind::kInput, BufferKind::kInput);
    add(TensorKind::kParam, BufferKind::kParam);
    add(TensorKind::kBuffer, BufferKind::kState);
    add(TensorKind::kOutput, BufferKind::kOutput);
    add(TensorKind::kTensor, BufferKind::kWorkspace);
  }

  Status add_kernel(const ir::Kernel& kernel) {
    const families::Family* family = families::find_family(kernel.family);
    if (!family)
      return fail(Code::not_found, fmt::format("no kernel family `{}`", kernel.family),
                  "there are: " + known_families());
    if (!family->available) {
      return fail(Code::not_yet, fmt::format("kernel `{}`: family `{}` is declared but has no generator yet",
                                             kernel.name, family->name));
    }
    const families::Match match = family->match(program_, kernel);
    if (!match.ok) {
      return fail(Code::illegal_knobs,
                  fmt::format("kernel `{}`: family `{}` cannot run it: {}", kernel.name, family->name, match.reason));
    }
    auto emitted = family->generate(context_, kernel).context(fmt::format("generating kernel `{}`", kernel.name));
    if (!emitted.ok()) return std::move(emitted).error();
    families::Emission& emission = emitted.value();
    for (families::Source& source : emission.sources) add_source(std::move(source), emission.steps);
    for (Step& step : emission.steps) {
      if (kernel.once) step.phase = Phase::kPrepare;
      out_.plan.streams = std::max(out_.plan.streams, step.stream + 1);
      out_.plan.steps.push_back(std::move(step));
    }
    for (PlanBuffer& buffer : emission.workspace) out_.plan.buffers.push_back(std::move(buffer));
    return success();
  }

  // A source like an earlier one is launched from that one's module.
  void add_source(families::Source source, std::vector<Step>& steps) {
    const std::vector<std::string> entries = entries_of(source, steps);
    const std::optional<LikeSources::Kept> like = like_.find_or_keep(source, entries);
    for (Step& step : steps) {
      if (!like || step.module != source.name) continue;
      const auto at = std::find(entries.begin(), entries.end(), step.entry);
      step.entry = like->entries[static_cast<size_t>(at - entries.begin())];
      step.module = like->module;
    }
    if (like) return;
    out_.plan.modules.push_back({source.name, "", "", "", !source.file.empty()});
    out_.sources.push_back(std::move(source));
  }

  static std::vector<std::string> entries_of(const families::Source& source, const std::vector<Step>& steps) {
    std::vector<std::string> out;
    for (const Step& step : steps) {
      if (step.module != source.name || std::find(out.begin(), out.end(), step.entry) != out.end()) continue;
      out.push_back(step.entry);
    }
    return out;
  }

  // `tensor s1 into s`: s takes s1's value when all kernels have read the old one.
  void add_state_updates() {
    for (const ir::Tensor& tensor : program_.tensors) {
      if (tensor.into < 0) continue;
      const ir::Tensor& state = program_.tensor(tensor.into);
      Step step;
      step.name = "update." + state.name;
      step.kind = StepKind::kCopy;
      step.buffer = state.name;
      step.from = tensor.name;
      for (PlanBuffer& buffer : out_.plan.buffers) {
        if (buffer.name != state.name) continue;
        buffer.written = true;
        step.bytes = buffer.bytes;
      }
      out_.plan.steps.push_back(std::move(step));
    }
  }

  const families::Context& context_;
  const ir::Program& program_;
  LikeSources like_;
  Lowered out_;
};

}  // namespace

int64_t spanned_elements(const ir::Tensor& tensor) {
  int64_t last = 0;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] == 0) return 0;
    last += (tensor.shape[i] - 1) * tensor.strides[i];
  }
  return last + 1;
}

std::optional<ir::Knobs> check_settings(const ir::Kernel& kernel, const families::KnobPlaces& places,
                                        Diagnostics& diagnostics) {
  if (const families::Family* family = families::find_family(kernel.family)) {
    return families::check_knobs(*family, kernel, places, diagnostics);
  }
  std::vector<std::string> names;
  for (const families::Family* f : families::all_families()) names.emplace_back(f->name);
  const std::string near = closest(kernel.family, names);
  diagnostics.error("E100", kernel.span, fmt::format("no kernel family `{}`", kernel.family),
                    near.empty() ? "families: " + known_families() : fmt::format("closest: `{}`", near));
  return std::nullopt;
}

namespace {

// Knobs of which no written value is left.
std::vector<std::string> without_value(const ir::Knobs& written, const ir::Knobs& left) {
  std::vector<std::string> out;
  for (size_t i = 0; i < written.items.size() && i < left.items.size(); ++i) {
    if (!left.items[i].second.is_auto() || written.items[i].second.is_auto()) continue;
    for (const std::string& name : ir::tied_knobs(written.items[i].first)) out.push_back(name);
  }
  return out;
}

bool names_one(const std::string& message, const std::vector<std::string>& knobs) {
  return std::any_of(knobs.begin(), knobs.end(), [&](const std::string& knob) {
    return message.find('`' + knob + '=') != std::string::npos || message.find(' ' + knob + '=') != std::string::npos;
  });
}

}  // namespace

void check_schedule(const families::Context& context, const families::KnobPlaces& places, Diagnostics& diagnostics) {
  for (const ir::Kernel& written : context.program.kernels) {
    std::optional<ir::Knobs> knobs = check_settings(written, places, diagnostics);
    if (!knobs) continue;
    const families::Family& family = *families::find_family(written.family);
    ir::Kernel kernel = written;
    kernel.knobs = std::move(*knobs);
    families::check_required(family, kernel, diagnostics);
    const families::Match match = family.match(context.program, kernel);
    if (!match.ok) {
      diagnostics.error("E103", kernel.span,
                        fmt::format("family `{}` cannot run kernel `{}`: {}", family.name, kernel.name, match.reason),
                        fmt::format("`{}` is for {}", family.name, family.help));
      continue;
    }
    // A rule on a knob that has no value would be of another value than was meant.
    const std::vector<std::string> unknown = without_value(written.knobs, kernel.knobs);
    Diagnostics of_rules;
    families::check_rules_of(family, context, kernel, of_rules);
    for (const Diagnostic& each : of_rules.all()) {
      if (!names_one(each.message, unknown)) diagnostics.add(each);
    }
  }
}

std::vector<ir::NotYet> not_built(const ir::Program& program) {
  std::vector<ir::NotYet> out = program.not_yet;
  if (program.is_problem()) return out;
  for (const ir::Tensor& tensor : program.tensors) {
    if (tensor.kind == TensorKind::kRandom)
      out.push_back({fmt::format("`random {}`: drawing numbers", tensor.name), tensor.span});
    if (tensor.same >= 0 && tensor.kind == TensorKind::kTensor) {
      out.push_back({fmt::format("`tensor {} same ...`: shared storage of intermediates", tensor.name), tensor.span});
    }
  }
  return out;
}

Result<Lowered> lower(const families::Context& context, const StopTest& stop) {
  Lowering lowering(context);
  SOLSTICE_TRY(Lowered lowered, lowering.run(stop));
  SOLSTICE_CHECK(validate(lowered.plan));
  return lowered;
}

}  // namespace solstice::evaluate
