// TLS and proxies, end to end: a server with a certificate of its own, a proxy that only listens.
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/base64.h"
#include "base/file.h"
#include "net/http.h"
#include "support/http_server.h"

namespace solstice::net {
namespace {

using testing::FaultyServer;
using Exchange = FaultyServer::Exchange;

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

// A key, and a certificate that it signed itself.
struct Identity {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();

  explicit Identity(const char* alternative) {
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_set_version(certificate, 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(certificate, key, EVP_sha256());
  }
  ~Identity() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  std::string pem() const {
    BIO* memory = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(memory, certificate);
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory, &data);
    std::string out(data, static_cast<size_t>(size));
    BIO_free(memory);
    return out;
  }

  void serve(const Exchange& e) const {
    SSL_CTX* context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key);
    SSL* tls = SSL_new(context);
    SSL_set_fd(tls, e.socket);
    char request[4096];
    if (SSL_accept(tls) == 1 && SSL_read(tls, request, sizeof request) > 0) {
      const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsealed";
      SSL_write(tls, answer.data(), static_cast<int>(answer.size()));
    }
    SSL_free(tls);
    SSL_CTX_free(context);
  }
};

HttpRequest asked(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.timeouts = {Seconds(2), Seconds(2), Seconds(4)};
  return request;
}

struct TlsServer : FaultyServer {
  explicit TlsServer(const Identity& identity) : FaultyServer([&identity](const Exchange& e) { identity.serve(e); }) {
    raw = true;
  }
  std::string tls_url() const { return "https://127.0.0.1:" + std::to_string(port()); }
};

TEST(Tls, OnlyCertificatesThatCanBeVerifiedAreTaken) {
  const Identity right("IP:127.0.0.1"), wrong("DNS:elsewhere.example");
  const TempFolder folder = std::move(TempFolder::create("tls-")).value();
  {
    TlsServer server(right);
    const Result<HttpResponse> got = send_http(asked(server.tls_url()));
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().code, Code::tls_error) << got.error().text();
    EXPECT_NE(got.error().message.find("SSL_CERT_FILE"), std::string::npos) << got.error().message;
  }
  const auto file = folder.path() / "ca.pem";
  ASSERT_TRUE(write_file(file, right.pem() + wrong.pem()).ok());
  const Variable trusted("SSL_CERT_FILE", file.string());
  {
    TlsServer server(right);
    const Result<HttpResponse> got = send_http(asked(server.tls_url()));
    ASSERT_TRUE(got.ok()) << got.error().text();
    EXPECT_EQ(got->body, "sealed");
  }
  TlsServer server(wrong);
  EXPECT_EQ(send_http(asked(server.tls_url())).error().code, Code::tls_error);
}

TEST(Tls, AFileWithoutCertificatesIsAnError) {
  const Identity identity("IP:127.0.0.1");
  const TempFolder folder = std::move(TempFolder::create("tls-")).value();
  TlsServer server(identity);
  ASSERT_TRUE(write_file(folder.path() / "empty.pem", "no certificate\n").ok());
  const Variable trusted("SSL_CERT_FILE", (folder.path() / "empty.pem").string());
  EXPECT_EQ(send_http(asked(server.tls_url())).error().code, Code::tls_error);
  const Variable missing("SSL_CERT_FILE", (folder.path() / "missing.pem").string());
  EXPECT_EQ(send_http(asked(server.tls_url())).error().code, Code::not_found);
}

TEST(Tls, AHandshakeThatStopsHasALimit) {
  FaultyServer server([](const Exchange& e) { e.wait(std::chrono::milliseconds(5000)); });
  HttpRequest request = asked("https://127.0.0.1:" + std::to_string(server.port()));
  request.timeouts.connect = Seconds(0.1);
  EXPECT_EQ(send_http(request).error().code, Code::deadline);
}

TEST(Tls, AServerThatSpeaksPlainTextIsNoTlsServer) {
  FaultyServer server([](const Exchange& e) { e.send("HTTP/1.1 400 Bad Request\r\n\r\n"); });
  server.raw = true;
  EXPECT_EQ(send_http(asked("https://127.0.0.1:" + std::to_string(server.port()))).error().code, Code::tls_error);
}

TEST(Proxy, PlainRequestsNameTheWholeUrl) {
  FaultyServer proxy([](const Exchange& e) { e.answer(200, "through"); });
  const Variable variable("http_proxy", "http://me:hush@127.0.0.1:" + std::to_string(proxy.port()));
  const Result<HttpResponse> got = send_http(asked("http://far.invalid/x"));
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->body, "through");
  const std::string sent = proxy.requests().at(0);
  EXPECT_EQ(sent.rfind("POST http://far.invalid:80/x HTTP/1.1\r\n", 0), 0u) << sent;
  EXPECT_NE(sent.find("Proxy-Authorization: Basic " + base64_encode("me:hush")), std::string::npos) << sent;
}

TEST(Proxy, TlsGoesThroughATunnel) {
  const Identity identity("DNS:far.invalid");
  const TempFolder folder = std::move(TempFolder::create("tls-")).value();
  ASSERT_TRUE(write_file(folder.path() / "ca.pem", identity.pem()).ok());
  const Variable trusted("SSL_CERT_FILE", (folder.path() / "ca.pem").string());
  FaultyServer proxy([&](const Exchange& e) {
    e.send("HTTP/1.1 200 Connection established\r\n\r\n");
    identity.serve(e);
  });
  const Variable variable("HTTPS_PROXY", "http://127.0.0.1:" + std::to_string(proxy.port()));
  const Result<HttpResponse> got = send_http(asked("https://far.invalid/x"));
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->body, "sealed");
  EXPECT_EQ(proxy.requests().at(0).rfind("CONNECT far.invalid:443 HTTP/1.1\r\n", 0), 0u);
}

TEST(Proxy, ARefusalNamesTheProxyAndNoPassword) {
  FaultyServer proxy([](const Exchange& e) { e.answer(407, "who are you"); });
  const Variable variable("HTTPS_PROXY", "http://me:hush@127.0.0.1:" + std::to_string(proxy.port()));
  const Result<HttpResponse> got = send_http(asked("https://far.invalid/x"));
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, Code::network_error);
  EXPECT_NE(got.error().message.find("407"), std::string::npos);
  EXPECT_EQ(got.error().message.find("hush"), std::string::npos);
}

}  // namespace
}  // namespace solstice::net
