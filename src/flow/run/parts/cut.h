// A module's cut into stages and PyTorch's calls, as the oracle makes it (docs/protocol.md, "Parts").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/machine.h"
#include "record/fields.h"
#include "record/oracle_messages.h"
#include "run/oracle_client.h"
#include "sol/eager/predict.h"

namespace solstice::flow {

struct CutStage {
  int number = 0;
  std::string title;                // "linear, gelu"
  std::vector<std::string> names;   // of its calls, in the module's graph
  std::vector<std::string> inputs;  // "f32[64, 8, 1024]"
  Seconds seconds;                  // predicted, in PyTorch
  bool decides = false;             // a decision of PyTorch's (top-k, a comparison) depends on its values
  int like = 0;  // number of the first stage of the same calls on the same shapes; 0: it is the first
  static auto fields() {
    return std::make_tuple(field("number", &CutStage::number, "in the order of the schedule"),
                           field("title", &CutStage::title, "its first operators"),
                           field("names", &CutStage::names, "of its calls"),
                           field("inputs", &CutStage::inputs, "what enters it"),
                           field("seconds", &CutStage::seconds, "predicted, in PyTorch"),
                           field("decides", &CutStage::decides, "a decision of PyTorch's depends on it"),
                           optional_field("like", &CutStage::like, "number of the first stage that is equal"));
  }
};

struct CutCall {
  std::string name;
  std::string op;
  std::string why;
  Seconds seconds;  // predicted
  std::string file;
  int line = 0;
  static auto fields() {
    return std::make_tuple(
        field("name", &CutCall::name, "in the module's graph"), field("op", &CutCall::op, "operator with overload"),
        field("why", &CutCall::why, "it stays PyTorch's"), field("seconds", &CutCall::seconds, "predicted"),
        optional_field("file", &CutCall::file, "of the user's code"), optional_field("line", &CutCall::line, "in it"));
  }
};

struct Cut {
  std::vector<CutStage> stages;
  std::vector<CutCall> calls;
  sol::PredictedCalls predicted;  // of the whole module; no part of the reply
  static auto fields() {
    return std::make_tuple(field("stages", &Cut::stages, "parts of ours"),
                           field("calls", &Cut::calls, "PyTorch's calls"));
  }
};

struct ScheduleCheck {
  std::vector<std::string> differences;
  std::string left_out;  // why nothing was compared
  static auto fields() {
    return std::make_tuple(field("differences", &ScheduleCheck::differences, "from the module"),
                           optional_field("left_out", &ScheduleCheck::left_out, "why nothing was compared"));
  }
};

using Refused = std::map<std::string, std::string>;  // reasons by the names of calls

// The module under PyTorch eager, by the model of sol/eager: each call as the module makes it.
// Errors: those of the oracle; unsupported_operator where the module's calls make no flat graph.
Result<sol::PredictedCalls> predict_calls(run::OracleClient& oracle, const machine::Machine& machine,
                                          const OracleFlags& flags);
// Errors: as predict_calls().
Result<Cut> cut_module(run::OracleClient& oracle, const Refused& refused, const sol::PredictedCalls& predicted);
// The stage is what the oracle answers for from here on; 0: the whole module again.
Status enter_stage(run::OracleClient& oracle, int number);
// Steps of the drop-in (docs/protocol.md, "Schedule"); stages that are not `kept` are PyTorch's calls.
Result<Json> schedule_of(run::OracleClient& oracle, const std::vector<int>& kept);
// What of the module's results and effects the stages and calls in their order, all in PyTorch, do not give.
Result<ScheduleCheck> check_schedule(run::OracleClient& oracle);
// Measured seconds of each of PyTorch's calls, by name.
Result<std::map<std::string, Seconds>> time_calls(run::OracleClient& oracle, const std::string& set,
                                                  const std::vector<int>& kept);

}  // namespace solstice::flow
