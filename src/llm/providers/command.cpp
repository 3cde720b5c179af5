// Any executable: one request as JSON on its standard input, one answer as JSON on its standard output
// (docs/providers.md).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/paths.h"
#include "base/process/subprocess.h"
#include "llm/provider.h"

namespace solstice::llm {
namespace {

constexpr Seconds kSlice = milliseconds(50);  // interval of checks while it works
constexpr size_t kMostOutput = size_t{64} << 20;

// Words between spaces, or a JSON list of strings.
Result<std::vector<std::string>> words_of(const std::string& text) {
  std::vector<std::string> out;
  if (text.starts_with('[')) {
    SOLSTICE_TRY(const Json json, parse_json(text));
    for (const Json& word : json.items()) {
      if (!word.is_string())
        return fail(Code::bad_argument, fmt::format("option `command`: {} is no string", word.dump()));
      out.push_back(word.as_string());
    }
  } else {
    for (size_t begin = text.find_first_not_of(' '); begin < text.size(); begin = text.find_first_not_of(' ', begin)) {
      const size_t end = std::min(text.find(' ', begin), text.size());
      out.push_back(text.substr(begin, end - begin));
      begin = end;
    }
  }
  if (out.empty()) return fail(Code::bad_argument, "option `command` is empty");
  return out;
}

class CommandProvider : public Provider {
 public:
  CommandProvider(std::vector<std::string> words, Seconds timeout, const Setup& setup)
      : words_(std::move(words)), timeout_(timeout), model_(setup.model.id), cancelled_(setup.cancelled) {}

  Attempt ask(const Request& request, const Deadline& deadline) override {
    Json json = to_json(request);
    json.set("model", model_);
    const Result<CommandOutput> done = run(json.dump() + "\n", Deadline(std::min(timeout_, deadline.left())));
    if (done.ok()) return read(*done);
    Failure failure = failure_of(done.error(), false);
    failure.uncounted = done.error().code == Code::deadline || done.error().code == Code::interrupted;
    return failure;
  }

 private:
  Result<CommandOutput> run(const std::string& input, const Deadline& deadline) const {
    SOLSTICE_TRY(Subprocess child, Subprocess::spawn({.argv = words_}));
    // A command may answer without reading everything.
    const Status written = stepwise(deadline, [&, first = true](const Deadline& slice) mutable {
      return child.write(std::exchange(first, false) ? std::string_view(input) : std::string_view(), slice);
    });
    if (!written.ok() && written.error().code != Code::process_failed) return written.error();
    child.close_input();
    CommandOutput out;
    SOLSTICE_CHECK(stepwise(
        deadline, [&](const Deadline& slice) { return child.read_all(out.out, out.err, kMostOutput, slice); }));
    SOLSTICE_CHECK(stepwise(deadline, [&](const Deadline& slice) -> Status {
      SOLSTICE_TRY(out.exit, child.wait(slice));
      return success();
    }));
    return out;
  }

  // A step that can be taken up again after its own deadline.
  template <typename Step>
  Status stepwise(const Deadline& deadline, Step&& step) const {
    while (true) {
      const Status done = step(Deadline(std::min(kSlice, deadline.left())));
      if (done.ok() || done.error().code != Code::deadline || deadline.passed()) return done;
      if (cancelled_ && cancelled_())
        return fail(Code::interrupted, fmt::format("stopped while `{}` was working", words_.front()));
    }
  }

  Attempt read(const CommandOutput& done) const {
    const auto failed = [&](std::string message) {
      Failure out;
      out.uncounted = true;  // it may have asked a model by then
      out.message = fmt::format("`{}` {}", words_.front(), message);
      if (!done.err.empty())
        out.message += "; it said: " + done.err.substr(done.err.size() - std::min<size_t>(done.err.size(), 2000));
      return out;
    };
    if (!done.exit.ok()) return failed(done.exit.signal ? "was " + done.exit.text() : done.exit.text());
    const Result<Json> json = parse_json(done.out);
    if (!json.ok()) return failed("wrote an answer that is " + json.error().message);
    if (const Json* error = json->find("error"); error && !error->is_null()) {
      const Result<Failure> failure = from_json<Failure>(*error);
      return failure.ok() ? *failure : failed("reported an error in which " + failure.error().message);
    }
    const Result<Answer> answer = from_json<Answer>(*json);
    if (!answer.ok()) return failed("wrote an answer in which " + answer.error().message);
    return *answer;
  }

  std::vector<std::string> words_;
  Seconds timeout_;
  std::string model_;
  std::function<bool()> cancelled_;
};

// Found out before anything is spent on a search that needs it.
Status check_program(const std::string& name) {
  if (name.find('/') == std::string::npos) {
    SOLSTICE_CHECK(find_program(name));
  } else if (::access(name.c_str(), X_OK) != 0) {
    return fail(Code::not_found, fmt::format("`{}` cannot be run: {}", name, std::strerror(errno)));
  }
  return success();
}

Result<std::unique_ptr<Provider>> open_command(const Setup& setup) {
  SOLSTICE_TRY(const std::string text, setup.options.needed("command", "PROGRAM"));
  SOLSTICE_TRY(std::vector<std::string> words, words_of(text));
  SOLSTICE_CHECK(check_program(words.front()));
  SOLSTICE_TRY(const Seconds timeout, setup.options.seconds("timeout"));
  return std::unique_ptr<Provider>(new CommandProvider(std::move(words), timeout, setup));
}

}  // namespace

extern const ProviderSpec solstice_providers_command;
const ProviderSpec solstice_providers_command = {
    .name = "command",
    .about = "Any executable: a request as JSON on its standard input, an answer as JSON on its standard output.",
    .patience = Seconds(1800),
    .options = {{"command", "program and arguments, separated by spaces; or a JSON list of them", ""},
                {"timeout", "seconds for one request", "900"}},
    .open = open_command,
};

}  // namespace solstice::llm
