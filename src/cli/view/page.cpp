#include "cli/view/page.h"

#include <map>

#include "base/base64.h"
#include "base/html.h"
#include "base/sha256.h"

namespace solstice::cli {
namespace {

// The name of a script in Content-Security-Policy: the base64 of its digest.
std::string hash_source(std::string_view text) {
  const std::string hex = sha256_hex(text);
  std::string digest;
  for (size_t i = 0; i < hex.size(); i += 2) digest += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + base64_encode(digest) + "'";
}

// JSON that no HTML parser takes for markup: these characters stand in strings only, where JSON can spell them.
std::string inert(const Json& json) {
  std::string out;
  for (const char c : json.dump()) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

// Each {{name}} once, from left to right: what is filled in is not looked at again.
std::string filled(std::string_view page, const std::map<std::string, std::string, std::less<>>& values) {
  std::string out;
  while (true) {
    const size_t begin = page.find("{{");
    const size_t end = begin == std::string_view::npos ? begin : page.find("}}", begin);
    if (end == std::string_view::npos) return out + std::string(page);
    out += page.substr(0, begin);
    if (const auto value = values.find(page.substr(begin + 2, end - begin - 2)); value != values.end())
      out += value->second;
    page.remove_prefix(end + 2);
  }
}

}  // namespace

std::string filled_page(const PageAssets& assets, const std::string& title, const Json& data) {
  return filled(assets.page, {{"title", html_escaped(title)},
                              {"style", std::string(assets.style)},
                              {"style_hash", hash_source(assets.style)},
                              {"script", std::string(assets.script)},
                              {"script_hash", hash_source(assets.script)},
                              {"data", inert(data)}});
}

}  // namespace solstice::cli
