#include "agents/looks.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm/ledger.h"

namespace solstice::agents {
namespace {

constexpr int64_t kLeastTokens = 50;  // below that nothing can be shown

// In one line, and no longer than a heading.
std::string heading(std::string query) {
  std::replace_if(
      query.begin(), query.end(), [](unsigned char c) { return c < ' '; }, ' ');
  if (query.size() > kMostLookCharacters) query = query.substr(0, kMostLookCharacters) + "..";
  return "### " + query + "\n";
}

}  // namespace

Json with_looks(const Json& extra) {
  Json out = Json::object();
  out.set("look", Json::object()
                      .set("type", "array")
                      .set("items", Json::object().set("type", "string"))
                      .set("description", "code to see before you answer; empty where you answer now"));
  for (const auto& [name, schema] : extra.members()) out.set(name, schema);
  return out;
}

Status add_looks(const Prompts& prompts, std::string& form) {
  SOLSTICE_TRY(const std::string section, prompts.section("look", {{"most", std::to_string(kMostLooks)}}));
  form += section;
  return success();
}

std::vector<std::string> looks_of(const Json& answer) {
  std::vector<std::string> out;
  for (const Json& query : answer.at("look").items()) {
    const std::string& text = query.as_string();
    if (text.find_first_not_of(" \t\r\n") != text.npos) out.push_back(text);
  }
  return out;
}

Result<std::string> looked_up(const Look& look, const std::vector<std::string>& queries, int64_t most_tokens) {
  std::string out;
  for (const std::string& query : queries) {
    const std::string title = heading(query);
    const int64_t left = most_tokens - llm::estimated_tokens(out + title);
    if (left < kLeastTokens) return out + title + "(not looked up: there is no room for more)\n";
    SOLSTICE_TRY(const std::string found, look(query, std::min(left, kMostLookTokens)));
    out += title + cut_to(found, std::min(left, kMostLookTokens));
    if (!out.ends_with('\n')) out += '\n';
  }
  return out;
}

}  // namespace solstice::agents
