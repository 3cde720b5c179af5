// Labels of candidates' equations (Proposal::equations): "" the problem's own, "rewritten by ..." (those), "as trial 17
// has it".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "record/search_event.h"

namespace solstice::propose {

// Its equations and kernels are those of another trial, which somebody else wrote.
std::string as_trial(int node);
std::optional<int> trial_named(const std::string& label);

inline constexpr std::string_view kRewrittenBy = "rewritten by ";
bool is_rewritten(const std::string& label);

// The same for candidates whose equations are the same; those of a program that somebody else wrote are its own.
// `node`: its number.
std::string equations_key(const search::Proposal& proposal, int node);

}  // namespace solstice::propose
