#include "families/gemm/rules.h"

#include <algorithm>
#include <iterator>

#include "families/gemm/config.h"
#include "families/gemm/knobs.h"
#include "families/tensor_core/tile_rules.h"

namespace solstice::families::gemm {
namespace {

// The knobs that `backend=cutlass` alone has, with the values that leave them out.
constexpr std::pair<std::string GemmConfig::*, const char*> kForeignKnobs[] = {
    {&GemmConfig::schedule, "schedule"},
    {&GemmConfig::other_epilogue, "epilogue"},
    {&GemmConfig::scheduler, "scheduler"}};

const std::pair<std::string GemmConfig::*, const char*>* foreign_knob(const GemmConfig& c) {
  const auto found = std::find_if(std::begin(kForeignKnobs), std::end(kForeignKnobs),
                                  [&](const auto& k) { return c.*k.first != usual_value(k.second); });
  return found == std::end(kForeignKnobs) ? nullptr : found;
}

void add_schedule(GemmRules& rules) {
  rules.push_back(
      {"lean.schedule", "E116", Severity::kError,
       "`schedule`, `epilogue` and `scheduler` are knobs of `backend=cutlass`: `backend=lean` has one of each",
       [](const GemmConfig& c) { return foreign_knob(c) != nullptr; },
       [](const GemmConfig& c) {
         const auto* const knob = foreign_knob(c);
         return fmt::format("`{}={}` needs `backend=cutlass`, which is not built yet; leave `{}` out", knob->second,
                            c.*knob->first, knob->second);
       },
       [](GemmConfig& c) {
         for (const auto& [member, name] : kForeignKnobs) c.*member = usual_value(name);
       }});
}

void add_dual(GemmRules& rules) {
  rules.push_back({"lean.dual_form", "E117", Severity::kError,
                   "two sums that share an operand stream no operand, and `math=simt` has the tile 128x128 for them",
                   [](const GemmConfig& c) {
                     const Settings& s = c.settings;
                     return is_dual(*c.problem) && (is_streamed(c) || (is_simt(c) && s.tile_m == kSmallTile));
                   },
                   [](const GemmConfig& c) {
                     return is_streamed(c)
                                ? fmt::format("`stream={}` of two sums that share an operand",
                                              name_of(c.settings.stream))
                                : fmt::format("no kernel for `math=simt, tile={}` and two sums that share an operand",
                                              c.tile_text());
                   },
                   [](GemmConfig& c) {
                     stop_streaming(c);
                     if (is_simt(c)) c.settings.tile_m = c.settings.tile_n = 128;
                   }});
  rules.push_back(dual_tile_rule<GemmConfig>());
}

bool has_simt_tile(const Settings& s) {
  return s.tile_m == s.tile_n && (s.tile_m == 128 || s.tile_m == kSmallTile) && s.tile_k == stage_k(Math::kSimt);
}

void add_tile(GemmRules& rules) {
  rules.push_back(
      {"lean.simt_tile", "E111", Severity::kError, "`math=simt` has tiles 128x128 and 32x32, and a k of its own",
       [](const GemmConfig& c) { return is_simt(c) && !is_streamed(c) && !has_simt_tile(c.settings); },
       [](const GemmConfig& c) {
         return fmt::format("no kernel for `math=simt, tile={}`; legal: 128x128, 32x32", c.tile_text());
       },
       [](GemmConfig& c) {
         Settings& s = c.settings;
         s.tile_k = stage_k(Math::kSimt);
         s.tile_m = s.tile_n = nearest_of(std::initializer_list<int>{128, kSmallTile}, std::min(s.tile_m, s.tile_n));
       }});
  rules.push_back(tile_rule<GemmConfig>());
  rules.push_back(tile_k_rule<GemmConfig>());
}

void add_whole(GemmRules& rules) {
  rules.push_back(
      {"lean.whole_simt", "E111", Severity::kError, "a row-resident epilogue with `math=simt` has the tile 128x128",
       [](const GemmConfig& c) {
         return c.problem->epilogue.resident && is_simt(c) && !is_streamed(c) && c.settings.tile_m == kSmallTile;
       },
       [](const GemmConfig& c) {
         return fmt::format("no kernel for `math=simt, tile={}` with a row-resident epilogue", c.tile_text());
       },
       [](GemmConfig& c) { c.settings.tile_m = c.settings.tile_n = 128; }});
  rules.push_back(row_resident_rule<GemmConfig>());
}

void add_resources(GemmRules& rules) {
  rules.push_back(cluster_rule<GemmConfig>(
      "a cluster shares one operand between 1 or 2 blocks: 1x1, 2x1 or 1x2, unless the epilogue is row-resident"));
  rules.push_back(stages_rule<GemmConfig>());
  rules.push_back(shared_memory_rule<GemmConfig>());
  rules.push_back(
      {"lean.prepack", "E115", Severity::kError, "`prepack=true` needs frozen weights: it splits them once, at load",
       [](const GemmConfig& c) { return c.settings.prepack && !c.context->frozen; },
       [](const GemmConfig&) {
         return std::string("`prepack=true` splits weights once, at load; weights are live (`--weights frozen`)");
       },
       [](GemmConfig& c) { c.settings.prepack = false; }});
}

}  // namespace

const std::vector<Rule<GemmConfig>>& gemm_rules() {
  static const GemmRules rules = [] {
    GemmRules out;
    add_schedule(out);
    add_grouped_rules(out);
    add_dual(out);
    add_math_rules(out);
    add_stream_rules(out);
    add_tile(out);
    add_whole(out);
    add_resources(out);
    return out;
  }();
  return rules;
}

GemmConfig unwritten_config(const Context& context, const Problem& problem, const Settings& settings) {
  GemmConfig out;
  out.context = &context, out.problem = &problem, out.settings = settings;
  for (const auto& [member, name] : kForeignKnobs) out.*member = usual_value(name);
  return out;
}

void set_written(const ir::Knobs& knobs, GemmConfig& config) {
  for (const auto& [member, name] : kForeignKnobs) {
    const std::string written = knobs.name_or(name, "auto");
    if (written != "auto") config.*member = written;
  }
}

bool is_legal(const Context& context, const Problem& problem, const Settings& settings) {
  return first_broken(gemm_rules(), unwritten_config(context, problem, settings)) == nullptr;
}

}  // namespace solstice::families::gemm
