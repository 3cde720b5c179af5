#include "search/make_policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "search/external.h"

namespace solstice::search {
namespace {

class BuiltIn : public Policy {
 public:
  BuiltIn(const PolicySpec& spec, Values values, uint64_t seed)
      : spec_(spec), values_(std::move(values)), seed_(seed) {}
  Result<std::optional<Decision>> decide(const Tree& tree) override {
    // Turns within an attempt change nothing that a policy decides by.
    const auto events = std::count_if(tree.events().begin(), tree.events().end(),
                                      [](const Event& event) { return event.kind != Event::Kind::kNoted; });
    Random random(seed_, spec_.name, static_cast<uint64_t>(events));
    return spec_.decide(tree, values_, random);
  }

 private:
  const PolicySpec& spec_;
  Values values_;
  uint64_t seed_;
};

}  // namespace

Result<std::unique_ptr<Policy>> make_policy(std::string_view text, uint64_t seed) {
  constexpr std::string_view kCommand = "command:";
  if (text.starts_with(kCommand)) return start_external(std::string(text.substr(kCommand.size())), seed);
  const size_t open = text.find('(');
  const PolicySpec* spec = find_policy(trimmed(text.substr(0, open)));
  if (!spec) {
    std::vector<std::string> names;
    for (const PolicySpec* each : all_policies()) names.emplace_back(each->name);
    return fail(Code::bad_argument, fmt::format("no policy `{}`", text),
                instead_of(text, names) + ", and command:PROGRAM");
  }
  SOLSTICE_TRY(Values values, parse_values(fmt::format("policy `{}`", spec->name), spec->parameters, text));
  return std::unique_ptr<Policy>(std::make_unique<BuiltIn>(*spec, std::move(values), seed));
}

}  // namespace solstice::search
