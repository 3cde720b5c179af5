#include "families/gemm/config.h"

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

std::vector<std::pair<std::string, std::string>> GemmConfig::knobs() const {
  const Settings& s = settings;
  const auto number = [](int value) { return value == 0 ? std::string("auto") : std::to_string(value); };
  return {{"math", std::string(numerics::info(s.math).name)},
          {"tile", tile_text()},
          {"cluster", cluster_text()},
          {"stages", number(s.stages)},
          {"stream", std::string(name_of(s.stream))},
          {"split", std::to_string(s.split)},
          {"prepack", s.prepack ? "true" : "false"},
          {"schedule", schedule},
          {"epilogue", other_epilogue},
          {"scheduler", scheduler}};
}

std::string GemmConfig::tile_text() const {
  const Settings& s = settings;
  const bool is_own_k = s.math == Math::kSimt && s.tile_k == stage_k(Math::kSimt);
  return fmt::format("{}x{}{}", s.tile_m, s.tile_n, is_own_k ? "" : fmt::format("x{}", s.tile_k));
}

std::string GemmConfig::cluster_text() const {
  const Settings& s = settings;
  return s.cluster_k == 1 ? fmt::format("{}x{}", s.cluster, s.cluster_n)
                          : fmt::format("{}x{}x{}", s.cluster, s.cluster_n, s.cluster_k);
}

void GemmConfig::leave_tensor_cores() { set_math(*this, Math::kSimt); }

}  // namespace solstice::families::gemm
