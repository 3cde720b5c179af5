// The HTTP client against a server that misbehaves: every limit fires, every fault has its code.
#include "net/http.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/clock.h"
#include "support/http_server.h"

namespace solstice::net {
namespace {

using testing::FaultyServer;
using Exchange = FaultyServer::Exchange;
using std::chrono::milliseconds;

HttpRequest to(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.timeouts = {Seconds(2), Seconds(2), Seconds(4)};
  return request;
}

Code code_of(const Result<HttpResponse>& result) { return result.ok() ? Code::internal : result.error().code; }

TEST(Http, SendsHeadersAndBodyAndReadsTheAnswer) {
  FaultyServer server([](const Exchange& e) { e.answer(418, "short", "X-Kind: teapot\r\n"); });
  HttpRequest request = to(server.url("/a?b=c"));
  request.headers = {{"X-Mine", "1"}};
  request.body = "hello";
  const Result<HttpResponse> got = send_http(request);
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->status, 418);
  EXPECT_EQ(got->body, "short");
  EXPECT_EQ(got->header("x-kind"), "teapot");
  EXPECT_EQ(got->header("none"), "");
  const std::string sent = server.requests().at(0);
  EXPECT_EQ(sent.rfind("POST /a?b=c HTTP/1.1\r\n", 0), 0u) << sent;
  EXPECT_NE(sent.find("Host: 127.0.0.1:" + std::to_string(server.port())), std::string::npos) << sent;
  EXPECT_NE(sent.find("X-Mine: 1\r\n"), std::string::npos) << sent;
  EXPECT_TRUE(sent.ends_with("\r\n\r\nhello")) << sent;
}

TEST(Http, ASinkTakesPiecesAsTheyCome) {
  std::atomic<bool> first_seen = false;
  FaultyServer server([&](const Exchange& e) {
    e.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    e.chunk("one");
    for (int i = 0; i < 500 && !first_seen; ++i) e.wait(milliseconds(2));
    e.chunk("two");
    e.send("0\r\n\r\n");
  });
  std::string all;
  const Result<HttpResponse> got = send_http(to(server.url()), [&](std::string_view piece) {
    if (all.empty()) {
      EXPECT_EQ(piece, "one");
    }
    all += piece;
    first_seen = true;
    return success();
  });
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(all, "onetwo");
  EXPECT_EQ(got->body, "");
}

TEST(Http, ASinkIsNotGivenWhatAnErrorSays) {
  FaultyServer server([](const Exchange& e) { e.answer(500, "broken"); });
  const Result<HttpResponse> got =
      send_http(to(server.url()), [](std::string_view) { return fail(Code::internal, "called"); });
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->body, "broken");
}

TEST(Http, ASinksErrorEndsTheExchange) {
  FaultyServer server([](const Exchange& e) { e.answer(200, "body"); });
  EXPECT_EQ(
      code_of(send_http(to(server.url()), [](std::string_view) { return fail(Code::provider_failed, "enough"); })),
      Code::provider_failed);
}

TEST(Http, PassesOverInterimAnswers) {
  FaultyServer server([](const Exchange& e) {
    e.send("HTTP/1.1 100 Continue\r\n\r\n");
    e.answer(200, "real");
  });
  const Result<HttpResponse> got = send_http(to(server.url()));
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->body, "real");
}

// What a server does, and the limits it runs into.
struct Slow {
  const char* name;
  std::function<void(const Exchange&)> serve;
  Timeouts timeouts;
};

TEST(Http, TimeoutsFire) {
  const std::vector<Slow> cases = {
      {"says nothing", [](const Exchange& e) { e.wait(milliseconds(5000)); }, {Seconds(2), Seconds(0.1), Seconds(3)}},
      {"says nothing, total",
       [](const Exchange& e) { e.wait(milliseconds(5000)); },
       {Seconds(2), Seconds(3), Seconds(0.1)}},
      {"stops in the body",
       [](const Exchange& e) {
         e.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome");
         e.wait(milliseconds(5000));
       },
       {Seconds(2), Seconds(0.1), Seconds(3)}},
      {"trickles its header",
       [](const Exchange& e) {
         for (int i = 0; i < 500 && !*e.stopped; ++i)
           e.send(i == 0 ? "HTTP/1.1 200 OK\r\nX: " : "x"), e.wait(milliseconds(10));
       },
       {Seconds(2), Seconds(0.15), Seconds(3)}},
      {"trickles its body",
       [](const Exchange& e) {
         e.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
         for (int i = 0; i < 500 && !*e.stopped; ++i) e.send("x"), e.wait(milliseconds(10));
       },
       {Seconds(2), Seconds(1), Seconds(0.2)}}};
  for (const Slow& slow : cases) {
    FaultyServer server(slow.serve);
    HttpRequest request = to(server.url());
    request.timeouts = slow.timeouts;
    const Seconds begin = monotonic_now();
    EXPECT_EQ(code_of(send_http(request)), Code::deadline) << slow.name;
    EXPECT_LT((monotonic_now() - begin).value, 2.5) << slow.name;
  }
}

TEST(Http, CancellingEndsWhatIsUnderWay) {
  FaultyServer server([](const Exchange& e) { e.wait(milliseconds(5000)); });
  HttpRequest request = to(server.url());
  const Seconds begin = monotonic_now();
  request.cancelled = [begin] { return (monotonic_now() - begin).value > 0.05; };
  EXPECT_EQ(code_of(send_http(request)), Code::interrupted);
  EXPECT_LT((monotonic_now() - begin).value, 2);
}

TEST(Http, FaultsHaveTheirCodes) {
  const std::vector<std::pair<Code, std::function<void(const Exchange&)>>> cases = {
      {Code::network_error, [](const Exchange& e) { e.reset(); }},
      {Code::network_error, [](const Exchange&) {}},
      {Code::network_error, [](const Exchange& e) { e.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"); }},
      {Code::network_error,
       [](const Exchange& e) { e.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"); }},
      {Code::bad_response, [](const Exchange& e) { e.send("SSH-2.0-OpenSSH_9.2\r\n\r\n\r\n"); }},
      {Code::bad_response, [](const Exchange& e) { e.answer(200, std::string(3000, 'x')); }},
      {Code::bad_response, [](const Exchange& e) { e.stream(std::string(3000, 'x')); }}};
  for (size_t i = 0; i < cases.size(); ++i) {
    FaultyServer server(cases[i].second);
    HttpRequest request = to(server.url());
    request.most_bytes = 2000;
    EXPECT_EQ(code_of(send_http(request)), cases[i].first) << i;
  }
}

TEST(Http, ServersThatAreNotThere) {
  int port = 0;
  {
    FaultyServer gone([](const Exchange&) {});
    port = gone.port();
  }
  EXPECT_EQ(code_of(send_http(to("http://127.0.0.1:" + std::to_string(port)))), Code::network_error);
  EXPECT_EQ(code_of(send_http(to("http://no-such-host.invalid"))), Code::network_error);
  EXPECT_EQ(code_of(send_http(to("ftp://host"))), Code::bad_argument);
}

TEST(Http, ManyHeadersAreRead) {
  for (const size_t size : {9000u, 60000u, 200000u}) {
    FaultyServer server(
        [size](const Exchange& e) { e.answer(200, "x", "X-Long: " + std::string(size, 'h') + "\r\n"); });
    const Result<HttpResponse> got = send_http(to(server.url()));
    if (size < 65536) {
      ASSERT_TRUE(got.ok()) << got.error().text();
      EXPECT_EQ(got->header("x-long").size(), size);
    } else {
      ASSERT_EQ(code_of(got), Code::bad_response);
      EXPECT_NE(got.error().message.find("headers are larger than 65536 bytes"), std::string::npos)
          << got.error().message;
    }
  }
}

TEST(Http, HeadersWithLineBreaksAreRefusedUnshown) {
  HttpRequest request = to("http://127.0.0.1:1");
  request.headers = {{"Authorization", "secret\r\nX: y"}};
  const Result<HttpResponse> got = send_http(request);
  ASSERT_EQ(code_of(got), Code::bad_argument);
  EXPECT_EQ(got.error().text().find("secret"), std::string::npos);
}

}  // namespace
}  // namespace solstice::net
