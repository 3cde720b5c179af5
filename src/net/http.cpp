#include "net/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cctype>
#include <optional>

#include "base/base64.h"
#include "base/version.h"
#include "net/dial.h"
#include "net/proxy.h"
#include "net/url.h"

namespace solstice::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr uint32_t kMostHeader = 65536;  // bytes of all headers together; gateways send more than Beast's own 8 KiB

bool is_header(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

void add_credentials(http::fields& fields, const Url& proxy) {
  if (!proxy.user.empty())
    fields.set(http::field::proxy_authorization, "Basic " + base64_encode(percent_decoded(proxy.user)));
}

Result<http::request<http::string_body>> written_out(const HttpRequest& request, const Url& url,
                                                     const std::optional<Url>& proxy) {
  http::request<http::string_body> out;
  out.method_string(request.method);
  const bool absolute = proxy && !url.tls();  // RFC 9112, section 3.2.2
  out.target(absolute ? url.text() : url.target);
  const bool usual = url.port == (url.tls() ? 443 : 80);
  const std::string authority = url.authority();
  out.set(http::field::host, usual ? authority.substr(0, authority.rfind(':')) : authority);
  out.set(http::field::user_agent, fmt::format("solstice/{}", version()));
  out.set(http::field::connection, "close");
  if (absolute) add_credentials(out, *proxy);
  for (const auto& [name, value] : request.headers) {
    if (!is_header(name) || !is_header(value))
      return fail(Code::bad_argument, fmt::format("the header `{}` holds a line break", name));
    out.set(name, value);
  }
  out.body() = request.body;
  out.prepare_payload();
  return out;
}

// One exchange over a stream that is a socket or TLS on top of one.
template <typename Stream>
class Exchange {
 public:
  Exchange(Steps& steps, Stream& stream, const HttpRequest& request, std::string peer)
      : steps_(steps), stream_(stream), request_(request), peer_(std::move(peer)) {}

  Result<HttpResponse> run(const http::request<http::string_body>& message, const Sink& sink) {
    const Status sent = send(message);
    const bool broke = !sent.ok() && sent.error().code == Code::network_error;
    if (!broke) request_.sent();  // or it was stopped at the end of that
    if (!sent.ok() && !broke) return sent.error();
    const Status headed = read_header();
    if (!headed.ok())
      return sent.ok() ? headed.error() : sent.error();  // a server may answer before it has read everything
    HttpResponse out;
    out.status = static_cast<int>(parser_->get().result_int());
    for (const auto& field : parser_->get()) out.headers.emplace_back(field.name_string(), field.value());
    const bool sinks = sink && out.status / 100 == 2;
    const Sink keep = [&out](std::string_view piece) {
      out.body += piece;
      return success();
    };
    SOLSTICE_CHECK(read_body(sinks ? sink : keep));
    return out;
  }

 private:
  Status send(const http::request<http::string_body>& message) {
    const std::string doing = fmt::format("sending to {}", peer_);
    SOLSTICE_TRY(const ErrorCode error, steps_.run(doing, request_.timeouts.idle, [&](auto&& handler) {
      http::async_write(stream_, message, std::move(handler));
    }));
    return status_of(doing, error);
  }

  Status read_header() {
    const std::string doing = fmt::format("waiting for the answer of {}", peer_);
    do {  // past `100 Continue` and its like
      parser_.emplace();
      parser_->header_limit(kMostHeader);
      parser_->body_limit(request_.most_bytes);
      SOLSTICE_TRY(const ErrorCode error, steps_.run(doing, request_.timeouts.idle, [&](auto&& handler) {
        http::async_read_header(stream_, buffer_, *parser_, std::move(handler));
      }));
      SOLSTICE_CHECK(status_of(doing, error));
    } while (parser_->get().result_int() / 100 == 1);
    return success();
  }

  Status read_body(const Sink& sink) {
    const std::string doing = fmt::format("reading the answer of {}", peer_);
    std::array<char, 16384> piece;
    while (!parser_->is_done()) {
      parser_->get().body().data = piece.data();
      parser_->get().body().size = piece.size();
      SOLSTICE_TRY(const ErrorCode error, steps_.run(doing, request_.timeouts.idle, [&](auto&& handler) {
        http::async_read_some(stream_, buffer_, *parser_, std::move(handler));
      }));
      const size_t size = piece.size() - parser_->get().body().size;
      if (size > 0) SOLSTICE_CHECK(sink({piece.data(), size}));
      if (error != http::error::need_buffer) SOLSTICE_CHECK(status_of(doing, error));
    }
    return success();
  }

  Status status_of(const std::string& doing, const ErrorCode& error) const {
    if (!error) return success();
    if (error == http::error::body_limit) {
      return fail(Code::bad_response, fmt::format("{}: it is larger than {} bytes", doing, request_.most_bytes));
    }
    if (error == http::error::header_limit) {
      return fail(Code::bad_response, fmt::format("{}: its headers are larger than {} bytes", doing, kMostHeader));
    }
    const bool broke = error == http::error::end_of_stream || error == http::error::partial_message;
    if (broke) return fail(Code::network_error, fmt::format("{}: the connection broke off", doing));
    const bool is_http = error.category() == http::make_error_code(http::error::bad_version).category();
    return fail(is_http ? Code::bad_response : Code::network_error, fmt::format("{}: {}", doing, error.message()));
  }

  Steps& steps_;
  Stream& stream_;
  const HttpRequest& request_;
  std::string peer_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::response_parser<http::buffer_body>> parser_;
};

// Through an HTTP proxy to a server that speaks TLS: RFC 9110, section 9.3.6.
Status open_tunnel(Steps& steps, Socket& socket, const Url& to, const Url& proxy, Seconds most) {
  http::request<http::empty_body> ask(http::verb::connect, to.authority(), 11);
  ask.set(http::field::host, to.authority());
  add_credentials(ask, proxy);
  const std::string doing = fmt::format("asking the proxy {} for {}", proxy.authority(), to.authority());
  SOLSTICE_TRY(ErrorCode error,
               steps.run(doing, most, [&](auto&& handler) { http::async_write(socket, ask, std::move(handler)); }));
  boost::beast::flat_buffer buffer;
  http::response_parser<http::empty_body> parser;
  parser.skip(true);
  parser.header_limit(kMostHeader);
  if (!error) {
    SOLSTICE_TRY(error, steps.run(doing, most, [&](auto&& handler) {
      http::async_read_header(socket, buffer, parser, std::move(handler));
    }));
  }
  if (error) return fail(Code::network_error, fmt::format("{} failed: {}", doing, error.message()));
  const unsigned status = parser.get().result_int();
  if (status / 100 != 2) return fail(Code::network_error, fmt::format("{} failed: it answered {}", doing, status));
  return success();
}

}  // namespace

std::string HttpResponse::header(std::string_view name) const {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (const auto& [key, value] : headers) {
    if (std::equal(key.begin(), key.end(), name.begin(), name.end(), same)) return value;
  }
  return "";
}

namespace {

Result<HttpResponse> exchange(const HttpRequest& request, const Sink& sink) {
  SOLSTICE_TRY(const Url url, parse_url(request.url));
  SOLSTICE_TRY(const std::optional<Url> proxy, proxy_of(url));
  SOLSTICE_TRY(const auto message, written_out(request, url, proxy));
  Steps steps(request.timeouts.total, request.cancelled);
  Socket socket(steps.io());
  const Seconds most = request.timeouts.connect;
  SOLSTICE_CHECK(connect(steps, socket, proxy ? *proxy : url, most));
  if (!url.tls()) return Exchange<Socket>(steps, socket, request, url.authority()).run(message, sink);
  if (proxy) SOLSTICE_CHECK(open_tunnel(steps, socket, url, *proxy, most));
  asio::ssl::context context(asio::ssl::context::tls_client);
  SOLSTICE_CHECK(prepare(context));
  TlsStream stream(socket, context);
  SOLSTICE_CHECK(handshake(steps, stream, url.host, most));
  return Exchange<TlsStream>(steps, stream, request, url.authority()).run(message, sink);
}

}  // namespace

Result<HttpResponse> send_http(const HttpRequest& request, const Sink& sink) {
  // Errors of the libraries come back as values; only what the system has no more of (threads, memory) is thrown. It
  // ends here.
  try {
    return exchange(request, sink);
  } catch (const std::exception& e) {
    return fail(Code::network_error, fmt::format("the request could not be made: {}", e.what()));
  }
}

}  // namespace solstice::net
