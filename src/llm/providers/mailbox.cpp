// A folder in which requests appear as files and replies are picked up: for a person, another program, or a machine
// without network. The protocol is in docs/providers.md.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "base/file.h"
#include "llm/open_request.h"
#include "llm/provider.h"

namespace solstice::llm {
namespace {

namespace fs = std::filesystem;

// "0012.md" is of request 12; names that begin otherwise are nobody's.
int number_of(const fs::path& name) {
  const std::string text = name.stem().string();
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

int highest_number(const fs::path& folder) {
  int highest = 0;
  std::error_code ignored;  // a folder that cannot be listed cannot be written either, which tells
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    highest = std::max(highest, number_of(entry.path()));
  return highest;
}

// Look of a file: the same twice means that nobody was writing it in between.
struct Look {
  uintmax_t size = 0;
  fs::file_time_type changed;
  bool operator==(const Look&) const = default;
};

std::optional<Look> look_at(const fs::path& file) {
  std::error_code gone;
  const Look look{fs::file_size(file, gone), fs::last_write_time(file, gone)};
  return gone || look.size == 0 ? std::nullopt : std::optional(look);
}

std::string quoted(const std::string& text) { return text + (text.ends_with('\n') ? "" : "\n"); }

std::string readable(const Request& request, int number) {
  std::string out = fmt::format("# Request {:04}{}\n\n", number, request.label.empty() ? "" : ": " + request.label);
  out += fmt::format(
      "Write the answer to `replies/{0:04}.tmp`, then rename it to `replies/{0:04}.md`. At most {1} tokens.\n", number,
      request.most_output);
  if (!request.system.empty()) out += "\n# Instructions\n\n" + quoted(request.system);
  for (const Message& message : request.messages) {
    out += fmt::format("\n# {}\n\n", message.role == Role::kUser ? "Question" : "Answer so far") + quoted(message.text);
  }
  if (!request.schema.is_null())
    out +=
        "\n# Form of the answer\n\nOne JSON value that follows this JSON Schema:\n\n" + request.schema.dump(2) + "\n";
  return out;
}

class Mailbox : public Provider {
 public:
  Mailbox(fs::path folder, Seconds timeout, Seconds poll, Seconds settle, const Setup& setup)
      : folder_(std::move(folder)),
        timeout_(timeout),
        poll_(poll),
        settle_(settle),
        model_(setup.model.id),
        cancelled_(setup.cancelled),
        news_(setup.news) {}

  Attempt ask(const Request& request, const Deadline& deadline) override {
    Result<Posed> posed = pose(request);
    if (!posed.ok()) return failure_of(posed.error(), false);
    const int number = posed->number;
    news_(fmt::format("waiting for {}, the answer to {}", reply_name(number), request_file(number, "md").string()));
    const Result<Answer> answer = wait_for(number, Deadline(std::min(timeout_, deadline.left())));
    // Whoever looks at the request later sees that nobody waits for its answer.
    const Status marked =
        answer.ok() ? success() : write_file(request_file(number, "expired"), answer.error().text() + "\n");
    posed->open.close();
    if (answer.ok()) return *answer;
    Failure failure = failure_of(answer.error(), false);
    if (!marked.ok()) failure.message += "; " + marked.error().text();
    return failure;
  }

 private:
  fs::path request_file(int number, std::string_view kind) const {
    return folder_ / "requests" / fmt::format("{:04}.{}", number, kind);
  }

  struct Posed {
    int number = 0;
    OpenRequest open;
  };

  Result<Posed> pose(const Request& request) const {
    SOLSTICE_CHECK(make_folder(folder_ / "requests"));
    SOLSTICE_CHECK(make_folder(folder_ / "replies"));
    if (std::optional<Posed> again = take_up(request)) return std::move(*again);
    return put(request);
  }

  // A request that a killed process had asked word for word: somebody may be at work on it, or done.
  std::optional<Posed> take_up(const Request& request) const {
    std::vector<int> numbers;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "requests", ignored)) {
      if (entry.path().extension() == ".open") numbers.push_back(number_of(entry.path()));
    }
    std::sort(numbers.begin(), numbers.end());
    for (const int number : numbers) {
      const Result<std::string> asked = read_file(request_file(number, "json"));
      if (!asked.ok() || *asked != in_json(request, number) || fs::exists(request_file(number, "expired"), ignored))
        continue;
      if (auto open = OpenRequest::take_up(request_file(number, "open"))) return Posed{number, std::move(*open)};
    }
    return std::nullopt;
  }

  std::string in_json(const Request& request, int number) const {
    Json json = to_json(request);
    return json.set("number", number).set("model", model_).dump(2) + "\n";
  }

  // Whole under another name first, then linked to a number that nobody has: a file that is seen is complete. The
  // readable one is there before the other.
  Result<Posed> put(const Request& request) const {
    int number = std::max(highest_number(folder_ / "requests"), highest_number(folder_ / "replies"));
    for (int tries = 0; tries < 10000; ++tries) {
      const fs::path part =
          folder_ / "requests" /
          fmt::format("part-{}-{}-{}", ::getpid(), ++number, std::hash<std::thread::id>()(std::this_thread::get_id()));
      SOLSTICE_CHECK(write_file(part, readable(request, number)));
      std::error_code taken, ignored;
      fs::create_hard_link(part, request_file(number, "md"), taken);
      fs::remove(part, ignored);
      if (taken == std::errc::file_exists) continue;
      if (taken)
        return fail(Code::io_error,
                    fmt::format("cannot make {}: {}", request_file(number, "md").string(), taken.message()));
      SOLSTICE_TRY(OpenRequest open, OpenRequest::create(request_file(number, "open")));
      SOLSTICE_CHECK(write_file(request_file(number, "json"), in_json(request, number)));
      return Posed{number, std::move(open)};
    }
    return fail(Code::io_error, fmt::format("no free number in {}", (folder_ / "requests").string()));
  }

  Result<Answer> wait_for(int number, const Deadline& deadline) const {
    Deadline next(Seconds(0));
    fs::path seen;
    Look look;
    Seconds since;
    while (true) {
      if (cancelled_ && cancelled_())
        return fail(Code::interrupted, fmt::format("stopped while waiting for {}", reply_name(number)));
      if (next.passed()) {
        next = Deadline(std::min(poll_, settle_));
        for (const char* kind : {"json", "md", "txt"}) {
          const fs::path file = folder_ / "replies" / fmt::format("{:04}.{}", number, kind);
          const std::optional<Look> now = look_at(file);
          if (!now) continue;
          if (file != seen || *now != look) since = monotonic_now();
          seen = file;
          look = *now;
          if (monotonic_now() - since >= settle_) return read(file);
          break;
        }
      }
      if (deadline.passed()) return fail(Code::deadline, fmt::format("{} did not come in time", reply_name(number)));
      std::this_thread::sleep_for(
          std::chrono::duration<double>(std::min({0.05, next.left().value + 1e-4, deadline.left().value + 1e-4})));
    }
  }

  std::string reply_name(int number) const { return (folder_ / "replies" / fmt::format("{:04}.md", number)).string(); }

  static Result<Answer> read(const fs::path& file) {
    SOLSTICE_TRY(std::string text, read_file(file));
    Answer out;
    out.text = std::move(text);
    if (file.extension() != ".json") return out;
    Result<Json> json = parse_json(out.text);
    if (!json.ok()) return fail(Code::provider_failed, fmt::format("{} is {}", file.string(), json.error().message));
    Result<Answer> answer = from_json<Answer>(*json);
    if (!answer.ok())
      return fail(Code::provider_failed, fmt::format("in {}, {}", file.string(), answer.error().message));
    return answer;
  }

  fs::path folder_;
  Seconds timeout_, poll_, settle_;
  std::string model_;
  std::function<bool()> cancelled_;
  News news_;
};

Result<std::unique_ptr<Provider>> open_mailbox(const Setup& setup) {
  SOLSTICE_TRY(const std::string folder, setup.options.needed("folder", "DIR"));
  SOLSTICE_TRY(const Seconds timeout, setup.options.seconds("timeout"));
  SOLSTICE_TRY(const Seconds poll, setup.options.seconds("poll"));
  SOLSTICE_TRY(const Seconds settle, setup.options.seconds("settle"));
  return std::unique_ptr<Provider>(new Mailbox(folder, timeout, poll, settle, setup));
}

}  // namespace

extern const ProviderSpec solstice_providers_mailbox;
const ProviderSpec solstice_providers_mailbox = {
    .name = "mailbox",
    .about =
        "A folder in which requests appear and replies are picked up: a person, another program, a site without "
        "network.",
    .patience = Seconds(7 * 86400),
    .options = {{"folder", "that holds requests/ and replies/; made where it is missing", ""},
                {"timeout", "seconds to wait for one reply", "604800"},
                {"poll", "seconds between two looks", "1"},
                {"settle", "seconds for which a reply must not have changed", "1"}},
    .open = open_mailbox,
};

}  // namespace solstice::llm
