#include "llm/provider.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/diagnostic.h"

namespace solstice::llm {
namespace {

Status check_names(const ProviderSpec& spec, const std::map<std::string, std::string>& given) {
  std::vector<std::string> names;
  for (const Option& option : spec.options) names.push_back(option.name);
  for (const auto& [name, value] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string near = closest(name, names);
    return fail(Code::bad_argument, fmt::format("provider `{}` has no option `{}`", spec.name, name),
                near.empty() ? fmt::format("its options are {}", fmt::join(names, ", "))
                             : fmt::format("did you mean `{}`?", near));
  }
  return success();
}

Status check_model(const ProviderSpec& spec, const Model& model) {
  if (model.name.empty()) {
    if (!spec.needs_model) return success();
    return fail(Code::bad_argument, fmt::format("provider `{}` needs a model", spec.name),
                "--model NAME; `solstice list models` names them");
  }
  // The others pass on what any model says.
  if (!spec.needs_model || model.provider == spec.name) return success();
  return fail(Code::bad_argument,
              fmt::format("model `{}` belongs to provider `{}`, not to `{}`", model.name, model.provider, spec.name),
              fmt::format("--provider {}, or a model of `{}` (`solstice list models`)", model.provider, spec.name));
}

}  // namespace

const std::string& Options::get(const std::string& name) const {
  static const std::string none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}

Result<std::string> Options::needed(const std::string& name, std::string_view like) const {
  if (get(name).empty())
    return fail(Code::bad_argument, fmt::format("its option `{}` is missing", name),
                fmt::format("give `--option {}={}`", name, like));
  return get(name);
}

Result<Seconds> Options::seconds(const std::string& name) const {
  const std::string& text = get(name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0 && value < 1e9) return Seconds(value);
  return fail(Code::bad_argument, fmt::format("option `{}` is `{}`", name, text), "it takes seconds, more than 0");
}

Result<bool> Options::flag(const std::string& name) const {
  if (get(name) == "true" || get(name) == "false") return get(name) == "true";
  return fail(Code::bad_argument, fmt::format("option `{}` is `{}`", name, get(name)), "it takes true or false");
}

Result<const ProviderSpec*> find_provider(std::string_view name) {
  std::vector<std::string> names;
  for (const ProviderSpec* spec : all_providers()) {
    if (spec->name == name) return spec;
    names.push_back(spec->name);
  }
  return fail(Code::not_found, fmt::format("no provider is called `{}`", name), instead_of(name, names));
}

Result<std::unique_ptr<Provider>> open_provider(const ProviderSpec& spec, std::map<std::string, std::string> given,
                                                Model model, std::function<bool()> cancelled, News news) {
  SOLSTICE_CHECK(check_names(spec, given));
  SOLSTICE_CHECK(check_model(spec, model));
  for (const Option& option : spec.options) given.emplace(option.name, option.otherwise);
  return spec.open({Options(std::move(given)), std::move(model), std::move(cancelled), std::move(news)})
      .context(fmt::format("opening the provider `{}`", spec.name));
}

}  // namespace solstice::llm
