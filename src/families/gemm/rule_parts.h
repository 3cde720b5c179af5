// The parts of the rules of `backend=lean`, and predicates that they share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "families/gemm/rules.h"

namespace solstice::families::gemm {

const std::string& name_of_operand(const GemmConfig& c, bool first);
std::string_view math_name(const GemmConfig& c);

bool is_simt(const GemmConfig& c);
bool is_streamed(const GemmConfig& c);
void stop_streaming(GemmConfig& c);
void set_math(GemmConfig& c, Math math);

std::string tile_text(const Settings& s);  // "128x128x64"; with `math=simt` without the k that goes without saying

using GemmRules = std::vector<Rule<GemmConfig>>;
void add_math_rules(GemmRules& rules);
void add_grouped_rules(GemmRules& rules);
void add_stream_rules(GemmRules& rules);

}  // namespace solstice::families::gemm
