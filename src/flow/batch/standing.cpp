#include "flow/batch/standing.h"

#include <fmt/format.h>

#include <cmath>

namespace solstice::flow {
namespace {

template <typename T>
std::optional<T> readable(const std::filesystem::path& file) {
  Result<std::optional<T>> read = read_if_there<T>(file);
  return read.ok() ? std::move(*read) : std::nullopt;
}

}  // namespace

std::optional<BatchResult> standing_result(const std::filesystem::path& folder, const Batch& batch,
                                           const BatchCandidate& candidate, bool predicting, int& predictions) {
  std::optional<BatchResult> out = readable<BatchResult>(result_file(folder, candidate.node));
  const bool own = out && out->batch == batch.id && out->request == candidate.request && out->hash == candidate.hash;
  if (!own) return std::nullopt;
  const bool predicted = out->measurement.state == TrialState::kPredicted;
  predictions += predicted ? 1 : 0;
  return predicted && !predicting ? std::nullopt : out;
}

std::optional<BatchOriginal> standing_original(const std::filesystem::path& folder, const Batch& batch,
                                               bool predicting) {
  std::optional<BatchOriginal> out = readable<BatchOriginal>(original_file(folder));
  if (!out || out->batch != batch.id) return std::nullopt;
  const bool timed = !out->predicted && std::isfinite(out->time.value) && out->time.value > 0;
  return timed || (out->predicted && predicting) ? out : std::nullopt;
}

std::string differing_versions(const std::map<std::string, std::string>& some,
                               const std::map<std::string, std::string>& others) {
  std::string out;
  for (const char* what : {"driver", "torch", "build"}) {
    const auto one = some.find(what), other = others.find(what);
    if (one == some.end() || other == others.end() || one->second == other->second) continue;
    out += fmt::format("{}{} {} and {}", out.empty() ? "" : ", ", what, one->second, other->second);
  }
  return out;
}

}  // namespace solstice::flow
