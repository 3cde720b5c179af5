#include "property/kernels/sample.h"

#include <fmt/format.h>

#include <map>

#include "property/kernels/generators.h"

namespace solstice::random_kernels {
namespace {

// A family that is built gets its generator here.
const std::map<std::string_view, void (*)(Draft&)>& generators() {
  static const std::map<std::string_view, void (*)(Draft&)> table = {
      {"map", draft_map}, {"rows", draft_rows}, {"reduce", draft_reduce}, {"scan", draft_scan}, {"gemm", draft_gemm}};
  return table;
}

}  // namespace

Sizes sizes_of_device() { return {}; }
Sizes sizes_of_sanitizer() { return {20'000, 2'000'000, 8192}; }
Sizes sizes_of_host() { return {1500, 20'000, 1500}; }

std::string Sample::name() const { return fmt::format("{}{}", family, number); }

std::string Sample::text() const {
  return fmt::format("program {}\n{}\n{}kernel {} by {}({}) {{\n{}}}\n", name(), head, before, name(), family, knobs,
                     body);
}

const std::vector<std::string>& sampled_families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const auto& [name, draft] : generators()) out.emplace_back(name);
    return out;
  }();
  return names;
}

Sample make_sample(std::string_view family, uint64_t seed, uint64_t number, const Sizes& sizes) {
  Random random(seed_of(seed, family, number));
  Sample out;
  out.family = family;
  out.number = number;
  Draft draft(random, sizes, random.percent(50), out.name());
  generators().at(family)(draft);
  draft.finish();
  out.exact = draft.exact;
  out.head = draft.head;
  out.before = draft.before;
  out.body = draft.body;
  const bool casts = out.body.find("i64(") != std::string::npos;  // NaN fits no integer
  out.not_finite = draft.exact && !casts && family != "gemm" && random.percent(15);
  return out;
}

}  // namespace solstice::random_kernels
