// A server that misbehaves on purpose: each connection is handed to the test's function, which reads the request and
// writes what it likes, as slowly as it likes. Plain sockets: no library would send what these tests need.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace solstice::testing {

class FaultyServer {
 public:
  struct Exchange {
    int number = 0;       // 0, 1, ... of the connection
    std::string request;  // head and body
    int socket = -1;
    const std::atomic<bool>* stopped = nullptr;

    void send(std::string_view text) const {
      while (!text.empty()) {
        const ssize_t n = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (n <= 0) return;
        text.remove_prefix(static_cast<size_t>(n));
      }
    }
    // Returns early where the test is over.
    void wait(std::chrono::milliseconds time) const {
      const auto end = std::chrono::steady_clock::now() + time;
      while (!*stopped && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    // The connection ends by a reset.
    void reset() const {
      const linger at_once{1, 0};
      ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    std::string body() const {
      const size_t end = request.find("\r\n\r\n");
      return end == request.npos ? "" : request.substr(end + 4);
    }
    // A whole answer.
    void answer(int status, std::string_view text, std::string_view headers = "") const {
      send("HTTP/1.1 " + std::to_string(status) + " Status\r\nContent-Length: " + std::to_string(text.size()) + "\r\n" +
           std::string(headers) + "\r\n" + std::string(text));
    }
    // An answer whose body ends with the connection.
    void stream(std::string_view text) const {
      send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + std::string(text));
    }
    void chunk(std::string_view text) const {
      char size[24];
      std::snprintf(size, sizeof size, "%zx\r\n", text.size());
      send(size + std::string(text) + "\r\n");
    }
  };
  using Handler = std::function<void(const Exchange&)>;

  explicit FaultyServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listener_, 16);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~FaultyServer() {
    stopped_ = true;
    accepting_.join();
    for (std::thread& thread : threads_) thread.join();
    ::close(listener_);
  }
  FaultyServer(const FaultyServer&) = delete;
  FaultyServer& operator=(const FaultyServer&) = delete;

  int port() const { return port_; }
  std::string url(std::string_view path = "") const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }
  int connections() const { return connections_; }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // Reads no request before the handler runs: for tests of TLS and of what is no HTTP.
  bool raw = false;

 private:
  bool readable(int fd) const {
    pollfd wanted{fd, POLLIN, 0};
    while (!stopped_) {
      if (::poll(&wanted, 1, 5) > 0) return true;
    }
    return false;
  }

  void accept_all() {
    while (readable(listener_)) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      threads_.emplace_back([this, socket, number = connections_++] {
        serve({number, raw ? "" : read_request(socket), socket, &stopped_});
      });
    }
  }

  void serve(const Exchange& exchange) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(exchange.request);
    }
    handler_(exchange);
    ::close(exchange.socket);
  }

  // Head, and as much body as Content-Length says.
  std::string read_request(int socket) const {
    std::string text;
    while (readable(socket)) {
      char piece[65536];
      const ssize_t n = ::recv(socket, piece, sizeof piece, 0);
      if (n <= 0) break;
      text.append(piece, static_cast<size_t>(n));
      const size_t end = text.find("\r\n\r\n");
      const size_t length = text.find("Content-Length: ");
      const size_t wanted = length < end ? std::stoul(text.substr(length + 16)) : 0;
      if (end != text.npos && text.size() >= end + 4 + wanted) break;
    }
    return text;
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopped_ = false;
  std::atomic<int> connections_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread accepting_;
  std::vector<std::thread> threads_;
};

}  // namespace solstice::testing
