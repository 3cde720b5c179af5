// The proxy of a URL, as the environment has it: https_proxy or HTTPS_PROXY for https, http_proxy for http (HTTP_PROXY
// is not read: a web server may set it from a request), else all_proxy or ALL_PROXY; none where no_proxy or NO_PROXY
// names the host: a comma-separated list of hosts, of domains (which hold for all hosts below them), or `*`, each with
// a port if need be.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "net/url.h"

namespace solstice::net {

using Environment = std::function<std::string(const char*)>;  // "" where a variable is not set
std::string process_environment(const char* name);

// Error bad_argument: the variable holds no http:// URL. Other kinds of proxies are not supported.
Result<std::optional<Url>> proxy_of(const Url& url, const Environment& environment = process_environment);

}  // namespace solstice::net
