#include "families/gemm/rules.h"

#include <algorithm>
#include <cstdlib>

#include "families/gemm/cost.h"
#include "families/gemm/grouped.h"
#include "families/gemm/rule_parts.h"
#include "families/written_math.h"
#include "numerics/policy.h"

namespace solstice::families::gemm {

const Contraction& product_of(const LeanGemm& c) { return c.problem->product; }
const std::string& name_of_operand(const LeanGemm& c, bool first) {
  return c.context->program.tensor(first ? product_of(c).a.tensor : product_of(c).b.tensor).name;
}
std::string_view math_name(const LeanGemm& c) { return numerics::info(c.settings.math).name; }

bool is_simt(const LeanGemm& c) { return c.settings.math == Math::kSimt; }
bool is_tiled(const LeanGemm& c) { return is_tiled(c.settings); }
bool is_streamed(const LeanGemm& c) { return c.settings.stream != Streamed::kNone; }
void stop_streaming(LeanGemm& c) { c.settings.stream = Streamed::kNone, c.settings.split = 1; }

namespace {

Major major_a(const LeanGemm& c) { return major_of(product_of(c).a, product_of(c).m, product_of(c).k); }
Major major_b(const LeanGemm& c) { return major_of(product_of(c).b, product_of(c).n, product_of(c).k); }
bool contiguous(const LeanGemm& c) { return major_a(c) != Major::kNone && major_b(c) != Major::kNone; }
bool along_k(const LeanGemm& c) { return major_a(c) == Major::kK && major_b(c) == Major::kK; }
bool as_stored(const LeanGemm& c, bool first) {
  return copies_directly(first ? product_of(c).a : product_of(c).b, first ? major_a(c) : major_b(c));
}

int64_t shared_limit(const LeanGemm& c) { return static_cast<int64_t>(c.context->machine.shared_per_block.value); }

std::vector<Math> allowed(const LeanGemm& c) {
  std::vector<Math> out = allowed_maths(*c.context, *c.problem);
  out.erase(std::remove_if(out.begin(), out.end(), [](Math math) { return !is_built(math); }), out.end());
  return out;
}

void set_math(LeanGemm& c, Math math) {
  Settings& s = c.settings;
  const bool simt = math == Math::kSimt;
  if (simt != (s.math == Math::kSimt)) s.tile_m = s.tile_n = 128;
  if (simt) s.cluster = s.cluster_n = 1, s.stages = 0;
  s.math = math;
  s.tile_k = stage_k(math);
  s.scaled = is_scaled(math, *c.problem);
}

// The knobs that `backend=cutlass` alone has, with the values that leave them out.
constexpr std::pair<std::string LeanGemm::*, const char*> kForeignKnobs[] = {
    {&LeanGemm::schedule, "schedule"}, {&LeanGemm::epilogue, "epilogue"}, {&LeanGemm::scheduler, "scheduler"}};

const std::pair<std::string LeanGemm::*, const char*>* foreign_knob(const LeanGemm& c) {
  const auto found = std::find_if(std::begin(kForeignKnobs), std::end(kForeignKnobs),
                                  [&](const auto& k) { return c.*k.first != usual_value(k.second); });
  return found == std::end(kForeignKnobs) ? nullptr : found;
}

void add_schedule(LeanRules& rules) {
  rules.push_back({"lean.schedule", "E116", Severity::kError,
                   "`schedule`, `epilogue` and `scheduler` are of `backend=cutlass`: `backend=lean` has one of each",
                   [](const LeanGemm& c) { return foreign_knob(c) != nullptr; },
                   [](const LeanGemm& c) {
                     const auto* const knob = foreign_knob(c);
                     return fmt::format("`{}={}` is of `backend=cutlass`, which is not built yet; leave `{}` out",
                                        knob->second, c.*knob->first, knob->second);
                   },
                   [](LeanGemm& c) {
                     for (const auto& [member, name] : kForeignKnobs) c.*member = usual_value(name);
                   }});
}

void add_math(LeanRules& rules) {
  rules.push_back({"lean.math", "E110", Severity::kError,
                   "`math` is at least as accurate as `numerics` asks for the operands' format",
                   [](const LeanGemm& c) {
                     const std::vector<Math> maths = allowed(c);
                     return std::find(maths.begin(), maths.end(), c.settings.math) == maths.end();
                   },
                   [](const LeanGemm& c) {
                     return less_accurate(c.settings.math, allowed(c), operand_dtype(*c.problem), c.context->numerics);
                   },
                   [](LeanGemm& c) { set_math(c, best_settings(*c.context, *c.problem, allowed(c)).math); }});
  rules.push_back({"lean.contiguous", "E114", Severity::kError,
                   "tensor cores and streams take operands that are contiguous in their lines or in k; `math=simt` "
                   "reads any strides",
                   [](const LeanGemm& c) { return (!is_simt(c) || is_streamed(c)) && !contiguous(c); },
                   [](const LeanGemm& c) {
                     return fmt::format("`math={}`: operand `{}` is contiguous in neither its rows nor `k`",
                                        math_name(c), name_of_operand(c, major_a(c) == Major::kNone));
                   },
                   [](LeanGemm& c) { set_math(c, Math::kSimt), stop_streaming(c); }});
  rules.push_back(
      {"lean.as_stored", "E114", Severity::kError,
       "`math=fp8` takes both operands as they lie: contiguous along k, base, lines and batches at multiples of 16 "
       "bytes",
       [](const LeanGemm& c) { return c.settings.math == Math::kFP8 && !(as_stored(c, true) && as_stored(c, false)); },
       [](const LeanGemm& c) {
         const bool first = !as_stored(c, true);
         const bool turned = (first ? major_a(c) : major_b(c)) != Major::kK;
         return fmt::format("`math=fp8` takes operands as they lie, and {} of `{}` {}",
                            turned ? "`k`" : "base, lines or batches", name_of_operand(c, first),
                            turned ? "is not contiguous" : "are not at multiples of 16 bytes");
       },
       [](LeanGemm& c) { set_math(c, Math::kSimt), stop_streaming(c); }});
  rules.push_back({"lean.along_k", "E114", Severity::kError, "TF32 takes both operands contiguous along k",
                   [](const LeanGemm& c) { return !is_simt(c) && element_bytes(c.settings.math) == 4 && !along_k(c); },
                   [](const LeanGemm& c) {
                     return fmt::format("`math={}` needs both operands contiguous along `k`; `{}` is not", math_name(c),
                                        name_of_operand(c, major_a(c) != Major::kK));
                   },
                   [](LeanGemm& c) {
                     const std::vector<Math> maths = allowed(c);
                     const auto other = std::find_if(maths.begin(), maths.end(),
                                                     [](Math m) { return m != Math::kSimt && element_bytes(m) == 2; });
                     set_math(c, other == maths.end() ? Math::kSimt : *other);
                   }});
}

std::string lean_cluster(const Settings& s) {
  return s.cluster_k == 1 ? fmt::format("{}x{}", s.cluster, s.cluster_n)
                          : fmt::format("{}x{}x{}", s.cluster, s.cluster_n, s.cluster_k);
}

bool is_known_tile(const Settings& s) {
  return std::any_of(tiles().begin(), tiles().end(), [&](Tile t) { return t.m == s.tile_m && t.n == s.tile_n; });
}

// "128x128x64"; with `math=simt` the k that goes without saying is left out.
std::string tile_text(const Settings& s) {
  const bool is_own_k = s.math == Math::kSimt && s.tile_k == stage_k(Math::kSimt);
  return fmt::format("{}x{}{}", s.tile_m, s.tile_n, is_own_k ? "" : fmt::format("x{}", s.tile_k));
}

bool has_simt_tile(const Settings& s) {
  return s.tile_m == s.tile_n && (s.tile_m == 128 || s.tile_m == kSmallTile) && s.tile_k == stage_k(Math::kSimt);
}

void add_tile(LeanRules& rules) {
  rules.push_back(
      {"lean.simt_tile", "E111", Severity::kError, "`math=simt` has tiles 128x128 and 32x32, and a k of its own",
       [](const LeanGemm& c) { return is_simt(c) && !is_streamed(c) && !has_simt_tile(c.settings); },
       [](const LeanGemm& c) {
         return fmt::format("no kernel for `math=simt, tile={}`; legal: 128x128, 32x32", tile_text(c.settings));
       },
       [](LeanGemm& c) {
         Settings& s = c.settings;
         s.tile_k = stage_k(Math::kSimt);
         s.tile_m = s.tile_n = nearest_of(std::initializer_list<int>{128, kSmallTile}, std::min(s.tile_m, s.tile_n));
       }});
  rules.push_back(
      {"lean.tile", "E111", Severity::kError, "tiles are 128x256, 128x128, 128x64, 64x256, 64x128 and 64x64",
       [](const LeanGemm& c) { return is_tiled(c) && !is_known_tile(c.settings); },
       [](const LeanGemm& c) {
         return fmt::format("no kernel for `tile={}x{}`; legal: {}", c.settings.tile_m, c.settings.tile_n, tile_list());
       },
       [](LeanGemm& c) {
         Settings& s = c.settings;
         const auto apart = [&](Tile t) { return std::abs(t.m - s.tile_m) + std::abs(t.n - s.tile_n); };
         const Tile nearest =
             *std::min_element(tiles().begin(), tiles().end(), [&](Tile a, Tile b) { return apart(a) < apart(b); });
         s.tile_m = nearest.m, s.tile_n = nearest.n;
       }});
  rules.push_back({"lean.tile_k", "E111", Severity::kError,
                   "k of a tile is that of a stage: 128 bytes of an operand's plane",
                   [](const LeanGemm& c) { return is_tiled(c) && c.settings.tile_k != stage_k(c.settings.math); },
                   [](const LeanGemm& c) {
                     return fmt::format("`tile` with k {}: a stage of `math={}` holds {} k (128 bytes)",
                                        c.settings.tile_k, math_name(c), stage_k(c.settings.math));
                   },
                   [](LeanGemm& c) { c.settings.tile_k = stage_k(c.settings.math); }});
}

GroupedLayout grouped_layout_of(const LeanGemm& c) {
  return grouped_layout(c.settings, product_of(c).grouping.groups, shared_limit(c));
}

// Of two sums that share A, tiles of either have half of the columns.
void add_dual(LeanRules& rules) {
  rules.push_back({"lean.dual_form", "E117", Severity::kError,
                   "two sums that share an operand stream no operand, and `math=simt` has the tile 128x128 for them",
                   [](const LeanGemm& c) {
                     const Settings& s = c.settings;
                     return is_dual(*c.problem) && (is_streamed(c) || (is_simt(c) && s.tile_m == kSmallTile));
                   },
                   [](const LeanGemm& c) {
                     return is_streamed(c)
                                ? fmt::format("`stream={}` of two sums that share an operand",
                                              name_of(c.settings.stream))
                                : fmt::format("no kernel for `math=simt, tile={}` and two sums that share an operand",
                                              tile_text(c.settings));
                   },
                   [](LeanGemm& c) {
                     stop_streaming(c);
                     if (is_simt(c)) c.settings.tile_m = c.settings.tile_n = 128;
                   }});
  rules.push_back({"lean.dual_tile", "E111", Severity::kError,
                   "tiles of two sums that share an operand have 128 or 256 columns, half of them of either sum",
                   [](const LeanGemm& c) {
                     return is_dual(*c.problem) && is_tiled(c) && is_known_tile(c.settings) && c.settings.tile_n < 128;
                   },
                   [](const LeanGemm& c) {
                     return fmt::format("no kernel for `tile={}x{}` and two sums that share an operand",
                                        c.settings.tile_m, c.settings.tile_n);
                   },
                   [](LeanGemm& c) { c.settings.tile_n = 128; }});
}

void add_grouped(LeanRules& rules) {
  rules.push_back(
      {"lean.grouped_math", "E110", Severity::kError, "grouped products multiply operands of 16 bits as they are",
       [](const LeanGemm& c) { return is_grouped(*c.problem) && c.settings.math != grouped_math(*c.problem); },
       [](const LeanGemm& c) {
         return fmt::format("`math={}`: grouped products multiply their operands as they are", math_name(c));
       },
       [](LeanGemm& c) { set_math(c, grouped_math(*c.problem)), stop_streaming(c); }});
  rules.push_back(
      {"lean.grouped_stream", "E117", Severity::kError,
       "grouped products stream no operand, and split their last tiles by themselves",
       [](const LeanGemm& c) { return is_grouped(*c.problem) && (is_streamed(c) || c.settings.split != 1); },
       [](const LeanGemm& c) {
         return is_streamed(c) ? fmt::format("`stream={}` of a grouped product", name_of(c.settings.stream))
                               : fmt::format("`split={}` of a grouped product", c.settings.split);
       },
       stop_streaming});
  rules.push_back({"lean.grouped_tile", "E111", Severity::kError, "tiles of grouped products are 128x256 and 128x128",
                   [](const LeanGemm& c) {
                     const auto& known = grouped_tiles();
                     const auto same = [&](Tile t) { return t.m == c.settings.tile_m && t.n == c.settings.tile_n; };
                     return is_grouped(*c.problem) && std::none_of(known.begin(), known.end(), same);
                   },
                   [](const LeanGemm& c) {
                     return fmt::format("no grouped kernel for `tile={}x{}`; legal: 128x256, 128x128",
                                        c.settings.tile_m, c.settings.tile_n);
                   },
                   [](LeanGemm& c) {
                     c.settings.tile_m = 128;
                     c.settings.tile_n = c.settings.tile_n < 192 ? 128 : 256;
                   }});
  rules.push_back(
      {"lean.grouped_shared", "E113", Severity::kError,
       "the ring of a grouped product has 2 to 8 slots, which fit a block's shared memory beside staging and groups",
       [](const LeanGemm& c) {
         const GroupedLayout layout = grouped_layout_of(c);
         return is_grouped(*c.problem) &&
                (layout.slots < 2 || layout.slots > 8 || layout.shared_bytes > shared_limit(c));
       },
       [](const LeanGemm& c) {
         const GroupedLayout layout = grouped_layout_of(c);
         return fmt::format("shared memory: {} slots take {} > {}", layout.slots, kib(layout.shared_bytes),
                            kib(shared_limit(c)));
       },
       [](LeanGemm& c) { c.settings.stages = 0; }});
}

// The least power of two of blocks that has a row's columns; 0: no cluster has.
int row_blocks(const LeanGemm& c, int tile_n) {
  int blocks = 1;
  while (blocks <= kMostRowBlocks && int64_t{tile_n} * blocks < product_of(c).n) blocks *= 2;
  const bool fits = blocks == 1 || static_cast<int>(c.problem->whole->most_at_once()) * blocks <= kMostExchanged;
  return blocks <= kMostRowBlocks && fits ? blocks : 0;
}

void add_whole(LeanRules& rules) {
  rules.push_back({"lean.whole_simt", "E111", Severity::kError,
                   "elements that need their row's results: `math=simt` has the tile 128x128 for them",
                   [](const LeanGemm& c) {
                     return c.problem->whole && is_simt(c) && !is_streamed(c) && c.settings.tile_m == kSmallTile;
                   },
                   [](const LeanGemm& c) {
                     return fmt::format("no kernel for `math=simt, tile={}` and elements that need their row's results",
                                        tile_text(c.settings));
                   },
                   [](LeanGemm& c) { c.settings.tile_m = c.settings.tile_n = 128; }});
  rules.push_back({"lean.whole_rows", "E112", Severity::kError,
                   "elements that need their row's results: a tile, or the least of 2, 4 and 8 blocks along N, holds "
                   "whole rows, and what a sweep over "
                   "them finds times the blocks is at most 15",
                   [](const LeanGemm& c) {
                     const Settings& s = c.settings;
                     return c.problem->whole && is_tiled(c) &&
                            (s.cluster != 1 || s.cluster_k != 1 || s.cluster_n != row_blocks(c, s.tile_n));
                   },
                   [](const LeanGemm& c) {
                     return fmt::format(
                         "`tile={}x{}, cluster={}`: elements need their row's results, and rows have {} columns",
                         c.settings.tile_m, c.settings.tile_n, lean_cluster(c.settings), product_of(c).n);
                   },
                   [](LeanGemm& c) {
                     Settings& s = c.settings;
                     s.cluster = s.cluster_k = 1;
                     while (s.tile_n < 256 && row_blocks(c, s.tile_n) == 0) s.tile_n *= 2;
                     s.cluster_n = row_blocks(c, s.tile_n);
                     if (s.cluster_n == 0) set_math(c, Math::kSimt);
                   }});
}

void add_resources(LeanRules& rules) {
  rules.push_back({"lean.cluster", "E112", Severity::kError,
                   "one operand is shared, by 1 or 2 blocks: 1x1, 2x1 or 1x2, where no whole rows are needed",
                   [](const LeanGemm& c) {
                     const Settings& s = c.settings;
                     return is_tiled(c) && !c.problem->whole &&
                            (s.cluster < 1 || s.cluster_n < 1 || s.cluster * s.cluster_n > 2 || s.cluster_k != 1);
                   },
                   [](const LeanGemm& c) {
                     return fmt::format("`cluster={}`: one operand is shared, by 1 or 2 blocks",
                                        lean_cluster(c.settings));
                   },
                   [](LeanGemm& c) {
                     Settings& s = c.settings;
                     if (s.cluster * s.cluster_n != 2) s.cluster = 2, s.cluster_n = 1;
                     s.cluster_k = 1;
                   }});
  rules.push_back({"lean.stages", "E113", Severity::kError, "a ring has 2 to 8 slots",
                   [](const LeanGemm& c) {
                     return is_tiled(c) && c.settings.stages != 0 && (c.settings.stages < 2 || c.settings.stages > 8);
                   },
                   [](const LeanGemm& c) {
                     return fmt::format("`stages={}`: a ring needs 2 slots, and 8 is the most", c.settings.stages);
                   },
                   [](LeanGemm& c) { c.settings.stages = std::clamp(c.settings.stages, 2, 8); }});
  rules.push_back({"lean.shared", "E113", Severity::kError,
                   "the rings, the staging of results, scales and barriers fit the shared memory of a block",
                   [](const LeanGemm& c) {
                     return is_tiled(c) && layout_of(c.settings, shared_limit(c)).bytes() > shared_limit(c);
                   },
                   [](const LeanGemm& c) {
                     return fmt::format("shared memory: {} > {}", layout_of(c.settings, shared_limit(c)).text(),
                                        kib(shared_limit(c)));
                   },
                   [](LeanGemm& c) {
                     Settings& s = c.settings;
                     while (s.stages > 2 && layout_of(s, shared_limit(c)).bytes() > shared_limit(c)) --s.stages;
                     if (layout_of(s, shared_limit(c)).bytes() > shared_limit(c))
                       s.tile_m = 64, s.tile_n = std::min(s.tile_n / 2, 128);
                   }});
  rules.push_back(
      {"lean.prepack", "E115", Severity::kError, "`prepack=true` needs frozen weights: it splits them once, at load",
       [](const LeanGemm& c) { return c.settings.prepack && !c.context->frozen; },
       [](const LeanGemm&) {
         return std::string("`prepack=true` splits weights once, at load; weights are live (`--weights frozen`)");
       },
       [](LeanGemm& c) { c.settings.prepack = false; }});
}

}  // namespace

std::vector<std::pair<std::string, std::string>> LeanGemm::knobs() const {
  const Settings& s = settings;
  const auto number = [](int value) { return value == 0 ? std::string("auto") : std::to_string(value); };
  return {{"math", std::string(numerics::info(s.math).name)},
          {"tile", tile_text(s)},
          {"cluster", lean_cluster(s)},
          {"stages", number(s.stages)},
          {"stream", std::string(name_of(s.stream))},
          {"split", std::to_string(s.split)},
          {"prepack", s.prepack ? "true" : "false"},
          {"schedule", schedule},
          {"epilogue", epilogue},
          {"scheduler", scheduler}};
}

const std::vector<Rule<LeanGemm>>& lean_rules() {
  static const LeanRules rules = [] {
    LeanRules out;
    add_schedule(out);
    add_grouped(out);
    add_dual(out);
    add_math(out);
    add_stream_rules(out);
    add_tile(out);
    add_whole(out);
    add_resources(out);
    return out;
  }();
  return rules;
}

LeanGemm lean_config(const Context& context, const ir::Kernel& kernel, const Problem& problem) {
  LeanGemm out{&context, &problem, settings_of(context, kernel, problem), {}, {}, {}};
  for (const auto& [member, name] : kForeignKnobs) {
    const std::string written = kernel.knobs.name_or(name, "auto");
    out.*member = written == "auto" ? usual_value(name) : written;
  }
  return out;
}

bool is_legal(const Context& context, const Problem& problem, const Settings& settings) {
  LeanGemm config{&context, &problem, settings, {}, {}, {}};
  for (const auto& [member, name] : kForeignKnobs) config.*member = usual_value(name);
  return first_broken(lean_rules(), config) == nullptr;
}

}  // namespace solstice::families::gemm
