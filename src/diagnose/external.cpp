#include "diagnose/external.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <sstream>

#include "base/process/subprocess.h"

namespace solstice::diagnose {
namespace {

constexpr Seconds kPatience{10};
constexpr size_t kLongestAnswer = size_t{4} << 20, kShown = 80;
constexpr const char* kProtocol =
    "it reads a JSON object a line and answers each with one within 10 s, on standard output, which is for answers "
    "alone: docs/diagnosis.md#stage-2-tools; or leave --tool out";
constexpr size_t kLongestName = 40, kLongestList = 32;

struct Described {
  std::string name, question;
  std::vector<std::string> sources;
  std::vector<Class> classes = {};
  std::vector<Threshold> thresholds = {};
  static auto fields() {
    return std::make_tuple(field("name", &Described::name, "of the tool"),
                           field("question", &Described::question, "that it answers"),
                           field("sources", &Described::sources, "that it needs"),
                           optional_field("classes", &Described::classes, "of kernels that it looks at"),
                           optional_field("thresholds", &Described::thresholds, "that it decides by"));
  }
};

struct Answered {
  std::vector<Finding> findings;
  static auto fields() { return std::make_tuple(field("findings", &Answered::findings, "of these facts")); }
};

class ToolProcess {
 public:
  ToolProcess(Subprocess process, std::string command) : process_(std::move(process)), command_(std::move(command)) {}

  template <Record T>
  Result<T> ask(const Json& question) {
    const std::lock_guard<std::mutex> one_at_a_time(asking_);
    SOLSTICE_TRY(const std::string line, exchange(question.dump()).context(name()));
    const Result<Json> answer = parse_json(line);
    if (!answer.ok()) {
      return fail(Code::bad_argument, fmt::format("{}: `{}` is no JSON", name(), line.substr(0, kShown)), kProtocol);
    }
    Result<T> read = from_json<T>(*answer).context(name());
    if (!read.ok()) read.error().hint = kProtocol;
    return read;
  }

  std::string name() const { return fmt::format("tool `command:{}`", command_); }

 private:
  // Ended where it does not answer in time: a late answer would be taken for that of the next question.
  Result<std::string> exchange(const std::string& question) {
    const Deadline deadline(kPatience);
    const Status asked = process_.write_line(question, deadline);
    Result<std::string> answer = asked.ok() ? process_.read_line(deadline) : Result<std::string>(asked.error());
    if (!answer.ok()) {
      process_.kill();
      answer.error().hint = kProtocol;
    }
    return answer;
  }

  std::mutex asking_;  // candidates are measured on several GPUs at once
  Subprocess process_;
  std::string command_;
};

Status check_described(const Described& of) {
  if (of.name.empty() || of.name.size() > kLongestName || of.question.empty() || of.question.size() > kLongestText)
    return fail(Code::bad_argument, "a tool needs a name and a question",
                fmt::format("names have 1 to {} bytes, questions 1 to {}", kLongestName, kLongestText));
  for (const Tool* tool : all_tools()) {
    if (tool->name == of.name)
      return fail(Code::bad_argument, fmt::format("`{}` is a tool of Solstice's own", of.name), "give it another name");
  }
  for (const std::string& source : of.sources) {
    const auto& known = source_names();
    if (std::find(known.begin(), known.end(), source) == known.end())
      return fail(Code::bad_argument, fmt::format("no source `{}`", source),
                  fmt::format("sources are {}", fmt::join(known, ", ")));
  }
  return success();
}

}  // namespace

Status check_lengths(const Finding& finding) {
  const auto too_long = [](const std::string& what, size_t size, size_t most) {
    return Status(fail(Code::bad_record, fmt::format("{} of {}; {} is the most", what, size, most)));
  };
  std::vector<std::string> texts = {finding.cause, finding.gain.because, finding.place.equation, finding.place.part,
                                    finding.place.file};
  for (const Evidence& each : finding.evidence) texts.insert(texts.end(), {each.what, each.unit, each.source});
  for (const FindingAction& action : finding.actions) {
    texts.insert(texts.end(), {action.text, action.kernel, action.rewrite, action.with});
    for (const auto& [name, value] : action.knobs) texts.insert(texts.end(), {name, value});
    if (action.knobs.size() > kLongestList) return too_long("knobs", action.knobs.size(), kLongestList);
  }
  for (const std::string& text : texts) {
    if (text.size() > kLongestText) return too_long("a text", text.size(), kLongestText);
  }
  for (const size_t size : {finding.evidence.size(), finding.actions.size(), finding.sources.size()}) {
    if (size > kLongestList) return too_long("a list", size, kLongestList);
  }
  return success();
}

void hold_to_equations(const ProgramView& view, Finding& finding) {
  const KernelView* kernel = view.kernel(finding.place.kernel);
  if (!kernel) return;
  GainBound held = kernel->gain(finding.gain.kernel, finding.gain.because);
  held.program = std::min(held.program, finding.gain.program);  // it may know more
  finding.gain = std::move(held);
}

Result<std::unique_ptr<Tool>> start_external(const std::string& command) {
  SpawnOptions options;
  std::istringstream words(command);
  for (std::string word; words >> word;) options.argv.push_back(word);
  if (options.argv.empty())
    return fail(Code::bad_argument, "`command:` lacks a program", "`--tool command:./tool.py`, say");
  options.max_line = kLongestAnswer;
  Result<Subprocess> process = Subprocess::spawn(options).context(fmt::format("tool `command:{}`", command));
  if (!process.ok()) {
    process.error().hint = "give --tool an executable file that is there, or leave it out";
    return process.error();
  }
  auto running = std::make_shared<ToolProcess>(std::move(*process), command);
  SOLSTICE_TRY(Described described, running->ask<Described>(Json::object().set("schema", "solstice.tool/1")));
  SOLSTICE_CHECK(check_described(described).context(running->name()));
  auto out = std::make_unique<Tool>();
  out->name = std::move(described.name);
  out->question = std::move(described.question);
  out->sources = std::move(described.sources);
  out->classes = std::move(described.classes);
  out->thresholds = std::move(described.thresholds);
  out->elsewhere = [running, name = out->name](const Facts& facts) -> Result<std::vector<Finding>> {
    SOLSTICE_TRY(Answered answered, running->ask<Answered>(Json::object().set("facts", to_json(facts))));
    for (Finding& finding : answered.findings) finding.tool = name;
    return std::move(answered.findings);
  };
  return out;
}

Result<std::unique_ptr<Tool>> tool_named(std::string_view name) {
  constexpr std::string_view kCommand = "command:";
  if (name.starts_with(kCommand)) return start_external(std::string(name.substr(kCommand.size())));
  return fail(Code::bad_argument, fmt::format("no tool `{}`", name), "an executable is `command:PROGRAM`");
}

}  // namespace solstice::diagnose
