// solstice profile: where a program's time goes, why, and what may change it.
#include "flow/run/profile.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/devices.h"
#include "cli/named_module.h"
#include "cli/progress.h"
#include "cli/view/finding_text.h"
#include "lang/embed.h"

namespace solstice::cli {
namespace {

constexpr const char* kSources[] = {"ptxas", "cubin", "sass", "plan", "trace", "counters"};

// "sass,counters".
Result<std::vector<std::string>> left_out(const Invocation& in) {
  std::vector<std::string> out;
  std::string rest = in.get("--without");
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string name = rest.substr(0, comma);
    rest.erase(0, comma + 1);
    if (std::find(std::begin(kSources), std::end(kSources), name) == std::end(kSources)) {
      return fail(Code::bad_argument, fmt::format("--without: no source `{}`", name),
                  "sources are ptxas, cubin, sass, plan, trace and counters");
    }
    out.push_back(name);
  }
  return out;
}

bool ends(const std::string& text, std::string_view end) { return text.ends_with(end); }

Result<flow::Profile> profile_saved(const std::string& file, const flow::ProfileOptions& wanted) {
  SOLSTICE_TRY(const std::string text, read_file(file));
  Result<Json> json = parse_json(text);
  if (!json.ok()) return std::move(json).context(fmt::format("reading {}", file)).error();
  Result<Facts> facts = from_json<Facts>(*json);
  if (!facts.ok()) return std::move(facts).context(fmt::format("reading the facts of {}", file)).error();
  return flow::profile_facts(std::move(*facts), wanted);
}

Result<flow::Profile> profile_subject(const Invocation& in, const flow::ProfileOptions& wanted) {
  const std::string& subject = in.get("SUBJECT");
  if (ends(subject, ".json")) return profile_saved(subject, wanted);
  flow::OptimizeOptions options;
  options.place.device = in.get("--device");
  options.place.machine = in.get("--machine");
  options.terms.numerics = in.get("--numerics");
  options.terms.frozen = in.get("--weights") == "frozen";
  options.command = in.argv;
  std::string text;
  if (ends(subject, ".ucut")) {
    SOLSTICE_TRY(text, lang::read_program(subject));
    if (in.has("--of")) {
      SOLSTICE_TRY(options.module, named_module(in.get("--of"), in));
    }
  } else {
    SOLSTICE_TRY(options.module, named_module(subject, in));
  }
  const std::unique_ptr<Progress> progress = progress_of(in);
  return flow::profile_program(text, subject, options, wanted, *progress);
}

Result<int> run_profile(const Invocation& in) {
  flow::ProfileOptions wanted;
  wanted.kernel = in.get("--kernel");
  SOLSTICE_TRY(wanted.without, left_out(in));
  if (in.has("--tool")) wanted.tools = {in.get("--tool")};
  SOLSTICE_TRY(const flow::Profile profile, profile_subject(in, wanted));
  if (in.has("--facts")) SOLSTICE_CHECK(write_file(in.get("--facts"), to_json(profile.facts).dump(1)));
  if (in.json()) {
    fmt::print("{}\n", json_of(profile).dump(2));
  } else {
    fmt::print("{}{}", text_of(profile), profile.predicted ? kPredictedNote : "");
  }
  return 0;
}

}  // namespace

extern const Command solstice_commands_profile;
const Command solstice_commands_profile = {
    .name = "profile",
    .summary = "Say what bounds a program, what is wrong with it, and what that costs at most",
    .help =
        "Reads what the compiler, the machine code, the launch plan, a trace and counters say of a program, and prints "
        "ranked findings: cause, evidence, an upper bound of the gain, and changes to try. A module is profiled as "
        "the program that the cost models choose for it. A source that is missing leaves its questions open: they are "
        "listed, with what would open them. --facts keeps everything that was read; a .json file of such facts is "
        "diagnosed anywhere, without a GPU.",
    .example = "solstice profile examples/mlp.py",
    .parameters =
        {{"SUBJECT",
          "",
          "a module (FILE.py, FILE.py:NAME), a scheduled .ucut program, or saved facts (.json)",
          "",
          {},
          true,
          false},
         {"--of", "FILE", std::string("module that a .ucut program computes: ") + kModuleHelp, "", {}, false, false},
         {"--kernel", "NAME", "findings on this kernel alone", "", {}, false, false},
         {"--without",
          "SOURCES",
          "leave out ptxas, cubin, sass, plan, trace or counters (a list with commas)",
          "",
          {},
          false,
          false},
         {"--tool", "TOOL", "an executable of yours that looks too: command:PROGRAM", "", {}, false, false},
         {"--facts", "FILE", "write the facts there", "", {}, false, false},
         eval_flag(),
         train_flag(),
         why_flag(),
         device_option("where the program runs; model: nothing runs, times are predicted"),
         machine_option(),
         {"--numerics", "POLICY", "accuracy policy", "reference", {"reference", "high", "medium"}, false, false},
         {"--weights", "MODE", "frozen: parameters may be packed once", "live", {"live", "frozen"}, false, false},
         quiet_flag(),
         json_flag()},
    .run = run_profile,
};

}  // namespace solstice::cli
