// Server-sent events (WHATWG HTML, section 9.2), put together from the pieces in which they arrive.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace solstice::net {

struct Event {
  std::string name;  // "message" where the stream gives none
  std::string data;  // lines joined by '\n'
};

class EventReader {
 public:
  // The events that these bytes complete.
  std::vector<Event> feed(std::string_view bytes);
  // Something came after the last whole event: the stream broke off.
  bool inside_event() const { return !line_.empty() || has_data_; }

 private:
  void take_line(std::string_view line, std::vector<Event>& out);

  std::string line_;  // not yet ended
  Event event_;
  bool has_data_ = false;
  bool first_ = true;      // no line was taken yet: it may begin with a byte order mark, which is none of it
  bool after_cr_ = false;  // a '\n' that follows belongs to the same end of line
};

}  // namespace solstice::net
