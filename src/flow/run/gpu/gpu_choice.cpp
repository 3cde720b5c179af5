#include "flow/run/gpu/gpu_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace solstice::flow {
namespace {

Error not_legal(std::string_view text, std::string_view why) {
  return fail(Code::bad_argument, fmt::format("--devices `{}`: {}", text, why),
              "legal are GPU numbers separated by commas, for example 0,1, and `all`");
}

std::string kind_text(const GpuKind& kind) {
  return fmt::format("{} with {} multiprocessors", kind.name, kind.multiprocessors);
}

std::string visible_text(size_t count) {
  return count == 1 ? "only GPU 0 is visible" : fmt::format("GPUs 0 to {} are visible", count - 1);
}

}  // namespace

std::string GpuChoice::text() const { return all ? "all" : fmt::format("{}", fmt::join(ordinals, ",")); }

Result<GpuChoice> parse_gpu_choice(std::string_view text) {
  GpuChoice out;
  out.all = text == "all";
  if (out.all) return out;
  if (text.empty()) return not_legal(text, "it is empty");
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    int ordinal = -1;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), ordinal);
    if (error != std::errc() || rest != part.data() + part.size() || ordinal < 0)
      return not_legal(text, fmt::format("`{}` is not a GPU number", part));
    if (std::find(out.ordinals.begin(), out.ordinals.end(), ordinal) != out.ordinals.end()) {
      return not_legal(text, fmt::format("GPU {} is named twice", ordinal));
    }
    out.ordinals.push_back(ordinal);
    at = end + 1;
  }
  return out;
}

Result<std::vector<int>> further_gpus(const GpuChoice& choice, int first, const std::vector<GpuKind>& visible) {
  if (!choice.given()) return std::vector<int>();
  std::vector<int> chosen = choice.ordinals;
  for (size_t i = 0; choice.all && i < visible.size(); ++i) chosen.push_back(static_cast<int>(i));
  for (const int ordinal : chosen) {
    if (static_cast<size_t>(ordinal) < visible.size()) continue;
    return fail(Code::no_gpu, fmt::format("--devices names GPU {}, and {}", ordinal, visible_text(visible.size())));
  }
  if (std::find(chosen.begin(), chosen.end(), first) == chosen.end()) {
    return fail(
        Code::no_gpu,
        fmt::format(
            "--devices has to include GPU {}, which holds the module: add it, or set CUDA_VISIBLE_DEVICES to choose "
            "the visible GPUs",
            first));
  }
  std::erase(chosen, first);
  for (const int ordinal : chosen) {
    const GpuKind &own = visible[static_cast<size_t>(ordinal)], &wanted = visible[static_cast<size_t>(first)];
    if (own == wanted) continue;
    return fail(Code::no_gpu,
                fmt::format("GPU {} is {}, GPU {} is {}: times are compared, so all of --devices must be of one model",
                            ordinal, kind_text(own), first, kind_text(wanted)));
  }
  return chosen;
}

}  // namespace solstice::flow
