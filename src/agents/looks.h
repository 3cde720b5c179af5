// Looking at code: an answer may ask for it in place of a candidate (`look`), which costs neither a repair nor a trial.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agents/prompts.h"
#include "base/json.h"

namespace solstice::agents {

inline constexpr size_t kMostLooks = 6;             // of a draft
inline constexpr int64_t kMostLookTokens = 1500;    // of what one finds
inline constexpr size_t kMostLookCharacters = 200;  // of a query, as it is repeated

// What code search has of a query, or of a range `PATH:FROM-TO`, in at most so many tokens; that there is nothing, or
// no such file, is what it has. Errors are those of the machine.
using Look = std::function<Result<std::string>(const std::string& query, int64_t most_tokens)>;

// `extra` with the member `look` before the others; the section that says so, at the end of `form`.
Json with_looks(const Json& extra);
Status add_looks(const Prompts& prompts, std::string& form);

// Of an answer by such a schema; those of blanks alone are left out.
std::vector<std::string> looks_of(const Json& answer);

// "### QUERY" and what was found, for each; at most `most_tokens` in all. Errors: those of `look`.
Result<std::string> looked_up(const Look& look, const std::vector<std::string>& queries, int64_t most_tokens);

}  // namespace solstice::agents
