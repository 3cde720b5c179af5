#include "search/external.h"

#include <fmt/format.h>

#include <sstream>

#include "base/subprocess.h"

namespace solstice::search {
namespace {

constexpr Seconds kPatience{30};

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
    SOLSTICE_CHECK(ask(hello));
    return success();
  }

  Result<Json> ask(const Json& question) {
    SOLSTICE_CHECK(process_.write_line(question.dump(), Deadline(kPatience)).context(name()));
    SOLSTICE_TRY(const std::string line, process_.read_line(Deadline(kPatience)).context(name()));
    return parse_json(line).context(name());
  }

  Result<std::optional<Decision>> read(const Json& answer, const Tree& tree) const {
    if (has(answer, "wait")) return std::optional<Decision>();
    const bool again = has(answer, "again");
    const Json& which = answer.at(again ? "again" : "expand");
    if (!which.is_number()) return wrong(answer, "it has none of `expand`, `again`, `wait`");
    Decision out{static_cast<int>(which.as_int()), again, Precision::kUsual};
    if (out.node < 0 || out.node > tree.trials()) return wrong(answer, "there is no such node");
    const Node& node = tree.node(out.node);
    if (again ? out.node == 0 || node.in_flight : !node.open())
      return wrong(answer, again ? "it is being measured" : "nothing can be derived from it");
    if (has(answer, "precision")) {
      const std::vector<const char*> names = enum_names(Precision::kUsual);
      size_t i = 0;
      while (i < names.size() && answer.at("precision").as_string() != names[i]) ++i;
      if (i == names.size()) return wrong(answer, "`precision` is rough, usual or precise");
      out.precision = static_cast<Precision>(i);
    }
    // Without end otherwise: to measure again takes none of the trials.
    if (again && node.measurement && out.precision <= node.precision) return wrong(answer, "it was measured at least as precisely");
    return std::optional(out);
  }

  Error wrong(const Json& answer, const char* why) const {
    return fail(Code::bad_argument, fmt::format("{}: its answer `{}` makes no sense: {}", name(), answer.dump(), why));
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
  if (options.argv.empty()) return fail(Code::bad_argument, "`command:` lacks a program");
  SOLSTICE_TRY(Subprocess process, Subprocess::spawn(options));
  return std::unique_ptr<Policy>(std::make_unique<External>(std::move(process), command, seed));
}

}  // namespace solstice::search
