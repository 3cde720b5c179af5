// The store's facts: gains of moves.
#include <limits>

#include "store/rows.h"
#include "store/store.h"

namespace solstice::store {
namespace {

// True: it is new.
Result<bool> insert_fact(Database& database, Fact fact) {
  SOLSTICE_TRY(const bool known, has_run(database, fact.run));
  if (!known) return fail(Code::store_error, fmt::format("a fact is of run `{}`, which is not in the store", fact.run));
  SOLSTICE_TRY(const std::string form, keep_text(database, fact.structure.form));
  fact.structure.form.clear();
  SOLSTICE_TRY(
      Statement insert,
      database.prepare(
          "INSERT OR IGNORE INTO facts(run, node, machine, form, record) VALUES (?, ?, ?, ?, ?) RETURNING number"));
  insert.bind(fact.run).bind(static_cast<int64_t>(fact.node)).bind(fact.machine).bind(form).bind(to_json(fact).dump());
  SOLSTICE_TRY(const bool fresh, insert.step());
  if (fresh) SOLSTICE_CHECK(insert.run());
  return fresh;
}

}  // namespace

Result<int> Store::add_facts(const std::vector<Fact>& facts) {
  SOLSTICE_TRY(Transaction all, Transaction::write(state_->database));
  int fresh = 0;
  for (const Fact& fact : facts) {
    SOLSTICE_TRY(const bool added, insert_fact(state_->database, fact));
    fresh += added ? 1 : 0;
  }
  SOLSTICE_CHECK(all.commit());
  return fresh;
}

Result<std::vector<Fact>> Store::facts(std::string_view machine, std::optional<int64_t> last) {
  SOLSTICE_TRY(Statement query,
               state_->database.prepare(
                   "SELECT facts.record, facts.number, texts.text FROM facts JOIN texts ON facts.form = texts.key "
                   "WHERE (?1 = '' OR machine = ?1) AND number <= ?2 ORDER BY number"));
  query.bind(machine).bind(last.value_or(std::numeric_limits<int64_t>::max()));
  std::vector<Fact> out;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) return out;
    SOLSTICE_TRY(Fact fact,
                 read_record<Fact>(state_->database, fmt::format("fact {}", query.integer(1)), query.text(0)));
    fact.structure.form = query.text(2);
    out.push_back(std::move(fact));
  }
}

Result<int64_t> Store::last_fact() {
  SOLSTICE_TRY(Statement query, state_->database.prepare("SELECT coalesce(max(number), 0) FROM facts"));
  SOLSTICE_TRY(const bool row, query.step());
  return row ? query.integer(0) : int64_t{0};
}

}  // namespace solstice::store
