// solstice profile: where a program's time goes, why, and what may change it.
#include "flow/run/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "cli/command.h"
#include "cli/devices.h"
#include "cli/harmless.h"
#include "cli/named_module.h"
#include "cli/named_store.h"
#include "cli/named_trial.h"
#include "cli/progress.h"
#include "cli/values.h"
#include "cli/view/finding_text.h"
#include "cli/view/profile_page.h"
#include "cli/view/table.h"
#include "lang/embed.h"

namespace solstice::cli {
namespace {

constexpr Seconds kMostCounterTime{86400};

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// "sass, counters".
Result<std::vector<std::string>> left_out(const Invocation& in) {
  std::vector<std::string> out;
  if (!in.has("--without")) return out;
  std::istringstream rest(in.get("--without") + ",");
  const std::vector<std::string>& known = source_names();
  for (std::string name; std::getline(rest, name, ',');) {
    out.push_back(trimmed(name));
    if (std::find(known.begin(), known.end(), out.back()) != known.end()) continue;
    return fail(Code::bad_argument, fmt::format("--without: no source `{}`", out.back()),
                fmt::format("sources are {}", fmt::join(known, ", ")));
  }
  return out;
}

bool ends(const std::string& text, std::string_view end) { return text.ends_with(end); }

// Facts say by themselves what they were taken of, and where.
Status check_saved(const Invocation& in) {
  for (const char* option :
       {"--of", "--eval", "--train", "--why", "--device", "--machine", "--numerics", "--weights"}) {
    if (in.has(option) && !in.left_out.contains(option))
      return fail(Code::bad_argument,
                  fmt::format("{} goes with what is measured, and `{}` is facts that were taken before", option,
                              in.get("SUBJECT")),
                  "leave it out, or name the program or its module");
  }
  return success();
}

Result<flow::Profile> profile_saved(const std::string& file, const flow::ProfileOptions& wanted) {
  SOLSTICE_TRY(const std::string text, read_file(file));
  constexpr const char* kAgain = "`solstice profile SUBJECT --facts FILE` writes facts";
  SOLSTICE_TRY(const Json json, parse_json_file(text, file, kAgain));
  Result<Facts> facts = read_facts(json);
  if (!facts.ok()) return in_json_file(std::move(facts).error(), text, file, kAgain);
  return flow::profile_facts(std::move(*facts), wanted);
}

// `last`, or what may begin an id: these begin with a date. Files, modules of Python's and their names do not look so.
bool is_run(const std::string& subject) {
  if (subject == "last") return true;
  std::error_code ignored;
  if (std::filesystem::exists(subject, ignored) || subject.empty() || !std::isdigit(subject.front())) return false;
  return subject.find_first_of("./:") == std::string::npos;
}

Result<flow::RunOptions> options_of(const Invocation& in) {
  flow::RunOptions options;
  SOLSTICE_TRY(const double seconds, parse_real("--counter-time", in.get("--counter-time"), 1, kMostCounterTime.value));
  options.diagnosis.counter_time = Seconds(seconds);
  options.diagnosis.all_counters = in.has("--facts");
  options.place.device = in.get("--device");
  options.place.machine = in.get("--machine");
  options.terms.numerics = in.get("--numerics");
  options.terms.frozen = in.get("--weights") == "frozen";
  options.command = in.argv;
  options.left_out = in.left_out;
  return options;
}

Result<flow::Profile> profile_trial(const Invocation& in, const flow::ProfileOptions& wanted, Progress& progress) {
  SOLSTICE_TRY(store::Store store, named_store(in));
  SOLSTICE_CHECK(store.close_abandoned());
  SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(in.get("SUBJECT")));
  SOLSTICE_TRY(flow::RunOptions options, options_of(in));
  SOLSTICE_TRY(options.module.mode, mode_of(in));
  if (in.has("--of")) {
    SOLSTICE_TRY(options.module, named_module(in.get("--of"), in));
  }
  SOLSTICE_CHECK(flow::take_module_of(loaded, options, progress));
  SOLSTICE_TRY(const TrialRecord trial,
               in.has("--trial") ? trial_named(loaded, in.get("--trial")) : best_trial(loaded));
  SOLSTICE_TRY(const std::string program, program_of(trial));
  const std::string name = fmt::format("trial {} of run {}", trial.number, loaded.run.id);
  SOLSTICE_TRY(flow::Profile out, flow::profile_program(program, name, options, wanted, progress));
  out.subject = fmt::format("{}, {}", harmless(loaded.run.problem), name);
  return out;
}

Result<flow::Profile> profile_file(const Invocation& in, const flow::ProfileOptions& wanted, Progress& progress) {
  const std::string& subject = in.get("SUBJECT");
  SOLSTICE_TRY(flow::RunOptions options, options_of(in));
  std::string text;
  if (ends(subject, ".ucut")) {
    SOLSTICE_TRY(text, lang::read_program(subject));
    if (in.has("--of")) {
      SOLSTICE_TRY(options.module, named_module(in.get("--of"), in));
    }
  } else {
    SOLSTICE_TRY(options.module, named_module(subject, in));
  }
  return flow::profile_program(text, subject, options, wanted, progress);
}

Result<flow::Profile> profile_subject(const Invocation& in, const flow::ProfileOptions& wanted) {
  const std::string& subject = in.get("SUBJECT");
  const bool run = is_run(subject);
  for (const char* option : {"--trial", "--store"}) {
    if (!run && in.has(option))
      return fail(Code::bad_argument, fmt::format("{} goes with a run, and `{}` is none", option, subject),
                  "name a run of the store: an id, its beginning, or `last`; `solstice show` lists them");
  }
  if (!run && ends(subject, ".json")) {
    SOLSTICE_CHECK(check_saved(in));
    return profile_saved(subject, wanted);
  }
  const std::unique_ptr<Progress> progress = progress_of(in);
  return run ? profile_trial(in, wanted, *progress) : profile_file(in, wanted, *progress);
}

Status write_files(const Invocation& in, const flow::Profile& profile) {
  if (in.has("--facts")) SOLSTICE_CHECK(write_file(in.get("--facts"), to_json(profile.facts).dump(1)));
  if (!in.has("--html")) return success();
  SOLSTICE_TRY(const std::string page, page_of(profile));
  return write_file(in.get("--html"), page);
}

Result<int> run_profile(const Invocation& in) {
  flow::ProfileOptions wanted;
  wanted.kernel = in.get("--kernel");
  SOLSTICE_TRY(wanted.without, left_out(in));
  if (in.has("--tool")) wanted.tools = {in.get("--tool")};
  SOLSTICE_TRY(const flow::Profile profile, profile_subject(in, wanted));
  SOLSTICE_CHECK(write_files(in, profile));
  if (in.json()) {
    fmt::print("{}\n", profile_json(profile).dump(2));
  } else {
    fmt::print("{}{}", harmless_lines(profile_text(profile)), profile.predicted ? kPredictedNote : "");
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
        "the program that the cost models choose for it. A .ucut program without a module (--of) runs where "
        "--device gpu asks for it, against an original that is written from its equations. Of a run (an id, its "
        "beginning, or `last`) the best trial is "
        "profiled again on its module, with its numerics and weights, where the command runs. A source that is missing "
        "leaves its questions open: they are listed, with what would open them. --facts keeps everything that was "
        "read; a .json file of such facts is diagnosed anywhere, without a GPU. --html writes all of it as one "
        "self-contained file.",
    .example = "solstice profile examples/mlp.py",
    .parameters =
        {{"SUBJECT",
          "",
          "a module (FILE.py, FILE.py:NAME), a scheduled .ucut program, saved facts (.json), or a run of the store",
          "",
          {},
          true,
          false},
         {"--trial", "N", "of a run: the trial to profile [default: the best]", "", {}, false, false},
         {"--of",
          "FILE",
          std::string("module that a .ucut program or a run's trial computes: ") + kModuleHelp,
          "",
          {},
          false,
          false},
         {"--kernel", "NAME", "findings on this kernel alone", "", {}, false, false},
         {"--without",
          "SOURCES",
          "leave out ptxas, cubin, sass, plan, trace or counters (a list with commas)",
          "",
          {},
          false,
          false},
         {"--tool", "TOOL", "an executable of yours that looks too: command:PROGRAM", "", {}, false, false},
         {"--counter-time",
          "SECONDS",
          "for counters of all launches; those that would begin later are left out and named",
          "60",
          {},
          false,
          false},
         {"--facts", "FILE", "write the facts there, with every counter", "", {}, false, false},
         {"--html", "FILE", "write the profile as one page for a browser", "", {}, false, false},
         {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
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
