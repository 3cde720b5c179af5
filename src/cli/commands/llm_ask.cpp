// solstice llm ask: one question to a provider.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process/interrupt.h"
#include "cli/agent_options.h"
#include "cli/command.h"
#include "cli/values.h"
#include "cli/view/table.h"
#include "llm/client.h"

namespace solstice::cli {
namespace {

// read() alone would begin again after a first Ctrl-C.
Result<std::string> read_input() {
  std::string text;
  char piece[65536];
  while (!interrupted()) {
    pollfd in{STDIN_FILENO, POLLIN, 0};
    if (::poll(&in, 1, 100) <= 0) continue;
    const ssize_t n = ::read(STDIN_FILENO, piece, sizeof piece);
    if (n < 0) return fail(Code::io_error, "cannot read standard input");
    if (n == 0) return text;
    text.append(piece, static_cast<size_t>(n));
  }
  return fail(Code::interrupted, "stopped while reading the prompt");
}

Result<llm::Request> request_of(const Invocation& in) {
  llm::Request out;
  out.label = "ask";
  SOLSTICE_TRY(const int most, parse_int("--most-output", in.get("--most-output"), 1, 100'000'000));
  out.most_output = most;
  if (in.has("--temperature")) {
    SOLSTICE_TRY(out.temperature, parse_real("--temperature", in.get("--temperature"), 0, 2));
  }
  if (in.has("--system")) {
    SOLSTICE_TRY(out.system, read_file(in.get("--system")));
  }
  if (in.has("--schema")) {
    SOLSTICE_TRY(const std::string schema, read_file(in.get("--schema")));
    SOLSTICE_TRY(out.schema, parse_json_file(schema, in.get("--schema"), "give a JSON schema, an object"));
  }
  const std::string& prompt = in.get("--prompt");
  SOLSTICE_TRY(std::string text, prompt == "-" ? read_input() : read_file(prompt));
  out.messages.push_back({llm::Role::kUser, std::move(text)});
  return out;
}

std::string summary_of(const llm::Reply& reply) {
  const llm::Usage& usage = reply.usage;
  std::string out = enum_name(reply.finish);
  if (usage.input) out += fmt::format(", {} tokens in", *usage.input);
  if (usage.output) out += fmt::format(", {} out", *usage.output);
  out += usage.cost ? fmt::format(", {:.6f} USD", usage.cost->value) : ", cost unknown";
  out += fmt::format(", {}, {} attempt{}", show(reply.latency), reply.attempts, reply.attempts == 1 ? "" : "s");
  return reply.problem.empty() ? out : out + "\n" + reply.problem;
}

Result<int> run_llm_ask(const Invocation& in) {
  llm::ClientOptions options;
  options.network = !in.flag("--no-network");
  options.news = [](const std::string& text) { fmt::print(stderr, "solstice: {}\n", text); };
  if (in.has("--timeout")) {
    SOLSTICE_TRY(const double total, parse_real("--timeout", in.get("--timeout"), 0.001, 1e9));
    options.total = Seconds(total);
  }
  llm::Model model;
  if (in.has("--model")) {
    SOLSTICE_TRY(model, llm::load_model(in.get("--model")));
  }
  SOLSTICE_TRY(const auto given, parse_pairs("--option", in.all("--option")));
  std::unique_ptr<llm::Transcript> transcript;
  if (in.has("--transcript")) {
    SOLSTICE_TRY(transcript, llm::Transcript::open(in.get("--transcript")));
    options.transcript = transcript.get();
  }
  SOLSTICE_TRY(const auto client, llm::Client::open(in.get("--provider"), given, model, options));
  SOLSTICE_TRY(const llm::Request request, request_of(in));
  SOLSTICE_TRY(const llm::Reply reply, client->ask(request));
  if (in.json()) {
    fmt::print("{}\n", to_json(reply).dump(2));
  } else {
    fmt::print("{}{}", reply.text, reply.text.ends_with('\n') ? "" : "\n");
    fmt::print(stderr, "solstice: {}\n", summary_of(reply));
  }
  return reply.finish == llm::Finish::kComplete ? 0 : exit_code(ErrorKind::kInput);
}

}  // namespace

extern const Command solstice_commands_llm_ask;
const Command solstice_commands_llm_ask = {
    .name = "llm ask",
    .summary = "Ask a language model one question, to try a provider",
    .help =
        "Prints the answer to standard output, and its status, tokens and cost to standard error. `solstice list "
        "providers` lists the providers with their options, `solstice list models` the models. Keys come from "
        "the environment or a file, never from the command line. The exit code is 2 also if the answer is "
        "refused, empty, cut off or not the requested JSON.",
    .example = "solstice llm ask --provider openai --model gpt-5-mini --prompt question.txt",
    .parameters =
        {{"--provider", "NAME", "provider to ask", "", {}, true, false},
         {"--model",
          "NAME",
          "model, or the path of its file; not needed with `command`, `mailbox` and `replay`",
          "",
          {},
          false,
          false},
         {"--prompt", "FILE", "the question; -: standard input", "-", {}, false, false},
         {"--system", "FILE", "system prompt", "", {}, false, false},
         {"--schema", "FILE", "JSON Schema of the answer; a wrong answer is repaired once", "", {}, false, false},
         {"--option", "NAME=VALUE", kProviderOptionHelp, "", {}, false, true},
         {"--most-output", "TOKENS", "most tokens to generate", "4096", {}, false, false},
         {"--temperature", "T", "sampling temperature; leave it out for models that take none", "", {}, false, false},
         {"--timeout", "SECONDS", "time limit of the whole call [default: the provider's]", "", {}, false, false},
         {"--transcript", "FILE", "file that records every attempt", "", {}, false, false},
         {"--no-network", "", "refuse providers that need the network", "", {}, false, false},
         json_flag()},
    .run = run_llm_ask,
    .polls_interrupts = true,
};

}  // namespace solstice::cli
