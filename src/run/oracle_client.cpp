#include "run/oracle_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace solstice::run {
namespace {

constexpr Seconds kLook{0.1};  // between two looks at whether to stop

Json text(std::string_view value) { return Json(std::string(value)); }

Json of_set(std::string_view set) { return Json::object().set("set", text(set)); }

Json block(std::string_view set, const BlockRequest& request) {
  return of_set(set).set("reps", request.reps).set("warmups", request.warmups);
}

// What is empty is left out.
Json of_file(std::string_view file, std::string_view class_name, std::string_view mode) {
  Json out = Json::object();
  if (!file.empty()) out.set("file", text(file));
  if (!class_name.empty()) out.set("class_name", text(class_name));
  if (!mode.empty()) out.set("mode", text(mode));
  return out;
}

Error broken(std::string_view what) {
  return fail(Code::process_failed, fmt::format("the oracle broke its protocol: {}", what));
}

// The first request went unanswered: this Python cannot run our part of it.
Error no_worker(const Error& why) {
  constexpr std::string_view kSaid = "; it said: ";
  const size_t said = why.message.find(kSaid);
  Error error = fail(Code::no_python, "Python does not start: " + why.message.substr(0, said),
                     "SOLSTICE_PYTHON names a Python 3.11 to 3.13 with PyTorch; `solstice doctor` says what it finds");
  if (said != std::string::npos) error.reasons = {why.message.substr(said + kSaid.size())};
  return error;
}

}  // namespace

OracleClient::OracleClient(std::unique_ptr<OracleTransport> transport, OracleLimits limits)
    : transport_(std::move(transport)), limits_(limits) {}

Result<OracleClient> OracleClient::start(const OracleOptions& options) {
  if (options.descriptor) return OracleClient(descriptor_transport(*options.descriptor), options.limits);
  SOLSTICE_TRY(auto transport, worker_transport(options.device, options.warm));
  OracleClient client(std::move(transport), options.limits);
  client.is_new_ = true;
  return client;
}

Result<Json> OracleClient::call(std::string_view request, Json params, Seconds limit) {
  const Deadline deadline(limit);
  const Seconds began = monotonic_now();
  const int64_t id = ++last_id_;
  Json message = Json::object();
  message.set("schema", kOracleSchema).set("id", id).set("request", text(request)).set("params", std::move(params));
  auto sent = transport_->write_line(message.dump(), deadline);
  auto answer = sent.ok() ? await(id, deadline) : Result<Json>(std::move(sent).error());
  spent_[std::string(request)] += monotonic_now() - began;
  // A late answer would be taken for the next request's.
  const bool given_up =
      !answer.ok() && (answer.error().code == Code::deadline || answer.error().code == Code::interrupted);
  if (given_up) transport_->abandon();
  if (given_up || (!answer.ok() && answer.error().code == Code::process_failed)) sound_ = false;
  if (!answer.ok() && answer.error().code == Code::process_failed && is_new_) return no_worker(answer.error());
  return answer;
}

// Looks up now and then: a signal may arrive just before the wait, or in another thread.
Result<std::string> OracleClient::next_line(const Deadline& deadline) {
  while (true) {
    if (stop_ && stop_()) return fail(Code::interrupted, "stopped before Python answered");
    Result<std::string> line = transport_->read_line(stop_ ? Deadline(std::min(kLook, deadline.left())) : deadline);
    const bool looks_again = stop_ && !line.ok() && line.error().code == Code::deadline && !deadline.passed();
    if (!looks_again) return line;
  }
}

Result<Json> OracleClient::await(int64_t id, const Deadline& deadline) {
  while (true) {
    SOLSTICE_TRY(const std::string line, next_line(deadline));
    is_new_ = false;
    auto message = parse_json(line);
    if (!message.ok()) return broken(fmt::format("`{}` is no JSON", line.substr(0, 80)));
    if (message->at("schema").as_string() != kOracleSchema) return broken("a line without its schema");
    const std::string& event = message->at("event").as_string();
    if (message->at("id").as_int(-1) != id) return broken("an answer to another request");
    const Json& body = message->at(event);
    if (event == "reply") return body;
    if (event == "error") {
      SOLSTICE_TRY(const OracleFailure failure, from_json<OracleFailure>(body));
      return to_error(failure);
    }
    if (event != "progress") return broken(fmt::format("an event `{}`", event));
    SOLSTICE_TRY(const OracleProgress progress, from_json<OracleProgress>(body));
    if (progress_) progress_(progress);
  }
}

template <typename T>
Result<T> OracleClient::ask(std::string_view request, Json params, Seconds limit) {
  SOLSTICE_TRY(const Json reply, call(request, std::move(params), limit));
  return from_json<T>(reply).context(fmt::format("reading the oracle's reply to `{}`", request));
}

Result<OracleHello> OracleClient::hello() { return ask<OracleHello>("hello", Json::object(), limits_.start); }

Result<OracleSubject> OracleClient::load(std::string_view file, std::string_view class_name, std::string_view mode) {
  Json params = of_file(file, class_name, mode);
  return ask<OracleSubject>("load", std::move(params), limits_.load);
}

Result<Graph> OracleClient::trace(const std::vector<std::string>& decompose, std::string_view blob_folder) {
  Json params = Json::object().set("decompose", text_list(decompose));
  if (!blob_folder.empty()) params.set("blob_dir", text(blob_folder));
  SOLSTICE_TRY(const OracleTrace reply, ask<OracleTrace>("trace", std::move(params), limits_.trace));
  return read_graph(reply.graph);
}

Result<OracleTrace> OracleClient::trace_cached(std::string_view folder, const std::vector<std::string>& decompose) {
  Json params = Json::object().set("decompose", text_list(decompose)).set("cache_dir", text(folder));
  return ask<OracleTrace>("trace", std::move(params), limits_.trace);
}

Result<Graph> OracleClient::trace_branches() {
  Json params = Json::object().set("branches", true);
  SOLSTICE_TRY(const OracleTrace reply, ask<OracleTrace>("trace", std::move(params), limits_.trace));
  return read_graph(reply.graph);
}

Result<OracleInputs> OracleClient::prepare_inputs(std::string_view set, const InputRequest& request) {
  Json params = of_set(set).set("seed", request.seed).set("family", request.family).set("weights", request.weights);
  if (!request.scaled.empty()) params.set("scaled", request.scaled).set("least", request.least);
  return ask<OracleInputs>("prepare_inputs", std::move(params), limits_.work);
}

Result<OracleExpected> OracleClient::expected(std::string_view set, bool describe) {
  Json params = of_set(set);
  if (!describe) params.set("describe", false);
  return ask<OracleExpected>("expected", std::move(params), limits_.work);
}

Status OracleClient::run_tf32(std::string_view set, std::string_view into) {
  SOLSTICE_CHECK(call("run_tf32", of_set(set).set("into", text(into)), limits_.work));
  return success();
}

Result<OracleUndetermined> OracleClient::find_undetermined(std::string_view set, std::string_view into, double error,
                                                           const std::map<std::string, double>& limits) {
  Json values = Json::object();
  for (const auto& [name, limit] : limits) values.set(name, limit);
  Json params = of_set(set).set("into", text(into)).set("error", error).set("limits", std::move(values));
  return ask<OracleUndetermined>("find_undetermined", std::move(params), limits_.work);
}

Result<OracleLeftOut> OracleClient::find_left_out(std::string_view set, std::string_view into) {
  return ask<OracleLeftOut>("find_left_out", of_set(set).set("into", text(into)), limits_.work);
}

Status OracleClient::start_rivals(std::string_view file, std::string_view class_name, std::string_view mode) {
  SOLSTICE_CHECK(call("start_rivals", of_file(file, class_name, mode), limits_.start));
  return success();
}

Result<OracleRivals> OracleClient::rivals(const CompareRequest& request) {
  Json params = Json::object().set("reps", request.reps).set("warmups", request.warmups).set("blocks", request.blocks);
  Json dropins = Json::array();
  for (const OracleContender& dropin : request.dropins) dropins.push(to_json(dropin));
  if (!request.dropins.empty()) params.set("dropins", std::move(dropins));
  if (request.compile_tf32) params.set("compile_tf32", true);
  if (request.deadline.value > 0) params.set("deadline", request.deadline.value);
  return ask<OracleRivals>("time_rivals", std::move(params), limits_.work);
}

Result<OracleFlaws> OracleClient::flaws(Seconds budget) {
  return ask<OracleFlaws>("find_flaws", Json::object().set("budget", budget.value), limits_.work);
}

Result<OracleTensors> OracleClient::export_ipc(std::string_view set, const std::vector<std::string>& kinds) {
  return ask<OracleTensors>("export_tensors", of_set(set).set("kinds", text_list(kinds)).set("where", "ipc"),
                            limits_.work);
}

Result<OracleTensors> OracleClient::export_file(std::string_view set, const std::vector<std::string>& kinds,
                                                std::string_view path) {
  Json params = of_set(set).set("kinds", text_list(kinds)).set("where", "file").set("path", text(path));
  return ask<OracleTensors>("export_tensors", std::move(params), limits_.work);
}

Result<OracleBlock> OracleClient::time_eager(std::string_view set, const BlockRequest& request) {
  return ask<OracleBlock>("time_eager", block(set, request), limits_.work);
}

Result<OracleDropinCheck> OracleClient::check_dropin(std::string_view model_new, std::string_view numerics) {
  return ask<OracleDropinCheck>(
      "check_dropin", Json::object().set("path", text(model_new)).set("numerics", text(numerics)), limits_.work);
}

Result<OracleComparison> OracleClient::time_dropin(std::string_view model_new, std::string_view set,
                                                   std::string_view numerics, const RoundsRequest& request) {
  Json params = of_set(set).set("path", text(model_new)).set("reps", request.reps);
  params.set("warmups", request.warmups).set("rounds", request.rounds).set("numerics", text(numerics));
  return ask<OracleComparison>("time_dropin", std::move(params), limits_.work);
}

Result<OracleMemory> OracleClient::memory(std::string_view set, std::string_view model_new) {
  Json params = of_set(set);
  if (!model_new.empty()) params.set("path", text(model_new));
  return ask<OracleMemory>("memory", std::move(params), limits_.work);
}

Status OracleClient::release_set(std::string_view set) {
  SOLSTICE_CHECK(call("release", of_set(set), limits_.work));
  return success();
}

Status OracleClient::release(bool keep_opponents) {
  Json params = Json::object();
  if (keep_opponents) params.set("keep_opponents", true);
  SOLSTICE_CHECK(call("release", std::move(params), limits_.work));
  return success();
}

Status OracleClient::shutdown() {
  SOLSTICE_CHECK(call("shutdown", Json::object(), limits_.start));
  return success();
}

}  // namespace solstice::run
