#include "evaluate/findings/diagnosing.h"

#include <chrono>

#include "base/clock.h"

namespace solstice::evaluate {
namespace {

// What reading it took.
Seconds add_code(const CodeToRead& code, Facts& facts) {
  if (!code.built) return {};
  const Seconds began = monotonic_now();
  if (!code.being.begun()) {
    add_sass(*code.built, code.lines, facts);
    return monotonic_now() - began;
  }
  const CodeReading::Read& read = code.being.wait();
  take_sass(code.built->plan, read.modules, facts);
  return read.took;
}

}  // namespace

Diagnosing::Diagnosing(Facts facts, const CodeToRead& code, const Setting& setting, const DiagnosisOptions& options,
                       Seconds took) {
  done_ = std::async(std::launch::async, [facts = std::move(facts), code, &setting, options, took]() mutable {
    Done out{Json::object(), {}};
    out.time.facts = took;
    out.time.disassembly = add_code(code, facts);
    const Seconds read = monotonic_now();
    add_findings(facts, setting, options, out.record);
    out.time.tools = monotonic_now() - read;
    return out;
  });
}

bool Diagnosing::done(Seconds patience) const {
  return !done_.valid() || done_.wait_for(std::chrono::duration<double>(patience.value)) == std::future_status::ready;
}

DiagnosisTime Diagnosing::finish(Seconds waited, Json& record) {
  if (!done_.valid()) return {};
  const Seconds began = monotonic_now();
  Done done = done_.get();
  done.time.waited = waited + (monotonic_now() - began);
  for (const auto& [key, value] : done.record.members()) record.set(key, value);
  record.set("diagnosing", to_json(done.time));
  return done.time;
}

}  // namespace solstice::evaluate
