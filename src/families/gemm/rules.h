// What the family's own kernels (kernels/gemm, `backend=lean`) can be told: their rules as data, for the checker, the
// settings that are searched, `solstice list rules` and docs/legality.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "families/gemm/settings.h"
#include "families/rule.h"

namespace solstice::families::gemm {

struct LeanGemm {
  const Context* context = nullptr;
  const Problem* problem = nullptr;
  Settings settings;
  // As written: knobs that only `backend=cutlass` has.
  std::string schedule, epilogue, scheduler;

  std::vector<std::pair<std::string, std::string>> knobs() const;
};

const std::vector<Rule<LeanGemm>>& lean_rules();

LeanGemm lean_config(const Context& context, const ir::Kernel& kernel, const Problem& problem);
// Settings that no kernel has asked for in words.
bool is_legal(const Context& context, const Problem& problem, const Settings& settings);

}  // namespace solstice::families::gemm
