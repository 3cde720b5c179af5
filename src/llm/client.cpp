#include "llm/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "llm/backoff.h"
#include "llm/schema.h"
#include "llm/structured.h"

namespace solstice::llm {
namespace {

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

// The conversation goes on: what came back, and what is wrong with it. Nothing where the model has no room for that, as
// far as it can be estimated.
std::optional<Request> repair_of(const Request& request, const std::string& text, const std::string& problem,
                                 const Model& model) {
  Request out = request;
  out.messages.push_back({Role::kAssistant, text});
  out.messages.push_back({Role::kUser, "That is not the JSON that was asked for:\n" + problem +
                                           "\nAnswer again with the whole JSON value and nothing else. Its schema:\n" +
                                           request.schema.dump()});
  const bool fits = !model.context || estimated_tokens(out) + out.most_output <= *model.context;
  return fits ? std::optional(std::move(out)) : std::nullopt;
}

uint64_t seed_of(uint64_t seed, int call) { return seed * 1000003 + static_cast<uint64_t>(call); }

}  // namespace

Client::Client(const ProviderSpec& spec, std::unique_ptr<Provider> provider, Model model, ClientOptions options)
    : spec_(spec),
      provider_(std::move(provider)),
      model_(std::move(model)),
      options_(std::move(options)),
      ledger_(options_.budget) {
  if (options_.total.value <= 0) options_.total = spec.patience;
}

Result<std::unique_ptr<Client>> Client::open(std::string_view provider, std::map<std::string, std::string> options,
                                             Model model, ClientOptions client) {
  SOLSTICE_TRY(const ProviderSpec* spec, find_provider(provider));
  if (spec->network && !client.network) {
    return fail(Code::network_off, fmt::format("provider `{}` needs the network, which is switched off", spec->name),
                "leave --no-network out, or choose `command`, `mailbox` or `replay`, which need none");
  }
  SOLSTICE_TRY(auto opened, open_provider(*spec, std::move(options), model, client.cancelled, client.news));
  return std::unique_ptr<Client>(new Client(*spec, std::move(opened), std::move(model), std::move(client)));
}

Status Client::check(const Request& request) const {
  if (request.messages.empty() || request.messages.back().role != Role::kUser) {
    return fail(Code::bad_argument, "a request ends with a message of the user");
  }
  if (request.most_output <= 0 || (model_.max_output && request.most_output > *model_.max_output)) {
    return fail(Code::bad_argument, fmt::format("the most output tokens are {}", request.most_output),
                fmt::format("legal are 1 to {}",
                            model_.max_output ? std::to_string(*model_.max_output) : "what the model gives"));
  }
  return request.schema.is_null() ? success() : check_schema(request.schema);
}

Result<Reply> Client::ask(const Request& request, const Deadline& end) {
  SOLSTICE_CHECK(check(request));
  const Seconds begin = monotonic_now();
  const Deadline deadline(std::min(options_.total, end.left()));
  ledger_.count_call();
  Reply reply;
  Tally tally;
  SOLSTICE_TRY(Answer answer, call(request, deadline, tally));
  if (!request.schema.is_null() && answer.finish == Finish::kComplete) {
    Parsed parsed = parse_answer(answer.text, request.schema);
    const std::optional<Request> repair =
        parsed.problem.empty() ? std::nullopt : repair_of(request, answer.text, parsed.problem, model_);
    if (repair) {
      reply.repairs = 1;
      ledger_.count_repair();
      SOLSTICE_TRY(answer, call(*repair, deadline, tally));
      parsed = answer.finish == Finish::kComplete ? parse_answer(answer.text, request.schema) : Parsed{};
    }
    if (!parsed.problem.empty()) answer.finish = Finish::kInvalid;
    if (answer.finish == Finish::kComplete) reply.json = std::move(parsed.json);
    reply.problem = std::move(parsed.problem);
  }
  reply.text = std::move(answer.text);
  reply.finish = answer.finish;
  reply.model = std::move(answer.model);
  reply.usage = tally.usage();
  reply.estimated = tally.estimated();
  reply.attempts = tally.attempts();
  reply.latency = monotonic_now() - begin;
  return reply;
}

// Attempts until one brings an answer, nothing more can be gained by another, or time or budget are spent.
Result<Answer> Client::call(const Request& request, const Deadline& deadline, Tally& tally) {
  const int call = options_.transcript ? options_.transcript->next_call() : ++calls_;
  for (int number = 1;; ++number) {
    Result<Attempt> made = attempt(request, deadline, call, number, tally);
    if (!made.ok()) return std::move(made).context(fmt::format("asking the provider `{}`", spec_.name)).error();
    if (Answer* answer = std::get_if<Answer>(&*made)) return std::move(*answer);
    const Failure& failure = std::get<Failure>(*made);
    const Seconds pause = failure.after.value_or(
        backoff(options_.first_wait, options_.longest_wait, number, seed_of(options_.seed, call)));
    const bool late = pause > deadline.left();
    if (!failure.again || number > options_.retries || late) {
      Error error = error_of(failure);
      error.message = fmt::format("provider `{}`: {}", spec_.name, error.message);
      if (number > 1) error.context.push_back(fmt::format("making attempt {}", number));
      if (failure.again && late)
        error.context.push_back(
            fmt::format("another had to wait {:.3g} s, and {:.3g} s were left", pause.value, deadline.left().value));
      return error;
    }
    SOLSTICE_CHECK(wait(pause, deadline));
  }
}

Result<Attempt> Client::attempt(const Request& request, const Deadline& deadline, int call, int number, Tally& tally) {
  SOLSTICE_TRY(const Ledger::Hold hold, ledger_.hold(request, model_.price, spec_.recorded));
  Exchange exchange;
  exchange.call = call;
  exchange.attempt = number;
  exchange.provider = spec_.name;
  exchange.model = model_.name;
  exchange.started = utc_now();
  const Seconds begin = monotonic_now();
  Attempt made = provider_->ask(request, deadline);
  exchange.took = monotonic_now() - begin;
  finish(made);
  tally.add(made, ledger_.settle(hold, request, made));
  if (options_.transcript) {
    exchange.session = options_.transcript->session();
    exchange.request = request;
    if (const Answer* answer = std::get_if<Answer>(&made)) {
      exchange.answer = *answer;
    } else {
      exchange.failure = std::get<Failure>(made);
    }
    SOLSTICE_CHECK(options_.transcript->add(exchange, provider_->scrubber()));
  }
  SOLSTICE_CHECK(spent_());
  return made;
}

void Client::recall(const Exchange& exchange) {
  Attempt attempt = exchange.answer ? Attempt(*exchange.answer) : Attempt(*exchange.failure);
  refuse_impossible(attempt);
  ledger_.recall(exchange.request, attempt, exchange.attempt == 1, model_.price);
}

// No key leaves; what is counted can be; empty answers are called so; what tokens cost is known from here on.
void Client::finish(Attempt& attempt) const {
  refuse_impossible(attempt);
  const Scrubber& scrubber = provider_->scrubber();
  if (Answer* answer = std::get_if<Answer>(&attempt)) {
    answer->text = scrubber.scrub(std::move(answer->text));
    answer->model = scrubber.scrub(std::move(answer->model));
    if (answer->finish == Finish::kComplete && is_blank(answer->text)) answer->finish = Finish::kEmpty;
  } else {
    Failure& failure = std::get<Failure>(attempt);
    failure.message = scrubber.scrub(std::move(failure.message));
  }
  Usage& usage = usage_of(attempt);
  if (!usage.cost && !spec_.recorded) usage.cost = cost_of(model_.price, usage);
}

Status Client::wait(Seconds time, const Deadline& deadline) const {
  const Deadline end(time);
  while (!end.passed() && !deadline.passed()) {
    if (options_.cancelled && options_.cancelled())
      return fail(Code::interrupted, fmt::format("stopped while waiting for the provider `{}`", spec_.name));
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(end.left().value, 0.05)));
  }
  return success();
}

}  // namespace solstice::llm
