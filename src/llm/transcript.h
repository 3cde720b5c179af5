// Transcripts: JSON lines, one an attempt, in the order in which they ended (schema solstice.llm.exchange/1). A line is
// written and handed to the system when its attempt ends, so a killed process loses what was under way and nothing
// else. Keys are scrubbed. The provider `replay` answers from one.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "llm/message.h"
#include "llm/secret.h"

namespace solstice::llm {

struct Exchange {
  static constexpr const char* kSchema = "solstice.llm.exchange/1";
  int session = 0;  // 1, 2, ... in the transcript, each process that writes to it; 0: of a Solstice that did not say
  int call = 0;     // 1, 2, ... in the transcript; a repair is a call of its own
  int attempt = 0;  // 1, 2, ... of the call
  std::string provider;
  std::string model;    // name of the model file, "" where there is none
  std::string started;  // UTC
  Seconds took;
  Request request;
  std::optional<Answer> answer;    // either this
  std::optional<Failure> failure;  // or that
  static auto fields() {
    return std::make_tuple(
        optional_field("session", &Exchange::session, "1, 2, ... in the transcript: who wrote it, from opening to end"),
        field("call", &Exchange::call, "1, 2, ... in the transcript"),
        field("attempt", &Exchange::attempt, "1, 2, ... of the call"),
        field("provider", &Exchange::provider, "that was asked"),
        optional_field("model", &Exchange::model, "name of the model file"),
        optional_field("started", &Exchange::started, "UTC"), optional_field("took", &Exchange::took, "seconds"),
        field("request", &Exchange::request, "what was asked"),
        optional_field("answer", &Exchange::answer, "what came back"),
        optional_field("failure", &Exchange::failure, "or why nothing did"));
  }
};

// Errors: those of reading a file; bad_json and bad_record with the line. A last line without its end is what a killed
// process left: it is passed over, with a warning.
Result<std::vector<Exchange>> load_transcript(const std::filesystem::path& file);

class Transcript {
 public:
  // New or to be continued; a last line without its end is taken off. Errors: those of load_transcript, io_error.
  static Result<std::unique_ptr<Transcript>> open(const std::filesystem::path& file);

  int session() const { return session_; }  // its number
  int next_call();
  Status add(const Exchange& exchange, const Scrubber& scrubber);

 private:
  Transcript(std::filesystem::path file, int session, int calls)
      : file_(std::move(file)), session_(session), calls_(calls) {}
  std::filesystem::path file_;
  int session_;
  std::mutex mutex_;
  int calls_;
};

}  // namespace solstice::llm
