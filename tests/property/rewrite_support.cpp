#include "property/rewrite_support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ir/equivalence.h"
#include "lang/print.h"

namespace solstice::ir::testing {
namespace {

double scale_of(const std::vector<double>& values) {
  double scale = 1e-3;  // below it a difference is what cancellation left
  for (const double v : values) scale = std::isfinite(v) ? std::max(scale, std::abs(v)) : scale;
  return scale;
}

bool apart(double a, double b, double scale) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) != std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a != b;
  return std::abs(a - b) > 1e-9 * scale;
}

}  // namespace

std::string difference(const Program& before, const Program& after) {
  for (int family = 0; family < input_families(); ++family) {
    const TensorValues inputs = random_inputs(before, family, static_cast<uint64_t>(family) + 7);
    const auto expected = interpret(before, inputs);
    if (!expected.ok()) continue;
    const auto actual = interpret(after, inputs);
    if (!actual.ok()) return actual.error().text();
    for (const auto& [name, value] : *expected) {
      const std::vector<double>& other = actual->at(name).values;
      const double scale = scale_of(value.values);
      for (size_t i = 0; i < value.values.size(); ++i) {
        if (apart(value.values[i], other[i], scale)) {
          return fmt::format("{} element {}: {} became {} ({})", name, i, value.values[i], other[i],
                             input_family_name(family));
        }
      }
    }
  }
  return "";
}

Tried expect_same_values(const std::string& text, const Rewrite* rewrite) {
  Tried tried;
  Result<BoundText> written = bound_text(text, "generated.ucut");
  EXPECT_TRUE(written.ok()) << text << written.error().text();
  if (!written.ok()) return {0, true};
  const Result<BoundText> subject = rewritable(*written);
  EXPECT_TRUE(subject.ok()) << text << subject.error().text();
  if (!subject.ok()) return {0, true};
  const Program original = subject->program;
  const auto sites = find_sites(*subject, rewrite);
  EXPECT_TRUE(sites.ok());
  for (const Site& site : *sites) {
    const auto after = apply(*subject, *site.rewrite, site.equation);
    EXPECT_TRUE(after.ok());
    if (!after.ok()) return {tried.sites, true};
    const std::string found = difference(original, after->program);
    EXPECT_EQ(found, "") << site.rewrite->name << "\n" << text << "\n" << lang::print(after->tree);
    if (!found.empty()) return {tried.sites, true};
    ++tried.sites;
  }
  RewriteOptions options;
  options.only = rewrite;
  options.whatever_it_costs = true;
  options.most_steps = 12;
  const auto all = rewrite_all(*subject, options);
  EXPECT_TRUE(all.ok());
  const std::string found = difference(original, all->result.program);
  EXPECT_EQ(found, "") << text << "\n" << lang::print(all->result.tree);
  tried.failed = !found.empty();
  return tried;
}

}  // namespace solstice::ir::testing
