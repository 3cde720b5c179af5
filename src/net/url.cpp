#include "net/url.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <charconv>

namespace solstice::net {
namespace {

Error bad_url(std::string_view text, std::string_view why) {
  const size_t at = text.rfind('@');
  const std::string_view shown = at == text.npos ? text : text.substr(at + 1);
  return fail(Code::bad_argument, fmt::format("not a URL: `{}`: {}", shown, why),
              "the form is http[s]://HOST[:PORT][/PATH]");
}

// Spaces and control characters would end up in a request line.
bool is_plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

bool read_port(std::string_view text, int& port) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port < 65536;
}

}  // namespace

std::string Url::authority() const {
  return host.find(':') == host.npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::string Url::text() const { return fmt::format("{}://{}{}", scheme, authority(), target); }

Result<Url> parse_url(std::string_view text) {
  Url url;
  const size_t colon = text.find("://");
  url.scheme = colon == text.npos ? "" : std::string(text.substr(0, colon));
  if (url.scheme != "http" && url.scheme != "https")
    return bad_url(text, "it begins with neither http:// nor https://");
  if (!is_plain(text)) return bad_url("...", "it holds a space or a control character");
  std::string_view rest = text.substr(colon + 3);
  const size_t path = std::min(rest.find_first_of("/?#"), rest.size());
  url.target = std::string(rest.substr(path, rest.find('#') - path));
  if (!url.target.starts_with('/')) url.target = "/" + url.target;
  rest = rest.substr(0, path);
  if (const size_t at = rest.rfind('@'); at != rest.npos) {
    url.user = std::string(rest.substr(0, at));
    rest = rest.substr(at + 1);
  }
  const bool brackets = rest.starts_with('[');
  const size_t end = brackets ? rest.find(']') : rest.find(':');
  if (brackets && end == rest.npos) return bad_url(text, "`[` has no `]`");
  url.host = std::string(brackets ? rest.substr(1, end - 1) : rest.substr(0, end));
  if (url.host.empty()) return bad_url(text, "it names no host");
  rest = end == rest.npos ? "" : rest.substr(end + (brackets ? 1 : 0));
  url.port = url.tls() ? 443 : 80;
  if (rest.starts_with(':') && read_port(rest.substr(1), url.port)) return url;
  if (!rest.empty()) return bad_url(text, fmt::format("`{}` is no port", rest));
  return url;
}

bool is_loopback(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  if (::inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return ::strcasecmp(host.c_str(), "localhost") == 0;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    const bool escape =
        text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
    out += escape ? static_cast<char>(value) : text[i];
    if (escape) i += 2;
  }
  return out;
}

}  // namespace solstice::net
