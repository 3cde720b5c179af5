#include "net/dial.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/file.h"
#include "net/proxy.h"

namespace solstice::net {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;

// getaddrinfo() cannot be ended: a thread of its own waits for it, and may outlive us.
struct Lookup {
  std::mutex mutex;
  bool done = false;
  ErrorCode error;
  Endpoints found;
};

Result<Endpoints> resolve(const Steps& steps, const std::string& host, int port, Seconds most) {
  const auto lookup = std::make_shared<Lookup>();
  std::thread([lookup, host, port] {
    asio::io_context io;
    ErrorCode error;
    Endpoints found;
    for (const auto& entry : tcp::resolver(io).resolve(host, std::to_string(port), error))
      found.push_back(entry.endpoint());
    const std::lock_guard lock(lookup->mutex);
    lookup->done = true;
    lookup->error = error;
    lookup->found = std::move(found);
  }).detach();
  const Deadline own(most);
  const std::string doing = fmt::format("looking up {}", host);
  for (auto nap = std::chrono::microseconds(100);; nap = std::min(nap * 2, std::chrono::microseconds(20000))) {
    {
      const std::lock_guard lock(lookup->mutex);
      if (lookup->done && !lookup->error) return lookup->found;
      if (lookup->done) return fail(Code::network_error, fmt::format("{} failed: {}", doing, lookup->error.message()));
    }
    SOLSTICE_CHECK(steps.still(doing, own, most));
    std::this_thread::sleep_for(nap);
  }
}

// Files in which distributions keep the CAs when OpenSSL's own default, Debian's, is not there.
constexpr std::array kSystemFiles = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                     "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

Status trust_file(ssl::context& context, const std::string& file) {
  SOLSTICE_TRY(const std::string certificates, read_file(file));
  ErrorCode error;
  context.add_certificate_authority(boost::asio::buffer(certificates), error);
  if (error)
    return fail(Code::tls_error, fmt::format("{} (SSL_CERT_FILE) holds no certificates: {}", file, error.message()));
  return success();
}

void trust_system(ssl::context& context) {
  ErrorCode ignored;  // without any CA the handshake fails and says so
  context.set_default_verify_paths(ignored);
  for (const char* file : kSystemFiles) context.load_verify_file(file, ignored);
}

Status connect_to(Steps& steps, Socket& socket, const tcp::endpoint& endpoint, const std::string& doing, Seconds most) {
  SOLSTICE_TRY(const ErrorCode error, steps.run(doing, most, [&](auto&& handler) {
    socket.async_connect(endpoint, std::forward<decltype(handler)>(handler));
  }));
  if (error) return fail(Code::network_error, fmt::format("{} failed: {}", doing, error.message()));
  return success();
}

}  // namespace

Status connect(Steps& steps, Socket& socket, const Url& to, Seconds most) {
  SOLSTICE_TRY(const Endpoints endpoints, resolve(steps, to.host, to.port, most));
  return connect_to_one(steps, socket, endpoints, fmt::format("connecting to {}", to.authority()), most);
}

Status connect_to_one(Steps& steps, Socket& socket, const Endpoints& endpoints, const std::string& doing,
                      Seconds most) {
  const Deadline end(most);
  Status last = fail(Code::network_error, fmt::format("{} failed: the host has no address", doing));
  for (size_t i = 0; i < endpoints.size(); ++i) {
    ErrorCode ignored;
    socket.close(ignored);  // of the attempt before
    const Seconds share = end.left() / static_cast<double>(endpoints.size() - i);
    last = connect_to(steps, socket, endpoints[i], doing, share);
    if (last.ok() || last.error().code == Code::interrupted) return last;
  }
  if (endpoints.size() < 2) return last;
  return fail(last.error().code,
              fmt::format("{}; none of the host's {} addresses answered", last.error().message, endpoints.size()));
}

Status prepare(ssl::context& context) {
  ErrorCode error;
  context.set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1, error);
  context.set_verify_mode(ssl::verify_peer, error);
  if (error) return fail(Code::tls_error, "cannot prepare TLS: " + error.message());
  const std::string file = process_environment("SSL_CERT_FILE");
  if (!file.empty()) return trust_file(context, file);
  trust_system(context);
  return success();
}

Status handshake(Steps& steps, TlsStream& stream, const std::string& host, Seconds most) {
  ErrorCode error;
  boost::asio::ip::make_address(host, error);
  // Server name indication is for names only (RFC 6066, section 3).
  if (error) SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());
  stream.set_verify_callback(ssl::host_name_verification(host), error);
  const std::string doing = fmt::format("TLS with {}", host);
  SOLSTICE_TRY(const ErrorCode done, steps.run(doing, most, [&](auto&& handler) {
    stream.async_handshake(ssl::stream_base::client, std::move(handler));
  }));
  if (!done) return success();
  const long verdict = SSL_get_verify_result(stream.native_handle());
  const std::string why = verdict == X509_V_OK ? done.message() : X509_verify_cert_error_string(verdict);
  const bool refused = verdict != X509_V_OK || done.category() == boost::asio::error::get_ssl_category();
  return fail(
      refused ? Code::tls_error : Code::network_error,
      fmt::format(
          "{} failed: {}{}", doing, why,
          verdict == X509_V_OK ? "" : " (CAs are the system's, or those in the file that SSL_CERT_FILE names)"));
}

}  // namespace solstice::net
