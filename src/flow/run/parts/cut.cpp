#include "flow/run/parts/cut.h"

#include "record/graph.h"

namespace solstice::flow {
namespace {

constexpr Seconds kLimit{900};

// Of a graph what the model of PyTorch eager reads.
struct CallGraph {
  std::vector<GraphInput> inputs;
  std::vector<GraphNode> nodes;
  static auto fields() {
    return std::make_tuple(field("inputs", &CallGraph::inputs, "placeholders"),
                           field("nodes", &CallGraph::nodes, "calls, in their order"));
  }
};

Json list_of_numbers(const std::vector<int>& numbers) {
  Json out = Json::array();
  for (const int number : numbers) out.push(number);
  return out;
}

}  // namespace

Result<sol::PredictedCalls> predict_calls(run::OracleClient& oracle, const machine::Machine& machine,
                                          const OracleFlags& flags) {
  SOLSTICE_TRY(const Json reply, oracle.call("calls", Json::object(), kLimit));
  SOLSTICE_TRY(CallGraph found, from_json<CallGraph>(reply).context("reading the oracle's reply to `calls`"));
  Graph graph;
  graph.inputs = std::move(found.inputs);
  graph.nodes = std::move(found.nodes);
  return sol::predict_calls(graph, machine, {flags.matmul_tf32, flags.cudnn_tf32});
}

Result<Cut> cut_module(run::OracleClient& oracle, const Refused& refused, const sol::PredictedCalls& predicted) {
  Json reasons = Json::object(), times = Json::object();
  for (const auto& [name, why] : refused) reasons.set(name, why);
  for (const auto& [name, time] : predicted.calls) times.set(name, time.device.value);
  SOLSTICE_TRY(const Json reply,
               oracle.call("cut", Json::object().set("refused", reasons).set("seconds", times), kLimit));
  SOLSTICE_TRY(Cut out, from_json<Cut>(reply).context("reading the oracle's reply to `cut`"));
  out.predicted = predicted;
  return out;
}

Status enter_stage(run::OracleClient& oracle, int number) {
  Json params = Json::object();
  if (number > 0) params.set("number", number);
  SOLSTICE_CHECK(oracle.call("enter_stage", std::move(params), kLimit));
  return success();
}

Result<Json> schedule_of(run::OracleClient& oracle, const std::vector<int>& kept) {
  SOLSTICE_TRY(const Json reply, oracle.call("schedule", Json::object().set("kept", list_of_numbers(kept)), kLimit));
  return reply.at("schedule");
}

Result<ScheduleCheck> check_schedule(run::OracleClient& oracle) {
  SOLSTICE_TRY(const Json reply, oracle.call("check_schedule", Json::object(), kLimit));
  return from_json<ScheduleCheck>(reply).context("reading the oracle's reply to `check_schedule`");
}

Result<std::map<std::string, Seconds>> time_calls(run::OracleClient& oracle, const std::string& set,
                                                  const std::vector<int>& kept) {
  SOLSTICE_TRY(const Json reply,
               oracle.call("time_calls", Json::object().set("set", set).set("kept", list_of_numbers(kept)), kLimit));
  std::map<std::string, Seconds> out;
  for (const Json& call : reply.at("calls").items())
    out[call.at("name").as_string()] = Seconds(call.at("seconds").as_double());
  return out;
}

}  // namespace solstice::flow
