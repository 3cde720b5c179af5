// solstice export and import-run.
#include <set>

#include "store/exported.h"
#include "support/golden.h"
#include "support/made_runs.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

namespace fs = std::filesystem;

// As the store keeps it: with a record of each trial that has a result.
store::LoadedRun whole_run(const std::string& name) {
  store::LoadedRun out = testing::made_run(name);
  out.run.state = RunState::kFinished;
  std::map<int, TrialRecord> trials;
  std::map<int, search::Proposal> proposals;
  for (const store::StoredEvent& stored : out.events) {
    const search::Event& event = stored.event;
    if (event.kind == search::Event::Kind::kProposed) proposals[event.node] = *event.proposal;
    if (event.node == 0 || !event.measurement) continue;
    TrialRecord& trial = trials[event.node];
    const search::Proposal& proposal = proposals[event.node];
    trial.run = out.run.id, trial.number = event.node, trial.program = proposal.program, trial.what = proposal.reason;
    trial.origin = proposal.origin, trial.predicted = proposal.predicted;
    trial.state = event.measurement->state, trial.message = event.measurement->detail,
    trial.verdict = event.measurement->record.at("verdict");
    if (event.measurement->usable()) trial.measured = event.measurement->time;
  }
  for (const auto& [number, trial] : trials) out.trials.push_back(trial);
  return out;
}

std::string content(const fs::path& file) {
  const Result<std::string> text = read_file(file);
  EXPECT_TRUE(text.ok()) << file;
  return text.ok() ? *text : "";
}

std::string all_of(const store::LoadedRun& run) { return to_json(store::exported(run)).dump(); }

class ExportTest : public ProgramTest {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_.path())) out.insert(entry.path().filename().string());
    return out;
  }
  void add(const store::LoadedRun& run) {
    Result<store::Store> store = store::Store::open(path("store"));
    ASSERT_TRUE(store.ok());
    const Result<bool> added = store->add_run(run);
    ASSERT_TRUE(added.ok()) << added.error().text();
  }
  store::LoadedRun in_store(const std::string& store, const std::string& id) {
    const Result<store::LoadedRun> loaded = store::Store::open(path(store))->load_run(id);
    EXPECT_TRUE(loaded.ok()) << loaded.error().text();
    return loaded.ok() ? *loaded : store::LoadedRun();
  }
  CommandOutput from_store(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--store", path("store").string()});
    return run(std::move(arguments));
  }
};

TEST_F(ExportTest, AFolderHoldsTheRunAsFiles) {
  const store::LoadedRun mixed = whole_run("mixed");
  ASSERT_TRUE(store::export_folder(mixed, path("mixed"), false).ok());
  testing::expect_golden("export/README.md", content(path("mixed/README.md")));
  testing::expect_golden("export/trials.csv", content(path("mixed/trials.csv")));
  EXPECT_EQ(content(path("mixed/programs/3.ucut")), mixed.trials[2].program);
  EXPECT_TRUE(fs::exists(path("mixed/programs/10.ucut"))) << "lost, and not in trials.jsonl";
  EXPECT_EQ(names(), (std::set<std::string>{"mixed"})) << "nothing is left beside it";
  const Result<store::LoadedRun> back = store::read_exported(path("mixed"));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(all_of(*back), all_of(mixed));
}

TEST_F(ExportTest, WhatIsThereStays) {
  const store::LoadedRun mixed = whole_run("mixed"), deep = whole_run("deep");
  const fs::path folder = path("a/b/out");
  ASSERT_TRUE(store::export_folder(deep, folder, false).ok());
  EXPECT_EQ(store::export_folder(mixed, folder, false).error().code, Code::bad_argument);
  EXPECT_TRUE(fs::exists(folder / "programs/40.ucut"));
  ASSERT_TRUE(store::export_folder(mixed, folder / "", true).ok());
  EXPECT_FALSE(fs::exists(folder / "programs/40.ucut")) << "of the run before";
  ASSERT_TRUE(write_file(folder / "notes.txt", "mine").ok());
  const Status kept = store::export_folder(deep, folder, true);
  ASSERT_FALSE(kept.ok());
  EXPECT_NE(kept.error().text().find("notes.txt is no file of an export"), std::string::npos) << kept.error().text();
  EXPECT_EQ(content(folder / "notes.txt"), "mine");
  EXPECT_FALSE(fs::exists(folder / "programs/40.ucut"));
  ASSERT_TRUE(write_file(path("home/notes.txt"), "mine").ok());
  const Status refused = store::export_folder(deep, path("home"), true);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("is no export, so --force does not replace it"), std::string::npos)
      << refused.error().text();
  EXPECT_FALSE(store::export_folder(deep, path("home/notes.txt"), true).ok());
  EXPECT_EQ(content(path("home/notes.txt")), "mine");
  ASSERT_TRUE(make_folder(path("empty")).ok());
  EXPECT_TRUE(store::export_folder(deep, path("empty"), false).ok());
}

TEST_F(ExportTest, ATableIsSafeForSpreadsheets) {
  store::LoadedRun made = whole_run("bare");
  made.trials[0].what = "=HYPERLINK(\"x\"), then\nmore", made.trials[0].origin = "@model",
  made.trials[0].message = "plain";
  const std::string csv = store::trials_csv(made);
  EXPECT_NE(csv.find(",'@model,\"'=HYPERLINK(\"\"x\"\"), then\nmore\","), std::string::npos) << csv;
  EXPECT_NE(csv.find(",plain,programs/1.ucut\r\n"), std::string::npos) << csv;
}

TEST_F(ExportTest, ARunGoesFromStoreToStore) {
  for (const char* name : {"mixed", "evil", "deep"}) {
    SCOPED_TRACE(name);
    store::LoadedRun made = whole_run(name);
    made.run.id = fmt::format("20260102-030405-{}", name);
    for (TrialRecord& trial : made.trials) trial.run = made.run.id;
    add(made);
    for (const std::string format : {"dir", "json"}) {
      const std::string file = path(fmt::format("{}.{}", name, format)).string(), there = "there-" + format;
      const CommandOutput out = from_store({"export", made.run.id, file, "--format", format});
      ASSERT_EQ(out.exit.code, 0) << out.err;
      const CommandOutput in = run({"import-run", file, "--store", path(there).string()});
      ASSERT_EQ(in.exit.code, 0) << in.err;
      EXPECT_EQ(all_of(in_store(there, made.run.id)), all_of(in_store("store", made.run.id)));
      const CommandOutput again = run({"import-run", file, "--store", path(there).string(), "--json"});
      EXPECT_EQ(again.exit.code, 0) << again.err;
      EXPECT_FALSE(parse_json(again.out)->at("added").as_bool(true));
    }
  }
}

TEST_F(ExportTest, AnIdHasOneContent) {
  const store::LoadedRun mixed = whole_run("mixed");
  add(mixed);
  store::LoadedRun other = mixed;
  other.trials[1].message = "another word";
  const Result<bool> added = store::Store::open(path("store"))->add_run(other);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, Code::bad_argument);
  EXPECT_EQ(all_of(in_store("store", mixed.run.id)), all_of(mixed));
}

TEST_F(ExportTest, WhatIsDamagedIsNotTakenIn) {
  const store::LoadedRun mixed = whole_run("mixed");
  const auto refused = [&](const store::LoadedRun& run, const std::string& why) {
    ASSERT_TRUE(store::export_folder(run, path("out"), true).ok());
    const CommandOutput done = this->run({"import-run", path("out").string(), "--store", path("store").string()});
    EXPECT_EQ(done.exit.code, 2);
    EXPECT_NE(done.err.find(why), std::string::npos) << done.err;
    fs::remove_all(path("out"));
  };
  store::LoadedRun going = mixed, named = mixed, foreign = mixed, gap = mixed;
  going.run.state = RunState::kRunning;
  refused(going, "had not ended when it was exported");
  named.run.id = "last";
  refused(named, "`last` is no id of a run");
  foreign.trials[0].run = "20260102-030405-else";
  refused(foreign, "trial 1 belongs to run");
  gap.events.erase(gap.events.begin() + 1);
  refused(gap, "error[bad_argument]");

  ASSERT_TRUE(store::export_folder(mixed, path("cut"), false).ok());
  const std::string lines = content(path("cut/events.jsonl"));
  ASSERT_TRUE(write_file(path("cut/events.jsonl"), lines.substr(0, lines.rfind('\n', lines.size() - 2) + 1)).ok());
  EXPECT_EQ(store::read_exported(path("cut")).error().code, Code::bad_record);
  EXPECT_EQ(store::read_exported(path("nothing")).error().code, Code::not_found);
}

TEST_F(ExportTest, TheCommandSaysWhatItDid) {
  add(whole_run("mixed"));
  const std::string table = path("trials.csv").string();
  const CommandOutput done = from_store({"export", "last", table, "--format", "csv", "--json"});
  EXPECT_EQ(parse_json(done.out)->at("path").as_string(), table) << done.err;
  EXPECT_EQ(content(table), store::trials_csv(whole_run("mixed")));
  const CommandOutput twice = from_store({"export", "last", table, "--format", "csv"});
  EXPECT_EQ(twice.exit.code, 2);
  EXPECT_NE(twice.err.find("exists\n  hint: name another file"), std::string::npos) << twice.err;
  EXPECT_EQ(from_store({"export", "last", table, "--format", "csv", "--force"}).exit.code, 0);
  EXPECT_EQ(from_store({"export", "last", "--format", "csv"}).out, content(table));
  EXPECT_NE(from_store({"export", "last"}).err.find("a folder needs a PATH"), std::string::npos);
  EXPECT_NE(from_store({"export", "last", "--format", "csv", "--json"}).err.find("--json goes with a PATH"),
            std::string::npos);
}

}  // namespace
}  // namespace solstice::cli
