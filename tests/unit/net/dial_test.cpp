// Connecting to a host of several addresses, some of which do not answer.
#include "net/dial.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/write.hpp>

#include "support/http_server.h"

namespace solstice::net {
namespace {

using boost::asio::ip::make_address;
using boost::asio::ip::tcp;

// Takes no connection: its queue is full, so that the system drops what else comes, as a broken route does.
class DeadEnd {
 public:
  DeadEnd() {
    acceptor_.open(tcp::v4());
    acceptor_.bind({make_address("127.0.0.1"), 0});
    acceptor_.listen(0);
    for (tcp::socket& filler : fillers_) {
      filler.open(tcp::v4());
      filler.native_non_blocking(true);
      // Its own connect() would wait for what never comes.
      const tcp::endpoint to = endpoint();
      (void)::connect(filler.native_handle(), to.data(), static_cast<socklen_t>(to.size()));
    }
  }
  tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

 private:
  boost::asio::io_context io_;
  tcp::acceptor acceptor_{io_};
  std::array<tcp::socket, 3> fillers_{tcp::socket(io_), tcp::socket(io_), tcp::socket(io_)};
};

tcp::endpoint endpoint_of(int port) { return {make_address("127.0.0.1"), static_cast<uint16_t>(port)}; }

TEST(Dial, EachAddressHasItsShareOfTheTime) {
  const DeadEnd dead;
  testing::FaultyServer server([](const testing::FaultyServer::Exchange&) {});
  Steps steps(Seconds(10), {});
  Socket socket(steps.io());
  const Status done =
      connect_to_one(steps, socket, {dead.endpoint(), endpoint_of(server.port())}, "connecting to host:1", Seconds(1));
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(socket.remote_endpoint().port(), server.port());
  // What is still under way for the first address ends without harm.
  const auto sent = steps.run("sending", Seconds(1), [&](auto&& handler) {
    boost::asio::async_write(socket, boost::asio::buffer("x", 1), std::move(handler));
  });
  EXPECT_TRUE(sent.ok() && !*sent);
}

TEST(Dial, WhereNoneAnswersTheTimeHolds) {
  const DeadEnd dead;
  Steps steps(Seconds(10), {});
  Socket socket(steps.io());
  const Deadline end(Seconds(3));
  const Status done =
      connect_to_one(steps, socket, {dead.endpoint(), dead.endpoint()}, "connecting to host:1", Seconds(0.4));
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, Code::deadline);
  EXPECT_NE(done.error().message.find("none of the host's 2 addresses answered"), std::string::npos)
      << done.error().message;
  EXPECT_FALSE(end.passed());
}

TEST(Dial, CancellingEndsItAtTheFirst) {
  const DeadEnd dead;
  const Deadline end(Seconds(0.1));
  Steps steps(Seconds(10), [end] { return end.passed(); });
  Socket socket(steps.io());
  const Status done =
      connect_to_one(steps, socket, {dead.endpoint(), dead.endpoint()}, "connecting to host:1", Seconds(8));
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, Code::interrupted);
}

}  // namespace
}  // namespace solstice::net
