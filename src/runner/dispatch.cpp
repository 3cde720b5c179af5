#include "runner/dispatch.h"

#include <fmt/format.h>
#include <unistd.h>

#include "runner/cupti.h"

namespace solstice::runner {
namespace {

template <typename Request, typename Reply>
Result<Json> call(GpuSession& gpu, Result<Reply> (GpuSession::*method)(const Request&), const Json& params) {
  SOLSTICE_TRY(const Request request, from_json<Request>(params));
  SOLSTICE_TRY(const Reply reply, (gpu.*method)(request));
  return to_json(reply);
}

Result<std::unique_ptr<GpuSession>> open_gpu(int device, const rt::Driver*& driver) {
  SOLSTICE_TRY(driver, rt::cuda_driver());
  return GpuSession::open(*driver, device);
}

}  // namespace

void Dispatcher::open() {
  // CUPTI first: it wants to be there before the context. A profiler has it already, and a process has one.
  const Status cupti = options_.profile.empty()
                           ? open_cupti(options_.cupti)
                           : Status(fail(Code::not_found, "not opened: a profiler is in its place"));
  cupti_note_ = cupti.ok() ? "loaded" : cupti.error().message;
  auto gpu = open_gpu(options_.device, driver_);
  if (gpu.ok()) {
    gpu_ = std::move(gpu).value();
  } else {
    not_open_ = gpu.error();
  }
}

Result<RunnerHello> Dispatcher::hello() {
  RunnerHello out;
  out.pid = ::getpid();
  out.gpu = gpu_->context().name();
  out.bus_id = gpu_->context().bus_id();
  SOLSTICE_CHECK(driver_->check(driver_->cuDriverGetVersion(&out.driver), "read the driver's version"));
  out.cupti = cupti_is_open();
  out.cupti_note = cupti_note_;
  out.sandbox = sandbox_.json();
  return out;
}

Result<Json> Dispatcher::handle(const std::string& request, const Json& params) {
  if (not_open_) return *not_open_;
  if (!gpu_) return fail(Code::internal, "the runner was not opened");
  if (request == "hello") {
    SOLSTICE_TRY(const RunnerHello out, hello());
    return to_json(out);
  }
  if (request == "load") return call(*gpu_, &GpuSession::load, params);
  if (request == "prepare") return call(*gpu_, &GpuSession::prepare, params);
  if (request == "run") return call(*gpu_, &GpuSession::run, params);
  if (request == "time") return call(*gpu_, &GpuSession::time, params);
  return fail(Code::bad_argument, fmt::format("no request `{}`", request),
              "there are hello, load, prepare, run and time");
}

Json Dispatcher::error_reply(const Error& error) {
  if (error.code == Code::cuda_error || error.code == Code::deadline) lost_ = true;
  return Json::object().set("code", name_of(error.code)).set("message", error.text());
}

std::string Dispatcher::answer(std::string_view line) {
  const Result<Json> request = parse_json(line);
  Json reply = Json::object();
  if (!request.ok()) return reply.set("id", Json()).set("error", error_reply(request.error())).dump();
  reply.set("id", request->at("id"));
  Result<Json> result = handle(request->at("request").as_string(), request->at("params"));
  if (result.ok()) return reply.set("result", std::move(result).value()).dump();
  return reply.set("error", error_reply(result.error())).dump();
}

}  // namespace solstice::runner
