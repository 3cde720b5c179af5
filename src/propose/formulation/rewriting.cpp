#include "propose/formulation/rewriting.h"

#include <fmt/format.h>

#include <algorithm>

#include "propose/formulation/label.h"

namespace solstice::propose {
namespace {

constexpr size_t kMostRewritten = 60;  // equations
constexpr size_t kMostSteps = 8, kMostPlaces = 12;

// The equation of the program that a step is applied at; -1: there is none.
int equation_at(const ir::Program& program, const RewriteStep& step) {
  int piece = 0;
  for (size_t e = 0; e < program.equations.size(); ++e) {
    if (program.target_of(program.equations[e]).name == step.target && piece++ == step.piece)
      return static_cast<int>(e);
  }
  return -1;
}

// "factor_sums at `z`" or "factor_sums at piece 2 of `z`".
std::optional<RewriteStep> step_named(std::string_view text) {
  constexpr std::string_view kAt = " at ", kPiece = "piece ", kOf = " of ";
  const size_t at = text.find(kAt), open = text.find('`'), close = text.rfind('`');
  if (at == text.npos || open == text.npos || close != text.size() - 1 || close <= open + 1) return std::nullopt;
  RewriteStep out{ir::find_rewrite(text.substr(0, at)), std::string(text.substr(open + 1, close - open - 1)), 0};
  std::string_view where = text.substr(at + kAt.size(), open - at - kAt.size());
  if (where.starts_with(kPiece) && where.ends_with(kOf)) {
    const std::string number(where.substr(kPiece.size(), where.size() - kPiece.size() - kOf.size()));
    if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != number.npos)
      return std::nullopt;
    out.piece = std::stoi(number) - 1;
    where = {};
  }
  return out.rewrite && where.empty() && out.piece >= 0 ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::string RewriteStep::text() const {
  return piece == 0 ? fmt::format("{} at `{}`", rewrite->name, target)
                    : fmt::format("{} at piece {} of `{}`", rewrite->name, piece + 1, target);
}

RewriteStep step_of(const ir::Site& site) { return {site.rewrite, site.target, site.piece}; }

std::string label_of(const std::vector<RewriteStep>& steps) {
  std::string out;
  for (const RewriteStep& step : steps)
    out += (out.empty() ? kRewrittenBy : std::string_view(", ")), out += step.text();
  return out;
}

std::optional<std::vector<RewriteStep>> steps_named(const std::string& label) {
  if (!is_rewritten(label)) return std::nullopt;
  std::vector<RewriteStep> out;
  for (std::string_view left = std::string_view(label).substr(kRewrittenBy.size());;) {
    const size_t end = left.find(", ");
    std::optional<RewriteStep> step = step_named(left.substr(0, end));
    if (!step) return std::nullopt;
    out.push_back(std::move(*step));
    if (end == left.npos) return out;
    left.remove_prefix(end + 2);
  }
}

bool keeps_nonfinite(const std::string& label) {
  if (!is_rewritten(label)) return true;
  for (std::string_view left = std::string_view(label).substr(kRewrittenBy.size());;) {
    const size_t end = left.find(", ");
    const std::string_view step = left.substr(0, end);
    const ir::Rewrite* rewrite = ir::find_rewrite(step.substr(0, step.find(' ')));
    if (!rewrite || !rewrite->keeps_nonfinite) return false;
    if (end == left.npos) return true;
    left.remove_prefix(end + 2);
  }
}

std::string unordered(const std::string& label) {
  std::vector<RewriteStep> steps = steps_named(label).value_or(std::vector<RewriteStep>());
  std::sort(steps.begin(), steps.end(), [](const RewriteStep& a, const RewriteStep& b) { return a.text() < b.text(); });
  return label_of(steps);
}

Result<ir::BoundText> rewritten(const ir::BoundText& problem, const std::vector<RewriteStep>& steps) {
  SOLSTICE_TRY(ir::BoundText out, ir::rewritable(problem));
  for (const RewriteStep& step : steps) {
    const int equation = equation_at(out.program, step);
    if (equation < 0) return fail(Code::bad_argument, fmt::format("{}: there is no such equation", step.text()));
    SOLSTICE_TRY(out, ir::apply(out, *step.rewrite, equation));
  }
  return out;
}

std::vector<Rewording> rewordings(const ir::BoundText& equations, const Derivation& from, bool keep_nonfinite) {
  std::vector<Rewording> out;
  if (!from.problem || from.steps.size() > kMostSteps || equations.program.equations.size() > kMostRewritten)
    return out;
  Result<std::vector<ir::Site>> sites = ir::find_sites(equations);
  if (sites.ok() && from.steps.size() < kMostSteps) {
    if (keep_nonfinite) std::erase_if(*sites, [](const ir::Site& site) { return !site.rewrite->keeps_nonfinite; });
    std::stable_sort(sites->begin(), sites->end(),
                     [](const ir::Site& a, const ir::Site& b) { return a.saved.slots > b.saved.slots; });
    for (size_t i = 0; i < std::min(kMostPlaces, sites->size()); ++i) {
      const RewriteStep step = step_of((*sites)[i]);
      out.push_back({from.steps, (*sites)[i].description});
      out.back().steps.push_back(step);
    }
  }
  for (size_t i = 0; i < from.steps.size() && from.steps.size() > 1; ++i) {
    out.push_back({from.steps, "without " + from.steps[i].text()});
    out.back().steps.erase(out.back().steps.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

}  // namespace solstice::propose
