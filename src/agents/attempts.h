// Attempts in words: what a language model is told of the nodes of a tree.
#pragma once

#include <string>
#include <vector>

#include "agents/briefing.h"
#include "search/tree.h"

namespace solstice::agents {

// "the problem itself", "attempt 7".
std::string name_of(const search::Node& node);
// "attempt 7, by the expert"; the model's own have no author.
std::string name_with_author(const search::Node& node);

// "verified: 46.9 us, 1.53x as fast as the original, 1.21 times the bound `practical`; the best so far", with what
// Briefing::feedback asks for below it; why it failed; that it is under way.
std::string result_text(const search::Tree& tree, const search::Node& node, const Briefing& briefing);

// "attempt 7, by the expert, from attempt 3: REASON".
std::string title_text(const search::Tree& tree, const search::Node& node);
// The attempt and its result, without feedback.
std::string summary_text(const search::Tree& tree, const search::Node& node, const Briefing& briefing);

// The feedback that Briefing::feedback asks for, a line each.
std::vector<std::string> feedback_of(const search::Node& node, const Briefing& briefing);
// The summary, and what it changes in the program that it was made from, as a diff.
std::string attempt_text(const search::Tree& tree, const search::Node& node, const Briefing& briefing);

// "4 of 12 attempts are left, this one included."
std::string left_text(const Briefing& briefing, int done);

}  // namespace solstice::agents
