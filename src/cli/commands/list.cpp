// solstice list: what can be chosen from, printed from the tables that the program itself uses.
#include <fmt/format.h>

#include <algorithm>

#include "base/paths.h"
#include "cli/command.h"
#include "cli/named_store.h"
#include "cli/view/fit_text.h"
#include "cli/view/list_llm.h"
#include "cli/view/list_tools.h"
#include "cli/view/table.h"
#include "cli/view/tool_stats_text.h"
#include "families/family.h"
#include "import/import.h"
#include "machine/machine.h"
#include "machine/quantity.h"
#include "search/policy.h"
#include "store/store.h"

namespace solstice::cli {
namespace {

Json knob_json(const families::KnobSpec& knob) {
  const Json values = text_list(knob.values);
  const Json later = text_list(knob.later);
  return Json::object()
      .set("name", knob.name)
      .set("type", knob.type)
      .set("values", values)
      .set("range", knob.range)
      .set("default", knob.otherwise)
      .set("later", later)
      .set("help", knob.help);
}

// "[1, 2, 4]", the values that something is built for; what is legal in other words where there is no list.
std::string built(const families::KnobSpec& knob) {
  if (knob.values.empty()) return fmt::format("[{}]", knob.range.empty() ? knob.type : knob.range);
  std::vector<std::string> values;
  for (const std::string& value : knob.values) {
    if (std::find(knob.later.begin(), knob.later.end(), value) == knob.later.end()) values.push_back(value);
  }
  return values.empty() ? "" : fmt::format("[{}]", fmt::join(values, ", "));
}

// Those that generate kernels first.
std::vector<const families::Family*> listed_families() {
  std::vector<const families::Family*> out = families::all_families();
  std::stable_partition(out.begin(), out.end(), [](const families::Family* family) { return family->available; });
  return out;
}

Status list_families(bool json) {
  Json all = Json::array();
  for (const families::Family* family : listed_families()) {
    const std::vector<families::KnobSpec>& knobs = family->knobs();
    if (json) {
      Json entry =
          Json::object().set("name", family->name).set("help", family->help).set("available", family->available);
      Json list = Json::array();
      for (const auto& knob : knobs) list.push(knob_json(knob));
      all.push(entry.set("knobs", list));
      continue;
    }
    fmt::print("{}{}\n{}", family->name, family->available ? "" : " (not yet)", hanging("", family->help, 4, 100));
    for (const auto& knob : knobs) {
      std::string text = knob.help + (built(knob).empty() ? "" : " " + built(knob));
      if (!knob.otherwise.empty()) text += fmt::format(" [default: {}]", knob.otherwise);
      if (!knob.later.empty()) text += fmt::format(" [not yet: {}]", fmt::join(knob.later, ", "));
      fmt::print("{}", hanging("  " + knob.name, text, 20, 100));
    }
  }
  if (json) fmt::print("{}\n", all.dump(2));
  return success();
}

// The tables of docs/legality.md.
void list_rules(bool json) {
  Json all = Json::array();
  for (const families::Family* family : families::all_families()) {
    if (!family->rules) continue;
    if (!json) fmt::print("## {}\n\n| rule | code | what must hold |\n| --- | --- | --- |\n", family->name);
    for (const families::RuleText& rule : family->rules()) {
      if (!json) fmt::print("| {} | {} | {} |\n", rule.id, rule.code, rule.text);
      all.push(
          Json::object().set("family", family->name).set("id", rule.id).set("code", rule.code).set("rule", rule.text));
    }
    if (!json) fmt::print("\n");
  }
  if (json) fmt::print("{}\n", all.dump(2));
}

std::string peak_text(const machine::Machine& m, machine::Pipe pipe) {
  const auto peak = m.peak(pipe);
  return peak.ok() ? fmt::format("{:.0f} TFLOP/s", peak->value / 1e12) : "-";
}

Json peaks_json(const machine::Machine& m) {
  Json out = Json::object();
  for (const auto& [pipe, rate] : m.pipes) {
    if (const auto peak = m.peak(pipe); peak.ok()) out.set(std::string(machine::name_of(pipe)), peak->value);
  }
  return out;
}

Status list_machines(bool json) {
  SOLSTICE_TRY(const auto names, machine::list_machines());
  Json all = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"name", "title", "arch", "SMs", "memory", "rate", "tensor f16", "f32", "ceilings"}};
  for (const std::string& name : names) {
    SOLSTICE_TRY(const machine::Machine m, machine::load_machine(name));
    all.push(Json::object()
                 .set("name", m.name)
                 .set("title", m.title)
                 .set("arch", m.arch)
                 .set("sm_count", m.sm_count)
                 .set("memory_bytes", m.memory.value)
                 .set("memory_bytes_per_second", m.dram_rate.value)
                 .set("peak_flops_per_second", peaks_json(m))
                 .set("measured", !m.measured.empty())
                 .set("file", m.file.string()));
    rows.push_back({m.name, m.title, m.arch, std::to_string(m.sm_count), show(m.memory),
                    machine::quantity_text(m.dram_rate.value, machine::Dimension::kBytesPerSecond),
                    peak_text(m, machine::Pipe::kTensorF16), peak_text(m, machine::Pipe::kSimtF32),
                    m.measured.empty() ? "datasheet only" : "measured " + m.measured.date});
  }
  fmt::print("{}", json ? all.dump(2) + "\n" : table(rows));
  return success();
}

// One line a group: the operators that the importer writes equations for.
void list_importable(bool json) {
  const std::vector<importer::OperatorInfo> operators = importer::list_operators();
  Json all = Json::array();
  for (size_t i = 0; i < operators.size();) {
    const std::string& group = operators[i].group;
    Json names = Json::array();
    std::string line;
    for (; i < operators.size() && operators[i].group == group; ++i) {
      names.push(operators[i].op);
      line += (line.empty() ? "" : ", ") + operators[i].op;
    }
    if (!json) fmt::print("{}\n{}", group, hanging("", line, 4, 100));
    all.push(Json::object().set("group", group).set("operators", names));
  }
  if (json) fmt::print("{}\n", all.dump(2));
}

void list_policies(bool json) {
  Json all = Json::array();
  for (const search::PolicySpec* spec : search::all_policies()) {
    Json parameters = Json::array();
    if (!json)
      fmt::print("{}", hanging(spec->name,
                               fmt::format("{} ({}){}", spec->about, spec->source,
                                           std::string_view(spec->name) == "greedy" ? "; the default" : ""),
                               22, 100));
    for (const search::Parameter& p : spec->parameters) {
      const std::string range = fmt::format("{:g}; {:g} to {:g}{}", p.usual, p.least, p.most, p.whole ? ", whole" : "");
      if (!json) fmt::print("{}", hanging(fmt::format("  {}", p.name), fmt::format("{} [{}]", p.help, range), 22, 100));
      parameters.push(Json::object()
                          .set("name", p.name)
                          .set("default", p.usual)
                          .set("least", p.least)
                          .set("most", p.most)
                          .set("whole", p.whole)
                          .set("help", p.help));
    }
    all.push(Json::object()
                 .set("name", spec->name)
                 .set("about", spec->about)
                 .set("source", spec->source)
                 .set("parameters", parameters));
  }
  if (json)
    fmt::print("{}\n", all.dump(2));
  else
    fmt::print("{}", hanging("command:PROGRAM", "an executable of yours (docs/search.md)", 22, 100));
}

// The user's own times where there are any, else those that come with the program.
Result<std::filesystem::path> kernel_times() {
  SOLSTICE_TRY(const std::filesystem::path home, home_folder());
  if (std::filesystem::exists(home / "kernel-times.jsonl")) return home / "kernel-times.jsonl";
  SOLSTICE_TRY(const std::filesystem::path shipped, data_folder("bench/families"));
  return shipped / "h200.jsonl";
}

Status list_fit(const Invocation& in) {
  if (in.has("--times") && in.flag("--trials"))
    return fail(Code::bad_argument, "--times and --trials are two sources: give one");
  std::filesystem::path source = in.get("--times");
  std::vector<KernelTime> times;
  if (in.flag("--trials")) {
    SOLSTICE_TRY(source, store::Store::default_folder());
    SOLSTICE_TRY(times, flow::kernel_times_of_trials(source));
  } else {
    if (source.empty()) {
      SOLSTICE_TRY(source, kernel_times());
    }
    SOLSTICE_TRY(times, flow::read_kernel_times(source));
  }
  SOLSTICE_TRY(const flow::Fit fit, flow::judge_models(times));
  if (fit.points.empty()) {
    return fail(Code::not_found, fmt::format("no measured kernel in {}", source.string()),
                "`solstice bench families` measures some");
  }
  SOLSTICE_TRY(const std::filesystem::path shipped, data_folder("bench/families"));
  const std::filesystem::path measured = shipped / "originals.jsonl";
  SOLSTICE_TRY(const std::vector<OriginalTime> originals, flow::read_originals(measured));
  SOLSTICE_TRY(const flow::OriginalFit original, flow::judge_originals(originals));
  if (in.json()) {
    Json out = fit_json(fit, source.string());
    fmt::print("{}\n", out.set("originals", originals_json(original, measured.string())).dump(2));
  } else {
    fmt::print("{}\n{}", fit_text(fit, source.string()), originals_text(original, measured.string()));
  }
  return success();
}

Status list_tool_stats(const Invocation& in) {
  SOLSTICE_TRY(store::Store store, named_store(in));
  SOLSTICE_TRY(const flow::StoredOutcomes found, flow::outcomes_in(store));
  fmt::print("{}", in.json() ? tool_stats_json(found).dump(2) + "\n" : tool_stats_text(found, store.folder().string()));
  return success();
}

Result<int> run_list(const Invocation& in) {
  const std::string& kind = in.get("KIND");
  const bool fit = in.flag("--fit") || in.has("--times") || in.flag("--trials");
  if (fit && kind != "families") return fail(Code::bad_argument, "--fit, --times and --trials go with `list families`");
  if (fit) {
    SOLSTICE_CHECK(list_fit(in));
    return 0;
  }
  if ((in.flag("--stats") || in.has("--store")) && kind != "tools")
    return fail(Code::bad_argument, "--stats and --store go with `list tools`");
  if (in.has("--store") && !in.flag("--stats")) return fail(Code::bad_argument, "--store goes with --stats");
  if (in.flag("--stats")) {
    SOLSTICE_CHECK(list_tool_stats(in));
    return 0;
  }
  if (kind == "machines") SOLSTICE_CHECK(list_machines(in.json()));
  if (kind == "families") SOLSTICE_CHECK(list_families(in.json()));
  if (kind == "rules") list_rules(in.json());
  if (kind == "operators") list_importable(in.json());
  if (kind == "policies") list_policies(in.json());
  if (kind == "tools") SOLSTICE_CHECK(list_tools(in.get("--tool"), in.json()));
  if (kind == "controllers") list_controllers(in.json());
  if (kind == "providers") list_providers(in.json());
  if (kind == "models") SOLSTICE_CHECK(list_models(in.json()));
  return 0;
}

}  // namespace

extern const Command solstice_commands_list;
const Command solstice_commands_list = {
    .name = "list",
    .summary =
        "Print a table: kernel families, rules, machines, operators, policies, tools, controllers, providers or models",
    .help =
        "families: kernel families with their knobs.\n"
        "rules: legality rules of the families' knobs that are stored as data (docs/legality.md).\n"
        "operators: PyTorch operators that the importer turns into equations; any other makes a module "
        "`unsupported`.\n"
        "policies: search policies with their parameters, for `--policy 'mcts(exploration=0.2)'`.\n"
        "tools: diagnosis tools with their sources, classes of kernels, thresholds and where these come from "
        "(docs/diagnosis.md).\n"
        "tools --stats: how often each tool found something in the measured trials of a run store, how often the next "
        "program had its move (acted on), how often that gained more than noise (hits), the median gain of the whole "
        "program and the median of gain over bound; and the tools whose move never gained.\n"
        "controllers: prompting strategies for language models (`optimize --agent`).\n"
        "providers, models: services that run language models, and the models with their limits and prices "
        "(docs/providers.md).\n"
        "families --fit: the error of the cost models on kernels that `solstice bench families` has measured "
        "(your own measurements if there are any, else those shipped with Solstice): predicted over measured "
        "time by family and layout, and the time lost if the schedule with the least predicted time is taken for "
        "the fastest. Then the error of the predicted time of originals, on measured ones.",
    .example = "solstice list families",
    .parameters =
        {{"KIND",
          "",
          "table to print",
          "",
          {"families", "rules", "machines", "operators", "policies", "tools", "controllers", "providers", "models"},
          true,
          false},
         {"--fit", "", "with families: the error of their cost models", "", {}, false, false},
         {"--times", "FILE", "--fit against the times of this file of `solstice bench families`", "", {}, false, false},
         {"--tool", "TOOL", "with tools: an executable of yours too, command:PROGRAM", "", {}, false, false},
         {"--stats", "", "with tools: what their findings were worth in earlier searches", "", {}, false, false},
         {"--store", "DIR", "run store of --stats [default: yours]", "", {}, false, false},
         {"--trials", "", "--fit against the verified trials of your run store", "", {}, false, false},
         json_flag()},
    .run = run_list,
};

}  // namespace solstice::cli
