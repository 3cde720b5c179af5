// The configuration that the rules of `backend=lean` judge and mend, predicates that they share, and the groups that
// they come in (rules.h has all).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "families/gemm/settings.h"
#include "families/rule.h"

namespace solstice::families::gemm {

struct GemmConfig {
  const Context* context = nullptr;
  const Problem* problem = nullptr;
  Settings settings;
  // Knobs that only `backend=cutlass` has, as written.
  std::string schedule, other_epilogue, scheduler;
  // The fastest of some maths: the ranking (choice.h) sets it, since it asks for the rules itself.
  Math (*fastest)(const Context&, const Problem&, const std::vector<Math>&) = nullptr;

  std::vector<std::pair<std::string, std::string>> knobs() const;

  // For tensor_core/tile_rules.h.
  const Settings& tile() const { return settings; }
  Settings& tile() { return settings; }
  bool is_tiled() const { return gemm::is_tiled(settings); }
  bool is_row_resident() const { return problem->epilogue.resident.has_value(); }
  const Contraction& product() const { return problem->product; }
  const Epilogue& epilogue() const { return problem->epilogue; }
  int64_t shared_limit() const { return static_cast<int64_t>(context->machine.shared_per_block.value); }
  std::string cluster_text() const;
  std::string stages_text() const { return std::to_string(settings.stages); }
  void leave_tensor_cores();

  std::string tile_text() const;  // "128x128x64"; with `math=simt` without the k that goes without saying
};

const std::string& name_of_operand(const GemmConfig& c, bool first);
std::string_view math_name(const GemmConfig& c);

bool is_simt(const GemmConfig& c);
bool is_streamed(const GemmConfig& c);
void stop_streaming(GemmConfig& c);
void set_math(GemmConfig& c, Math math);

using GemmRules = std::vector<Rule<GemmConfig>>;
void add_math_rules(GemmRules& rules);
void add_grouped_rules(GemmRules& rules);
void add_stream_rules(GemmRules& rules);

}  // namespace solstice::families::gemm
