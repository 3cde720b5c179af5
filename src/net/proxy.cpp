#include "net/proxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace solstice::net {
namespace {

struct Setting {
  const char* name = "";
  std::string value;
};

Setting first_set(const std::vector<const char*>& names, const Environment& environment) {
  for (const char* name : names) {
    if (std::string value = environment(name); !value.empty()) return {name, std::move(value)};
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const size_t end = text.find_last_not_of(" \t") + 1;
  return text.substr(begin, std::max(begin, end) - begin);
}

// "host", ".domain", "host:port"
bool names_host(std::string_view entry, const Url& url) {
  const std::string port = fmt::format(":{}", url.port);
  if (entry == "*" || entry == url.authority()) return true;
  if (entry.size() > port.size() && entry.ends_with(port)) entry.remove_suffix(port.size());
  if (entry.starts_with('.')) entry.remove_prefix(1);
  if (entry.empty()) return false;
  return url.host == entry || url.host.ends_with("." + std::string(entry));
}

bool is_excepted(std::string_view list, const Url& url) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (names_host(trimmed(list.substr(begin, end - begin)), url)) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::string process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<std::optional<Url>> proxy_of(const Url& url, const Environment& environment) {
  std::vector<const char*> names = {"http_proxy", "all_proxy", "ALL_PROXY"};
  if (url.tls()) names = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  const Setting set = first_set(names, environment);
  if (set.value.empty() || is_excepted(first_set({"no_proxy", "NO_PROXY"}, environment).value, url))
    return std::optional<Url>();
  const std::string text = set.value.find("://") == std::string::npos ? "http://" + set.value : set.value;
  Result<Url> proxy = parse_url(text);
  if (!proxy.ok()) return std::move(proxy).context(fmt::format("reading the proxy from {}", set.name)).error();
  if (proxy->tls())
    return fail(Code::bad_argument, fmt::format("{} names a proxy of https://", set.name), "only http:// is supported");
  return std::optional<Url>(std::move(proxy).value());
}

}  // namespace solstice::net
