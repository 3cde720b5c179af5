#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "store/exported.h"

namespace solstice::store {
namespace {

// One candidate, from its trial and its events.
struct ExportedRow {
  const TrialRecord* trial = nullptr;
  const search::Proposal* proposal = nullptr;
  const search::Measurement* measurement = nullptr;  // the latest
};

std::map<int, ExportedRow> rows_of(const LoadedRun& loaded) {
  std::map<int, ExportedRow> out;
  for (const TrialRecord& trial : loaded.trials) out[trial.number].trial = &trial;
  for (const StoredEvent& stored : loaded.events) {
    const search::Event& event = stored.event;
    if (event.node == 0 || event.kind == search::Event::Kind::kSkipped) continue;
    if (event.kind == search::Event::Kind::kProposed && event.proposal) out[event.node].proposal = &*event.proposal;
    if (event.measurement) out[event.node].measurement = &*event.measurement;
  }
  return out;
}

std::string csv_text(const std::string& text) {
  const bool formula = !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  const std::string cell = formula ? "'" + text : text;
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_time(const std::optional<Seconds>& time) {
  return time && time->value > 0 ? fmt::format("{}", time->value) : "";
}

std::string csv_line(int number, const ExportedRow& row) {
  const TrialRecord trial = row.trial ? *row.trial : TrialRecord();
  const search::Proposal proposal = row.proposal ? *row.proposal : search::Proposal();
  const search::Measurement* m = row.measurement;
  const std::string what = row.trial ? trial.what : proposal.reason;
  const std::vector<std::string> cells = {std::to_string(number),
                                          row.proposal ? std::to_string(proposal.parent) : "",
                                          row.trial ? enum_name(trial.state) : "without a result",
                                          csv_time(trial.measured),
                                          csv_time(row.trial ? trial.predicted : std::optional(proposal.predicted)),
                                          m && m->noise > 0 ? fmt::format("{}", m->noise) : "",
                                          m ? csv_time(m->cost) : "",
                                          csv_time(trial.compile_time),
                                          row.proposal ? std::to_string(proposal.tokens) : "",
                                          csv_text(row.trial ? trial.origin : proposal.origin),
                                          csv_text(what),
                                          csv_text(row.trial ? trial.equations : proposal.equations),
                                          csv_text(row.trial ? trial.cut : proposal.cut),
                                          csv_text(trial.meaning),
                                          csv_text(trial.message),
                                          fmt::format("programs/{}.ucut", number)};
  return fmt::format("{}\r\n", fmt::join(cells, ","));
}

// On one line of Markdown, as code.
std::string as_code(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '`'; },
      ' ');
  return "`" + text + "`";
}

}  // namespace

std::string trials_csv(const LoadedRun& loaded) {
  std::string out =
      "number,parent,state,measured,predicted,noise,spent,compile_time,tokens,origin,what,equations,cut,meaning,"
      "message,program\r\n";
  for (const auto& [number, row] : rows_of(loaded)) out += csv_line(number, row);
  return out;
}

std::string export_readme(const LoadedRun& loaded) {
  const RunRecord& run = loaded.run;
  return fmt::format(
      "# Run {}\n\n"
      "A search of Solstice for {} on {} ({}), begun {}. Written by `solstice export`; `solstice import-run` takes "
      "this folder into "
      "another store.\n\n"
      "| file | |\n|---|---|\n"
      "| `run.json` | the run: problem, options, machine, versions, outcome, and how many trials and events there are "
      "({}) |\n"
      "| `trials.jsonl` | {} trials, one a line, with verdict, samples and program ({}) |\n"
      "| `events.jsonl` | the search event by event, {} lines ({}) |\n"
      "| `trials.csv` | the trials as a table, also those without a result; text that a spreadsheet would take for a "
      "formula begins "
      "with `'` |\n"
      "| `programs/N.ucut` | the program of trial N |\n\n"
      "Times are seconds. `measured` is the median of a candidate's kernels, `predicted` a cost model's word, `noise` "
      "the relative standard "
      "error, `spent` what the latest measurement took in all, `parent` the trial that it was derived from (0: the "
      "problem itself).\n\n"
      "`run.json` names paths of the machine on which the run was made.\n",
      run.id, as_code(run.problem), as_code(run.machine), as_code(run.device), run.started, ExportedFolder::kSchema,
      loaded.trials.size(), TrialRecord::kSchema, loaded.events.size(), ExportedEvent::kSchema);
}

}  // namespace solstice::store
