#include "flow/run/parts/cut.h"

#include "sol/eager/parameters.h"

namespace solstice::flow {
namespace {

constexpr Seconds kLimit{900};

// Of the machine as PyTorch uses it. `launch`: from one kernel to the next, without work.
Json machine_of(const machine::Machine& machine) {
  Json flops = Json::object();
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI8}) {
    const bool multiplies = dtype != DType::kF32 && dtype != DType::kF64;
    const Result<machine::Pipe> pipe = multiplies ? machine::tensor_pipe(dtype) : machine::simt_pipe(dtype);
    if (!pipe.ok()) continue;
    const Result<machine::Ceiling> ceiling = machine.ceiling(*pipe);
    if (ceiling.ok()) flops.set(name_of(dtype), ceiling->per_second);
  }
  return Json::object()
      .set("bandwidth", machine.copy_ceiling().per_second)
      .set("launch", sol::eager::kGap + sol::eager::kLeastKernel)
      .set("flops", flops);
}

Json list_of_numbers(const std::vector<int>& numbers) {
  Json out = Json::array();
  for (const int number : numbers) out.push(number);
  return out;
}

}  // namespace

Result<Cut> cut_module(run::OracleClient& oracle, const Refused& refused, const machine::Machine& machine) {
  Json reasons = Json::object();
  for (const auto& [name, why] : refused) reasons.set(name, why);
  SOLSTICE_TRY(const Json reply,
               oracle.call("cut", Json::object().set("refused", reasons).set("machine", machine_of(machine)), kLimit));
  return from_json<Cut>(reply).context("reading the oracle's reply to `cut`");
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
