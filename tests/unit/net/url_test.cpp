// URLs, proxies and server-sent events.
#include "net/url.h"

#include <gtest/gtest.h>

#include <map>

#include "net/proxy.h"
#include "net/sse.h"

namespace solstice::net {
namespace {

TEST(Url, Parts) {
  const Result<Url> url = parse_url("https://name:pass@[::1]:8443/v1/x?y=1#z");
  ASSERT_TRUE(url.ok()) << url.error().text();
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->target, "/v1/x?y=1");
  EXPECT_EQ(url->user, "name:pass");
  EXPECT_EQ(url->text(), "https://[::1]:8443/v1/x?y=1");
  EXPECT_EQ(parse_url("http://h")->port, 80);
  EXPECT_EQ(parse_url("https://h")->port, 443);
  EXPECT_EQ(parse_url("http://h")->target, "/");
}

TEST(Url, LoopbackIsThisMachine) {
  for (const char* host : {"localhost", "LocalHost", "127.0.0.1", "127.9.8.7", "::1", "0:0:0:0:0:0:0:1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host :
       {"", "localhost.example.com", "127.0.0.1.example.com", "128.0.0.1", "10.0.0.1", "::2", "gateway"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(Url, EscapesAreDecoded) {
  EXPECT_EQ(percent_decoded("a%40b%3a"), "a@b:");
  EXPECT_EQ(percent_decoded("%4"), "%4");
  EXPECT_EQ(percent_decoded("%"), "%");
  EXPECT_EQ(percent_decoded("%zz%4g"), "%zz%4g");
}

TEST(Url, WhatIsNoneIsSaidWithoutItsPassword) {
  for (const char* text : {"", "h", "ftp://h", "http://", "http://h:0", "http://h:70000", "http://h:x", "http://[::1",
                           "http://h/a b", "http://u:hush@h:port"}) {
    const Result<Url> url = parse_url(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.error().code, Code::bad_argument);
    EXPECT_EQ(url.error().message.find("hush"), std::string::npos);
  }
}

std::string proxy_for(const char* url, const std::map<std::string, std::string>& variables) {
  const auto found = proxy_of(*parse_url(url), [&](const char* name) {
    const auto it = variables.find(name);
    return it == variables.end() ? std::string() : it->second;
  });
  if (!found.ok()) return std::string(name_of(found.error().code));
  return *found ? (*found)->authority() : "none";
}

TEST(Proxy, FollowsTheEnvironment) {
  EXPECT_EQ(proxy_for("https://a.b", {}), "none");
  EXPECT_EQ(proxy_for("https://a.b", {{"HTTPS_PROXY", "http://p:3128"}}), "p:3128");
  EXPECT_EQ(proxy_for("https://a.b", {{"https_proxy", "p:1"}, {"HTTPS_PROXY", "http://q:2"}}), "p:1");
  EXPECT_EQ(proxy_for("http://a.b", {{"HTTPS_PROXY", "http://p:3128"}, {"HTTP_PROXY", "http://p:1"}}), "none");
  EXPECT_EQ(proxy_for("http://a.b", {{"http_proxy", "http://p"}}), "p:80");
  EXPECT_EQ(proxy_for("http://a.b", {{"ALL_PROXY", "http://p:9"}}), "p:9");
  EXPECT_EQ(proxy_for("https://a.b", {{"HTTPS_PROXY", "socks5://p:9"}}), "bad_argument");
  EXPECT_EQ(proxy_for("https://a.b", {{"HTTPS_PROXY", "https://p:9"}}), "bad_argument");
}

TEST(Proxy, NotForTheHostsExcepted) {
  const std::string proxy = "http://p:1";
  for (const char* list : {"*", "a.b", "x, a.b", ".b", "b", "a.b:443", "x.y , b"}) {
    EXPECT_EQ(proxy_for("https://a.b", {{"HTTPS_PROXY", proxy}, {"NO_PROXY", list}}), "none") << list;
  }
  for (const char* list : {"", "ab", "xa.b", "c.a.b", "a.b:80", ","}) {
    EXPECT_EQ(proxy_for("https://a.b", {{"HTTPS_PROXY", proxy}, {"NO_PROXY", list}}), "p:1") << list;
  }
}

std::string read_events(std::string_view text, size_t piece) {
  EventReader reader;
  std::string out;
  for (size_t at = 0; at < text.size(); at += piece) {
    for (const Event& event : reader.feed(text.substr(at, piece))) out += event.name + "=" + event.data + ";";
  }
  return out + (reader.inside_event() ? "cut" : "");
}

TEST(Events, AreTheSameHoweverTheyArrive) {
  const std::string text =
      ": comment\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\nid: 7\n\ndata: x\n\nevent: none\n\ndata\n\ndata: y\r\n\ndata: "
      "z\r\r";
  for (const size_t piece : {1, 2, 3, 7, 1000})
    EXPECT_EQ(read_events(text, piece), "a=1\n2;message=x;message=;message=y;message=z;") << piece;
}

TEST(Events, AByteOrderMarkAtTheBeginningIsPassedOver) {
  const std::string mark = "\xEF\xBB\xBF";
  for (const size_t piece : {1, 2, 3, 7, 1000}) {
    EXPECT_EQ(read_events(mark + "data: 1\n\ndata: 2\n\n", piece), "message=1;message=2;") << piece;
    EXPECT_EQ(read_events("data: 1\n\n" + mark + "data: 2\n\n", piece), "message=1;") << piece;
  }
}

TEST(Events, AStreamThatIsCutShows) {
  EXPECT_EQ(read_events("data: x\n\ndata: y", 4), "message=x;cut");
  EXPECT_EQ(read_events("data: x\n\ndata: y\n", 4), "message=x;cut");
  EXPECT_EQ(read_events("data: x\n", 4), "cut");
  EXPECT_EQ(read_events("data: x\n\n", 4), "message=x;");
}

}  // namespace
}  // namespace solstice::net
