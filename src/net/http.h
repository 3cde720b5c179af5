// HTTP/1.1 over TCP and TLS: one request, one answer, one connection. Nothing blocks for good: every step has a limit,
// all together have one, and Ctrl-C ends whatever is under way within a twentieth of a second.
//
// Servers are verified against the CAs in the file that SSL_CERT_FILE names, else the system's; that cannot be switched
// off. The proxy is the environment's (net/proxy.h). Redirects are not followed: an answer with any status is an
// answer.
//
// Errors: bad_argument (URL, a header with a line break), deadline, interrupted, network_error (no such host, refused,
// reset, broken off), tls_error, bad_response, io_error (SSL_CERT_FILE). Messages hold host and port, but no header and
// no body, in which keys travel.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process/interrupt.h"
#include "base/result.h"
#include "base/units.h"

namespace solstice::net {

struct Timeouts {
  Seconds connect{15};  // name, connection, proxy and TLS, each
  Seconds idle{300};    // until the answer begins, and between two pieces of it
  Seconds total{900};   // everything
};

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "POST";
  std::string url;
  Headers headers;
  std::string body;
  Timeouts timeouts;
  size_t most_bytes = size_t{64} << 20;            // of the answer's body
  std::function<bool()> cancelled = &interrupted;  // asked every twentieth of a second
  std::function<void()> sent = [] {};              // called when all of it may have arrived
};

struct HttpResponse {
  int status = 0;
  Headers headers;
  std::string body;                                 // unless a sink took it
  std::string header(std::string_view name) const;  // "" where there is none; names in any case
};

// Takes the body of an answer with status 2xx, piece by piece as it comes. An error ends the exchange and is returned.
using Sink = std::function<Status(std::string_view)>;

Result<HttpResponse> send_http(const HttpRequest& request, const Sink& sink = {});

}  // namespace solstice::net
