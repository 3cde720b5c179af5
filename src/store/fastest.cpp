// What searches found, as examples to look at.
#include <fmt/format.h>

#include "store/store.h"

namespace solstice::store {
namespace {

constexpr const char* kFastest = R"sql(
SELECT run, number, problem, device, measured, original, program FROM (
  SELECT trials.run AS run, trials.number AS number,
         json_extract(runs.record, '$.problem') AS problem, json_extract(runs.record, '$.device') AS device,
         json_extract(trials.record, '$.measured') AS measured,
         json_extract(runs.record, '$.summary.original') AS original,
         json_extract(trials.record, '$.program') AS program,
         row_number() OVER (PARTITION BY runs.problem_key, json_extract(runs.record, '$.device')
                            ORDER BY json_extract(trials.record, '$.measured')) AS place
  FROM trials JOIN runs ON trials.run = runs.id
  WHERE trials.state = 'verified' AND runs.state <> 'running' AND json_valid(trials.record) AND
        json_valid(runs.record) AND json_extract(trials.record, '$.measured') > 0)
WHERE place <= ? ORDER BY run, number
)sql";

}  // namespace

Result<std::vector<FastProgram>> Store::fastest_programs(int each) {
  SOLSTICE_TRY(Statement query, state_->database.prepare(kFastest));
  query.bind(static_cast<int64_t>(each));
  std::vector<FastProgram> out;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return out;
    out.push_back({.run = query.text(0),
                   .trial = static_cast<int>(query.integer(1)),
                   .problem = query.text(2),
                   .device = query.text(3),
                   .measured = Seconds(query.real(4)),
                   .original = Seconds(query.real(5)),
                   .program = query.text(6)});
  }
}

Result<std::string> Store::finished_mark() {
  SOLSTICE_TRY(Statement query,
               state_->database.prepare("SELECT count(*), max(finished) FROM runs WHERE state <> 'running'"));
  SOLSTICE_TRY(const bool row, query.step());
  return row ? fmt::format("{} {}", query.integer(0), query.text(1)) : std::string();
}

}  // namespace solstice::store
