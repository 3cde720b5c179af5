// Writes made-up runs (made_runs.h) into the store of a folder, for tests/python/test_run_page.py: `make_runs FOLDER`
// prints a line "NAME ID" for each.
#include <cstdio>

#include "support/made_runs.h"

namespace solstice {
namespace {

Status write(store::Store& store, const std::string& name) {
  store::LoadedRun made = testing::made_run(name);
  const RunState state = made.run.state;
  made.run.id = made.run.started = "";
  SOLSTICE_TRY(const std::string id, store.begin_run(made.run));
  for (size_t i = 0; i < made.events.size(); ++i) SOLSTICE_CHECK(store.add_event(id, i, made.events[i].event));
  if (state != RunState::kRunning)
    SOLSTICE_CHECK(store.finish_run(id, state, RunOutcome::kFaster, "", made.run.summary));
  fmt::print("{} {}\n", name, id);
  return success();
}

Status write_all(const char* folder) {
  SOLSTICE_TRY(store::Store store, store::Store::open(folder));
  for (const char* name : {"mixed", "evil", "large", "deep", "bare", "partly"}) SOLSTICE_CHECK(write(store, name));
  return success();
}

}  // namespace
}  // namespace solstice

int main(int argc, char** argv) {
  const solstice::Status done = argc == 2 ? solstice::write_all(argv[1])
                                          : solstice::fail(solstice::Code::bad_argument, "usage: make_runs FOLDER");
  if (!done.ok()) fmt::print(stderr, "make_runs: {}\n", done.error().text());
  return done.ok() ? 0 : 1;
}
