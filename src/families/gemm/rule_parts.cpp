#include "families/gemm/rule_parts.h"

#include <fmt/format.h>

namespace solstice::families::gemm {

const std::string& name_of_operand(const GemmConfig& c, bool first) {
  return c.context->program.tensor(first ? c.product().a.tensor : c.product().b.tensor).name;
}
std::string_view math_name(const GemmConfig& c) { return numerics::info(c.settings.math).name; }

bool is_simt(const GemmConfig& c) { return c.settings.math == Math::kSimt; }
bool is_streamed(const GemmConfig& c) { return c.settings.stream != Streamed::kNone; }
void stop_streaming(GemmConfig& c) { c.settings.stream = Streamed::kNone, c.settings.split = 1; }

void set_math(GemmConfig& c, Math math) {
  Settings& s = c.settings;
  const bool simt = math == Math::kSimt;
  if (simt != (s.math == Math::kSimt)) s.tile_m = s.tile_n = 128;
  if (simt) s.cluster = s.cluster_n = 1, s.stages = 0;
  s.math = math;
  s.tile_k = stage_k(math);
  s.scaled = is_scaled(math, *c.problem);
}

std::string tile_text(const Settings& s) {
  const bool is_own_k = s.math == Math::kSimt && s.tile_k == stage_k(Math::kSimt);
  return fmt::format("{}x{}{}", s.tile_m, s.tile_n, is_own_k ? "" : fmt::format("x{}", s.tile_k));
}

}  // namespace solstice::families::gemm
