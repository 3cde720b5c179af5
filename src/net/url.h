// URLs of HTTP servers.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace solstice::net {

struct Url {
  std::string scheme;  // "http" or "https"
  std::string user;    // "name:password" before an '@'; never part of text()
  std::string host;    // an IPv6 address without its brackets
  int port = 0;
  std::string target;  // path and query, "/" at least

  bool tls() const { return scheme == "https"; }
  std::string authority() const;  // "host:port"; IPv6 in brackets
  std::string text() const;
};

// Error bad_argument; the message leaves out what may be a password.
Result<Url> parse_url(std::string_view text);

// localhost, 127.0.0.0/8 and ::1: what is sent there does not leave this machine.
bool is_loopback(const std::string& host);

// "%40" is '@'; what is no such escape stays as it is.
std::string percent_decoded(std::string_view text);

}  // namespace solstice::net
