// What the family's own kernels (kernels/gemm, `backend=lean`) can be told: their rules as data, for the checker, the
// settings that are searched, `solstice list rules` and docs/legality.md. Rules of tiles on the tensor cores are
// tensor_core/tile_rules.h's.
#pragma once

#include <string>
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
  // The fastest of some maths: whoever ranks settings (choice.h) tells, since ranking asks for the rules.
  Math (*fastest)(const Context&, const Problem&, const std::vector<Math>&) = nullptr;

  std::vector<std::pair<std::string, std::string>> knobs() const;

  // For tensor_core/tile_rules.h.
  const Settings& tile() const { return settings; }
  Settings& tile() { return settings; }
  bool is_tiled() const { return gemm::is_tiled(settings); }
  bool has_whole_rows() const { return problem->epilogue.resident.has_value(); }
  const Contraction& product() const { return problem->product; }
  const Epilogue& epilogue() const { return problem->epilogue; }
  int64_t shared_limit() const { return static_cast<int64_t>(context->machine.shared_per_block.value); }
  std::string cluster_text() const;
  std::string stages_text() const { return std::to_string(settings.stages); }
  void leave_tensor_cores();
};

const std::vector<Rule<GemmConfig>>& gemm_rules();

// Of settings that no kernel has asked for in words.
GemmConfig unwritten_config(const Context& context, const Problem& problem, const Settings& settings);
bool is_legal(const Context& context, const Problem& problem, const Settings& settings);

// Takes the knobs in that only `backend=cutlass` has.
void set_written(const ir::Knobs& knobs, GemmConfig& config);

}  // namespace solstice::families::gemm
