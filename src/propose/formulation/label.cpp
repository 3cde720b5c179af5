#include "propose/formulation/label.h"

#include <fmt/format.h>

#include <string_view>

namespace solstice::propose {
namespace {

constexpr std::string_view kAsTrial = "as trial ", kHasIt = " has it";

}  // namespace

std::string as_trial(int node) { return fmt::format("{}{}{}", kAsTrial, node, kHasIt); }

std::optional<int> trial_named(const std::string& label) {
  if (!label.starts_with(kAsTrial) || !label.ends_with(kHasIt) || label.size() <= kAsTrial.size() + kHasIt.size())
    return std::nullopt;
  const std::string number = label.substr(kAsTrial.size(), label.size() - kAsTrial.size() - kHasIt.size());
  if (number.find_first_not_of("0123456789") != number.npos || number.size() > 9) return std::nullopt;
  return std::stoi(number);
}

bool is_rewritten(const std::string& label) { return label.starts_with(kRewrittenBy); }

std::string equations_key(const search::Proposal& proposal, int node) {
  const bool own = node > 0 && proposal.settings.empty() && proposal.equations.empty();
  return own ? as_trial(node) : proposal.equations;
}

}  // namespace solstice::propose
