// An oracle that answers each request by its name, or that is gone from one on.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "run/oracle_transport.h"

namespace solstice::flow {

struct OracleScript {
  std::map<std::string, std::deque<std::string>> replies;  // of a request, in turn; the last one stays
  std::map<std::string, int> timed;                        // blocks that are announced before the reply
  std::string dies_at;                                     // its process is gone from this request on
  std::vector<std::string> asked;                          // requests with their parameters
  bool gone = false;
};

class ScriptedOracle final : public run::OracleTransport {
 public:
  explicit ScriptedOracle(OracleScript& script) : script_(script) {}

  Status write_line(std::string_view line, const Deadline&) override {
    SOLSTICE_TRY(const Json message, parse_json(line));
    const std::string name = message.at("request").as_string(), id = message.at("id").dump();
    script_.asked.push_back(name + " " + message.at("params").dump());
    script_.gone = script_.gone || name == script_.dies_at;
    const auto say = [&](const char* event, const std::string& body) {
      lines_.push_back("{\"schema\":\"solstice.oracle/1\",\"id\":" + id + ",\"event\":\"" + event + "\",\"" + event +
                       "\":" + body + "}");
    };
    for (int i = 0; i < script_.timed[name]; ++i) say("progress", R"({"stage":"timed","message":""})");
    std::deque<std::string>& replies = script_.replies[name];
    say("reply", replies.empty() ? "{}" : replies.front());
    if (replies.size() > 1) replies.pop_front();
    return success();
  }

  Result<std::string> read_line(const Deadline&) override {
    if (script_.gone) return fail(Code::process_failed, "the Python process is gone");
    std::string line = lines_.front();
    lines_.pop_front();
    return line;
  }

  void abandon() override {}

 private:
  OracleScript& script_;
  std::deque<std::string> lines_;
};

}  // namespace solstice::flow
