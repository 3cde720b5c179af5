// A kernel that only stores a tensor in another format: its neighbour could read or write that format itself.
#include <fmt/format.h>

#include <algorithm>

#include "base/dtype.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

double elements_of(const TensorFacts& tensor) {
  const auto dtype = dtype_from_name(tensor.dtype);
  return dtype ? tensor.bytes.value / static_cast<double>(size_of(*dtype)) : 0;
}

double arithmetic_of(const KernelSheet& kernel) {
  double out = 0;
  for (const ResourceNeed& need : kernel.needs) {
    if (need.resource != "dram" && need.resource != "l2") out += need.amount;
  }
  return out;
}

// The tensor read and the tensor written, where the format is all that differs.
struct Cast {
  const TensorFacts *from = nullptr, *to = nullptr;
};

Cast cast_of(const KernelSheet& kernel) {
  Cast out;
  if (kernel.tensors.size() != 2 || kernel.once) return out;
  for (const TensorFacts& tensor : kernel.tensors) (tensor.written ? out.to : out.from) = &tensor;
  if (!out.from || !out.to || out.from->dtype == out.to->dtype) return {};
  const double elements = elements_of(*out.to);
  // A conversion is one operation an element at most.
  const bool same = elements > 0 && elements == elements_of(*out.from) && arithmetic_of(kernel) <= elements;
  return same ? out : Cast{};
}

const KernelSheet* neighbour_of(const Facts& facts, const KernelSheet& kernel, const Cast& cast) {
  for (const KernelSheet& other : facts.kernels) {
    if (&other == &kernel || other.once) continue;
    for (const TensorFacts& tensor : other.tensors) {
      const bool reads = !tensor.written && tensor.name == cast.to->name;
      const bool writes = tensor.written && tensor.name == cast.from->name;
      if (reads || writes) return &other;
    }
  }
  return nullptr;
}

void find_casts(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  for (const KernelView& kernel : view.kernels) {
    const Cast cast = cast_of(kernel.kernel);
    if (!cast.to || kernel.share < tool.threshold("share")) continue;
    Finding finding = finding_on(tool, kernel,
                                 fmt::format("it only stores `{}` as {}, and takes {:.0f} % of the program's time",
                                             cast.from->name, cast.to->dtype, 100 * kernel.share),
                                 {gain_without(kernel.share), 1, "if its neighbour read or wrote that format"});
    finding.evidence.push_back(evidence("read", cast.from->bytes.value, "B", "plan"));
    finding.evidence.push_back(evidence("written", cast.to->bytes.value, "B", "plan"));
    if (const KernelSheet* other = neighbour_of(view.facts, kernel.kernel, cast)) {
      const std::string& name = kernel.kernel.kernel;
      finding.actions.push_back({ActionKind::kCut,
                                 fmt::format("one kernel of `{}` and `{}`", name, other->kernel),
                                 name,
                                 {},
                                 "",
                                 other->kernel});
    }
    finding.actions.push_back(advice("the format that the next kernel wants, written by the one before"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_cast_traffic;
const Tool solstice_tools_cast_traffic{
    .name = "cast traffic",
    .question = "Does a kernel only change a tensor's format?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"share", 0.02, "share of the program's time", "below it nothing is won"}},
    .of_program = find_casts,
    .explains = {"intermediate traffic"},
};

}  // namespace solstice::diagnose
