#include "cli/view/list_llm.h"

#include <fmt/format.h>

#include "agents/controller.h"
#include "cli/view/table.h"
#include "llm/provider.h"

namespace solstice::cli {
namespace {

std::string count_text(const std::optional<int64_t>& count) { return count ? fmt::format("{}", *count) : "unknown"; }
std::string price_text(const std::optional<llm::Dollars>& price) {
  return price ? fmt::format("{:g}", price->value) : "unknown";
}

template <typename T>
Json known(const std::optional<T>& value) {
  if constexpr (std::is_same_v<T, llm::Dollars>) {
    return value ? Json(value->value) : Json();
  } else {
    return value ? Json(*value) : Json();
  }
}

Json model_json(const llm::Model& m) {
  const Json price = Json::object()
                         .set("date", m.price.date)
                         .set("source", m.price.source)
                         .set("input", known(m.price.input))
                         .set("cached", known(m.price.cached))
                         .set("written", known(m.price.written))
                         .set("output", known(m.price.output))
                         .set("up_to_input", known(m.price.up_to_input));
  return Json::object()
      .set("name", m.name)
      .set("title", m.title)
      .set("provider", m.provider)
      .set("id", m.id)
      .set("context", known(m.context))
      .set("max_output", known(m.max_output))
      .set("json_schema", m.json_schema)
      .set("temperature", m.temperature)
      .set("usd_per_million", price)
      .set("file", m.file.string());
}

}  // namespace

void list_controllers(bool json) {
  Json all = Json::array();
  for (const agents::ControllerSpec* spec : agents::all_controllers()) {
    if (!json) fmt::print("{}", hanging(spec->name, fmt::format("{} ({})", spec->about, spec->source), 22, 100));
    all.push(Json::object().set("name", spec->name).set("about", spec->about).set("source", spec->source));
  }
  if (json) fmt::print("{}\n", all.dump(2));
}

void list_providers(bool json) {
  Json all = Json::array();
  for (const llm::ProviderSpec* spec : llm::all_providers()) {
    Json options = Json::array();
    if (!json) fmt::print("{}{}\n{}", spec->name, spec->network ? " (network)" : "", hanging("", spec->about, 4, 100));
    for (const llm::Option& option : spec->options) {
      options.push(Json::object().set("name", option.name).set("help", option.help).set("default", option.otherwise));
      const std::string otherwise = option.otherwise.empty() ? "" : fmt::format(" [default: {}]", option.otherwise);
      if (!json) fmt::print("{}", hanging("  " + option.name, option.help + otherwise, 22, 100));
    }
    all.push(Json::object()
                 .set("name", spec->name)
                 .set("about", spec->about)
                 .set("network", spec->network)
                 .set("needs_model", spec->needs_model)
                 .set("options", options));
  }
  if (json) fmt::print("{}\n", all.dump(2));
  if (!json)
    fmt::print(
        "\nOptions are given as --option NAME=VALUE. A proxy is taken from https_proxy, http_proxy or all_proxy;\n"
        "no_proxy names the hosts that need none.\n");
}

Status list_models(bool json) {
  SOLSTICE_TRY(const auto names, llm::list_models());
  Json all = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"name", "provider", "context", "output", "USD/M in", "cached", "out", "of"}};
  for (const std::string& name : names) {
    SOLSTICE_TRY(const llm::Model m, llm::load_model(name));
    all.push(model_json(m));
    rows.push_back({m.name, m.provider, count_text(m.context), count_text(m.max_output), price_text(m.price.input),
                    price_text(m.price.cached), price_text(m.price.output), m.price.date});
  }
  fmt::print("{}", json ? all.dump(2) + "\n" : table(rows));
  return success();
}

}  // namespace solstice::cli
