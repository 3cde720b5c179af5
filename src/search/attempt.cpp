#include "search/attempt.h"

#include <algorithm>

namespace solstice::search {
namespace {

// What ends an attempt, whoever made it.
bool ends(const Event& event) {
  using Kind = Event::Kind;
  return event.kind == Kind::kProposed || event.kind == Kind::kSkipped || event.kind == Kind::kSpent;
}

// Before event number `end`, from one node, back to the end of another attempt.
std::vector<const Proposal*> turns_before(const std::vector<Event>& events, size_t end) {
  std::vector<const Proposal*> out;
  for (size_t i = end; i-- > 0 && !ends(events[i]);) {
    if (events[i].kind != Event::Kind::kNoted) continue;
    if (!out.empty() && out.back()->parent != events[i].node) break;
    out.push_back(&*events[i].proposal);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<const Proposal*> open_turns(const Tree& tree) { return turns_before(tree.events(), tree.events().size()); }

std::optional<Decision> open_decision(const Tree& tree) {
  const std::vector<const Proposal*> turns = open_turns(tree);
  if (turns.empty()) return std::nullopt;
  return Decision{turns.back()->parent, false, turns.back()->precision};
}

std::vector<const Proposal*> turns_of(const Tree& tree, int node) {
  const std::vector<Event>& events = tree.events();
  const auto made = std::find_if(events.begin(), events.end(), [&](const Event& event) {
    return event.kind == Event::Kind::kProposed && event.node == node;
  });
  std::vector<const Proposal*> out = turns_before(events, static_cast<size_t>(made - events.begin()));
  if (made == events.end() || out.empty()) return {};
  // Somebody else may have gone on from there.
  const bool theirs = made->proposal->by_model() && out.back()->parent == made->proposal->parent;
  return theirs ? out : std::vector<const Proposal*>();
}

}  // namespace solstice::search
