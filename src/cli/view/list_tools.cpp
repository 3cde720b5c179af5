#include "cli/view/list_tools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "cli/view/table.h"
#include "diagnose/external.h"

namespace solstice::cli {
namespace {

constexpr int kToolColumn = 22, kToolWidth = 110;

std::vector<const char*> names_of(const std::vector<diagnose::Class>& classes) {
  std::vector<const char*> out;
  for (const diagnose::Class each : classes) out.push_back(enum_name(each));
  return out;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// "idle: 0.05 share of places (origin)"; the name alone where the unit begins with it.
std::string threshold_text(const diagnose::Threshold& each) {
  const std::string name = each.unit.starts_with(each.name) ? "" : each.name + ": ";
  return fmt::format("{}{:g} {} ({})", name, each.value, each.unit, each.origin);
}

std::string tool_text(const diagnose::Tool& tool) {
  std::string out = hanging(tool.name, tool.question, kToolColumn, kToolWidth);
  const auto line = [&](const std::string& text) { out += hanging("", text, kToolColumn, kToolWidth); };
  line(fmt::format(
      "sources: {}; kernels: {}", fmt::join(tool.sources, ", "),
      tool.classes.empty() ? std::string("all") : fmt::format("{}", fmt::join(names_of(tool.classes), ", "))));
  for (const diagnose::Threshold& each : tool.thresholds) line(threshold_text(each));
  if (!tool.paper.empty()) line(tool.paper);
  return out;
}

Json tool_json(const diagnose::Tool& tool) {
  Json classes = Json::array(), thresholds = Json::array();
  for (const char* each : names_of(tool.classes)) classes.push(each);
  for (const diagnose::Threshold& each : tool.thresholds) thresholds.push(to_json(each));
  return Json::object()
      .set("name", tool.name)
      .set("question", tool.question)
      .set("sources", text_list(tool.sources))
      .set("classes", classes)
      .set("thresholds", thresholds)
      .set("paper", tool.paper);
}

}  // namespace

Status list_tools(const std::string& command, bool json) {
  std::vector<const diagnose::Tool*> tools = diagnose::all_tools();
  std::unique_ptr<diagnose::Tool> own;
  if (!command.empty()) {
    SOLSTICE_TRY(own, diagnose::tool_named(command));
    tools.push_back(own.get());
  }
  std::sort(tools.begin(), tools.end(), [](const auto* a, const auto* b) { return lower(a->name) < lower(b->name); });
  Json all = Json::array();
  for (const diagnose::Tool* tool : tools) {
    all.push(tool_json(*tool));
    if (!json) fmt::print("{}", tool_text(*tool));
  }
  if (json) fmt::print("{}\n", all.dump(2));
  return success();
}

}  // namespace solstice::cli
