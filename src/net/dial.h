// Opening a connection: the host's address, TCP, TLS. Heavy, like steps.h.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/steps.h"
#include "net/url.h"

namespace solstice::net {

using Socket = boost::asio::ip::tcp::socket;
using TlsStream = boost::asio::ssl::stream<Socket&>;

using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

// Errors, besides those of Steps: network_error. `most` limits the look-up and the connection each.
Status connect(Steps& steps, Socket& socket, const Url& to, Seconds most);

// To the first that answers. Each has its share of `most`: an address that leads nowhere must not use up the time of
// the others.
Status connect_to_one(Steps& steps, Socket& socket, const Endpoints& endpoints, const std::string& doing, Seconds most);

// TLS 1.2 or newer, with verification. Errors: io_error, not_found (of SSL_CERT_FILE), tls_error (it holds no
// certificate).
Status prepare(boost::asio::ssl::context& context);

// The handshake with `host`, whose name the certificate must have. Errors: tls_error, network_error.
Status handshake(Steps& steps, TlsStream& stream, const std::string& host, Seconds most);

}  // namespace solstice::net
