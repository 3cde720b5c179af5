#include "net/sse.h"

#include <utility>

namespace solstice::net {

std::vector<Event> EventReader::feed(std::string_view bytes) {
  std::vector<Event> out;
  if (!bytes.empty() && std::exchange(after_cr_, false) && bytes[0] == '\n') bytes.remove_prefix(1);
  while (!bytes.empty()) {
    const size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (end == bytes.npos) break;
    take_line(line_, out);
    line_.clear();
    const bool cr = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    after_cr_ = cr && bytes.empty();
    if (cr && bytes.starts_with('\n')) bytes.remove_prefix(1);
  }
  return out;
}

void EventReader::take_line(std::string_view line, std::vector<Event>& out) {
  if (std::exchange(first_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    if (has_data_) {
      if (event_.name.empty()) event_.name = "message";
      out.push_back(std::move(event_));
    }
    event_ = {};
    has_data_ = false;
    return;
  }
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == line.npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "event") event_.name = std::string(value);
  if (name != "data") return;  // comments begin with ':'; `id` and `retry` are for browsers that reconnect
  if (has_data_) event_.data += '\n';
  event_.data += value;
  has_data_ = true;
}

}  // namespace solstice::net
