#include "search/external.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "base/process/subprocess.h"

namespace solstice::search {
namespace {

constexpr Seconds kPatience{30};
constexpr size_t kShown = 80;  // characters of an answer that is none
constexpr const char* kProtocol =
    "it reads a JSON object a line and answers each with one within 30 s, on standard output, which is for answers "
    "alone: docs/search.md#a-policy-of-your-own";

bool has(const Json& answer, std::string_view key) { return answer.find(key) != nullptr; }

class External : public Policy {
 public:
  External(Subprocess process, std::string command, uint64_t seed)
      : process_(std::move(process)), command_(std::move(command)), seed_(seed) {}

  Result<std::optional<Decision>> decide(const Tree& tree) override {
    if (!greeted_) SOLSTICE_CHECK(greet());
    Json events = Json::array();
    for (; told_ < tree.events().size(); ++told_) events.push(to_json(tree.events()[told_]));
    SOLSTICE_TRY(const Json answer, ask(Json::object().set("events", std::move(events))));
    return read(answer, tree);
  }

 private:
  Status greet() {
    Json hello = Json::object();
    hello.set("schema", "solstice.policy/1").set("seed", static_cast<int64_t>(seed_));
    greeted_ = true;
    SOLSTICE_TRY(const Json answer, ask(hello));
    return answer.is_object() ? success() : Status(wrong(answer, "the greeting is answered with an object"));
  }

  Result<Json> ask(const Json& question) {
    const Deadline deadline(kPatience);
    const Status asked = process_.write_line(question.dump(), deadline);
    const Result<std::string> line = asked.ok() ? process_.read_line(deadline) : Result<std::string>(asked.error());
    if (!line.ok()) return fail(line.error().code, fmt::format("{}: {}", name(), line.error().message), kProtocol);
    Result<Json> answer = parse_json(*line);
    if (answer.ok()) return answer;
    return fail(Code::bad_argument, fmt::format("{}: `{}` is no JSON", name(), line->substr(0, kShown)), kProtocol);
  }

  Result<std::optional<Decision>> read(const Json& answer, const Tree& tree) const {
    const bool expand = has(answer, "expand"), again = has(answer, "again"), wait = has(answer, "wait");
    if (expand + again + wait != 1) return wrong(answer, "it has to have one of `expand`, `again`, `wait`");
    if (wait && !answer.at("wait").as_bool()) return wrong(answer, "`wait` is true or left out");
    if (wait) return std::optional<Decision>();
    const Json& which = answer.at(again ? "again" : "expand");
    const double number = which.as_double(-1);  // languages without integers write 1.0
    if (!which.is_number() || number < 0 || number > tree.trials() || number != std::floor(number)) {
      return wrong(answer, "there is no such node");
    }
    Decision out{static_cast<int>(number), again, Precision::kUsual};
    const Node& node = tree.node(out.node);
    if (const char* why = again ? why_not_again(node) : why_not_open(node)) return wrong(answer, why);
    if (has(answer, "precision")) {
      const std::vector<const char*> names = enum_names(Precision::kUsual);
      size_t i = 0;
      while (i < names.size() && answer.at("precision").as_string() != names[i]) ++i;
      if (i == names.size()) return wrong(answer, "`precision` is rough, usual or precise");
      out.precision = static_cast<Precision>(i);
    }
    // Without end otherwise: to measure again takes none of the trials.
    if (again && node.measurement && out.precision <= node.precision)
      return wrong(answer, "it was measured at least as precisely");
    return std::optional(out);
  }

  static const char* why_not_again(const Node& node) {
    if (node.id == 0) return "the original is not measured again";
    return node.in_flight ? "its result is not in yet" : nullptr;
  }

  static const char* why_not_open(const Node& node) {
    if (node.open()) return nullptr;
    if (node.spent) return "it is spent: nobody has a further move from there";
    return node.proposal.barren ? "it is no program" : "its result is not in yet";
  }

  Error wrong(const Json& answer, const char* why) const {
    return fail(Code::bad_argument,
                fmt::format("{}: its answer `{}` makes no sense: {}", name(), answer.dump().substr(0, kShown), why),
                kProtocol);
  }
  std::string name() const { return fmt::format("policy `command:{}`", command_); }

  Subprocess process_;
  std::string command_;
  uint64_t seed_;
  bool greeted_ = false;
  size_t told_ = 0;
};

}  // namespace

Result<std::unique_ptr<Policy>> start_external(const std::string& command, uint64_t seed) {
  SpawnOptions options;
  std::istringstream words(command);
  for (std::string word; words >> word;) options.argv.push_back(word);
  if (options.argv.empty())
    return fail(Code::bad_argument, "`command:` lacks a program", "`--policy command:./policy.py`, say");
  Result<Subprocess> process = Subprocess::spawn(options).context(fmt::format("policy `command:{}`", command));
  if (!process.ok()) {
    process.error().hint = "give --policy an executable file that is there, or one of `solstice list policies`";
    return std::move(process).error();
  }
  return std::unique_ptr<Policy>(std::make_unique<External>(std::move(*process), command, seed));
}

}  // namespace solstice::search
