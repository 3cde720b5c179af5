#include "search/overlapped.h"

#include <algorithm>

#include "base/clock.h"

namespace solstice::search {
namespace {

constexpr Seconds kGlance{0.005};  // between looks whether the next trial is compiled

}  // namespace

void Overlapped::start(const Node& node) {
  if (std::find(started_.begin(), started_.end(), node.id) != started_.end()) return;
  started_.push_back(node.id);
  begin(node);
}

// False: there is none to measure now.
bool Overlapped::measure_next() {
  const size_t next = measured_.size();
  if (next >= started_.size() || !measured_.back().ok() || is_asked(over_) || !ready(started_[next])) return false;
  measured_.push_back(measure(started_[next]));
  return true;
}

// Seconds in which there was none to measure.
Seconds Overlapped::measure_until_concluded(int node) {
  Seconds waited;
  bool done = concluded(node, Seconds(0));
  while (!done) {
    const Seconds began = monotonic_now();
    const bool measured = measure_next();
    done = concluded(node, measured ? Seconds(0) : kGlance);
    if (!measured) waited += monotonic_now() - began;
  }
  return waited;
}

Result<Landed> Overlapped::land() {
  if (started_.empty()) return fail(Code::internal, "a trial was waited for that was never started");
  const int node = started_.front();
  if (measured_.empty()) measured_.push_back(measure(node));
  const Seconds waited = measured_.front().ok() ? measure_until_concluded(node) : Seconds(0);
  Result<Measurement> out = std::move(measured_.front());
  measured_.pop_front();
  started_.pop_front();
  if (!out.ok()) return std::move(out).error();
  conclude(node, waited, *out);
  return Landed{node, std::move(*out)};
}

}  // namespace solstice::search
