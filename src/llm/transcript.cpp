#include "llm/transcript.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/log.h"

namespace solstice::llm {
namespace {

namespace fs = std::filesystem;

// Reads whole lines.
Result<std::vector<Exchange>> read_lines(std::string_view text, const fs::path& file) {
  std::vector<Exchange> out;
  int line = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    ++line;
    const Result<Json> json = parse_json(text.substr(begin, end - begin));
    Result<Exchange> exchange = json.ok() ? from_json<Exchange>(*json) : Result<Exchange>(json.error());
    if (exchange.ok() && exchange->answer.has_value() == exchange->failure.has_value()) {
      exchange = fail(Code::bad_record, "an exchange has either an `answer` or a `failure`");
    }
    if (!exchange.ok()) {
      Error error = in_json_file(exchange.error(), text.substr(begin, end - begin), file,
                                 "leave the line out, or give a transcript as a run or `--transcript FILE` wrote it");
      error.line = line;
      return error;
    }
    out.push_back(std::move(exchange).value());
    begin = end + 1;
  }
  return out;
}

size_t whole_lines(std::string_view text) { return text.rfind('\n') + 1; }  // npos + 1 is 0

}  // namespace

Result<std::vector<Exchange>> load_transcript(const fs::path& file) {
  SOLSTICE_TRY(const std::string text, read_file(file));
  const size_t whole = whole_lines(text);
  if (whole < text.size()) log_warning(fmt::format("{} ends in the middle of a line, which is ignored", file.string()));
  return read_lines(std::string_view(text).substr(0, whole), file);
}

Result<std::unique_ptr<Transcript>> Transcript::open(const fs::path& file) {
  int session = 0, calls = 0;
  std::error_code error;
  if (fs::exists(file, error) && fs::is_regular_file(file, error)) {
    SOLSTICE_TRY(const std::vector<Exchange> exchanges, load_transcript(file));
    for (const Exchange& exchange : exchanges) {
      calls = std::max(calls, exchange.call);
      session = std::max(session, exchange.session);
    }
    SOLSTICE_TRY(const std::string text, read_file(file));
    if (whole_lines(text) < text.size()) fs::resize_file(file, whole_lines(text), error);
    if (error) return fail(Code::io_error, fmt::format("cannot mend {}: {}", file.string(), error.message()));
  }
  return std::unique_ptr<Transcript>(new Transcript(file, session + 1, calls));
}

int Transcript::next_call() {
  const std::lock_guard lock(mutex_);
  return ++calls_;
}

Status Transcript::add(const Exchange& exchange, const Scrubber& scrubber) {
  const std::string line = scrubber.scrub(to_json(exchange).dump());
  const std::lock_guard lock(mutex_);
  return append_line(file_, line);
}

}  // namespace solstice::llm
