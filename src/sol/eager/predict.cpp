#include "sol/eager/predict.h"

#include <algorithm>
#include <map>

#include "sol/eager/parameters.h"
#include "sol/eager/price.h"

namespace solstice::sol {
namespace {

using eager::Call;
using eager::Price;

eager::Values inputs_of(const Graph& graph) {
  eager::Values out;
  for (const GraphInput& input : graph.inputs) {
    if (input.is_tensor()) out[input.id] = {input.id, input.id, *input.dtype, input.shape, input.stride};
  }
  return out;
}

// A dropout that drops nothing is traced as a copy, and returns its input.
bool is_idle_dropout(const GraphNode& node, const Call& call, const std::map<std::string, std::string>& types) {
  const auto type = types.find(node.module);
  return call.op() == "clone" && type != types.end() && type->second.find("Dropout") != std::string::npos &&
         !call.reads().empty() && !call.results().empty() &&
         call.reads().front().stride == call.results().front().stride;
}

std::map<std::string, std::string> module_types(const Graph& graph) {
  std::map<std::string, std::string> out;
  for (const GraphModule& module : graph.modules) out[module.path] = module.type;
  return out;
}

double host_units(const Price& price) {
  if (price.launches == 0) return eager::kViewCall;
  return price.launches + (price.library ? eager::kLibraryCall - 1 : 0);
}

class Prediction {
 public:
  Prediction(const Graph& graph, const machine::Machine& machine, EagerFlags flags)
      : graph_(graph),
        machine_(machine),
        device_(machine, flags.matmul_tf32, flags.conv_tf32),
        values_(inputs_of(graph)),
        types_(module_types(graph)) {}

  Result<PredictedOriginal> run() {
    for (const GraphNode& node : graph_.nodes) SOLSTICE_CHECK(add_call(Call(node, values_), node));
    return result();
  }

  PredictedCalls calls() {
    PredictedCalls out;
    for (const GraphNode& node : graph_.nodes) {
      const Seconds before = out_.device;
      const double units = units_;
      const Call call(node, values_);
      if (!add_call(call, node).ok()) count(eager::price_by_bytes(call, device_), std::string(call.op()));
      out.calls[node.id] = {out_.device - before, dispatch() * (units_ - units)};
    }
    out.original = result();
    return out;
  }

 private:
  Status add_call(const Call& call, const GraphNode& node) {
    const bool idle = is_idle_dropout(node, call, types_);
    for (const eager::Tensor& result : call.results()) {
      values_[result.id] = result;
      if (idle) values_[result.id].root = call.reads().front().root;
    }
    if (idle) return success();
    if (call.is_view()) {
      units_ += eager::kViewCall;
      return success();
    }
    SOLSTICE_TRY(const Price price, eager::price(call, device_));
    count(price, std::string(call.op()));
    return success();
  }

  Seconds dispatch() const { return machine_.measured.eager_launch.value_or(Seconds(0)); }  // 0: not known

  PredictedOriginal result() {
    out_.host = dispatch() * units_;
    out_.time = headline_time(out_.device, out_.host, machine_);
    std::stable_sort(out_.operators.begin(), out_.operators.end(),
                     [](const OperatorTime& a, const OperatorTime& b) { return b.time < a.time; });
    return std::move(out_);
  }

  void count(const Price& price, const std::string& op) {
    units_ += host_units(price);
    out_.device += Seconds(price.device);
    out_.kernels += price.launches;
    add(price, op);
  }

  void add(const Price& price, const std::string& op) {
    auto row = std::find_if(out_.operators.begin(), out_.operators.end(),
                            [&](const OperatorTime& each) { return each.op == op && each.kind == price.kind; });
    if (row == out_.operators.end()) row = out_.operators.insert(row, {.op = op, .kind = price.kind});
    row->calls += 1;
    row->kernels += price.launches;
    row->time += Seconds(price.device);
    row->fitted = row->fitted && price.fitted;
    double& longest = longest_[op + price.kind];
    if (price.device <= longest) return;
    longest = price.device;
    row->limited_by = price.limit;
  }

  const Graph& graph_;
  const machine::Machine& machine_;
  eager::Device device_;
  eager::Values values_;
  std::map<std::string, std::string> types_;
  double units_ = 0;                       // of the host's time
  std::map<std::string, double> longest_;  // seconds of an operator's longest call
  PredictedOriginal out_;
};

}  // namespace

Result<PredictedOriginal> predict_original(const Graph& graph, const machine::Machine& machine, EagerFlags flags) {
  return Prediction(graph, machine, flags).run();
}

PredictedCalls predict_calls(const Graph& graph, const machine::Machine& machine, EagerFlags flags) {
  return Prediction(graph, machine, flags).calls();
}

Seconds headline_time(Seconds device, Seconds host, const machine::Machine& machine) {
  const double hidden = eager::kFlushBytes / machine.write_ceiling().per_second;
  return std::max(device, host - Seconds(hidden));
}

}  // namespace solstice::sol
