#include "cli/parse.h"

#include <gtest/gtest.h>

#include <set>

#include "cli/values.h"
#include "support/golden.h"

namespace solstice::cli {
namespace {

const Command kSample = {
    .name = "sample",
    .summary = "Do nothing",
    .help = "",
    .example = "solstice sample x",
    .parameters = {{"FILE", "", "a file", "", {}, true, false},
                   {"--device", "auto|gpu", "where", "auto", {"auto", "gpu"}, false, false},
                   {"--fast", "", "a flag", "", {}, false, false},
                   {"REST", "", "more", "", {}, false, true}},
    .run = nullptr,
};

std::string failure(const std::vector<std::string>& words) {
  const Result<Invocation> parsed = parse(kSample, words);
  EXPECT_FALSE(parsed.ok());
  if (parsed.ok()) return "";
  EXPECT_EQ(parsed.error().code, Code::bad_argument);
  return parsed.error().sentence();
}

TEST(Parse, TakesValuesFlagsAndDefaults) {
  const Result<Invocation> parsed = parse(kSample, {"f.py", "--fast", "--device=gpu", "a", "b"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  const Invocation& in = *parsed;
  EXPECT_EQ(in.get("FILE"), "f.py");
  EXPECT_TRUE(in.flag("--fast"));
  EXPECT_EQ(in.get("--device"), "gpu");
  EXPECT_EQ(in.all("REST"), (std::vector<std::string>{"a", "b"}));
  const Invocation bare = std::move(parse(kSample, {"f.py"})).value();
  EXPECT_EQ(bare.get("--device"), "auto");
  EXPECT_FALSE(bare.flag("--fast"));
  EXPECT_TRUE(bare.all("REST").empty());
}

TEST(Parse, TheLastOptionWins) {
  EXPECT_EQ(parse(kSample, {"f", "--device", "auto", "--device", "gpu"})->get("--device"), "gpu");
}

TEST(Parse, MistakesNameTheWayOut) {
  EXPECT_EQ(failure({"f", "--devcie", "gpu"}), "`solstice sample` has no option `--devcie`; did you mean `--device`?");
  EXPECT_NE(failure({"f", "--device", "tpu"}).find("legal are auto, gpu"), std::string::npos);
  EXPECT_NE(failure({}).find("FILE"), std::string::npos);
  EXPECT_NE(failure({"f", "--device"}).find("sample --help"), std::string::npos);
}

TEST(Budget, TakesATimeATrialsPartOrBoth) {
  EXPECT_EQ(parse_budget("2m")->time.value, 120);
  EXPECT_EQ(parse_budget("2m")->trials, 40);
  EXPECT_EQ(parse_budget("5 minutes")->time.value, 300);
  EXPECT_EQ(parse_budget("10 s, 3 trials")->time.value, 10);
  EXPECT_EQ(parse_budget("10h")->time.value, 36000);
  EXPECT_EQ(parse_budget("0.1s,1trial")->time.value, 0.1);
  EXPECT_EQ(parse_budget("7trials,60s")->trials, 7);
  const BudgetText usual{.time = Seconds(3600), .trials = 9};
  EXPECT_EQ(completed(*parse_given_budget("7trials"), usual).time, Seconds(3600));
  EXPECT_EQ(completed(*parse_given_budget("2m"), usual).trials, 9);
}

TEST(Budget, WhatIsNoBudgetNamesTheLegalForm) {
  for (const char* text :
       {"nans",      "infs",      "-infs",      "1e-300s", "0.05s",   "-5s",       "1e300s",          "1e300m",
        "",          ",",         "10s,",       ",10s",    "10s,10s", "10s,1m",    "3trials,4trials", "0trials",
        "1.5trials", "nantrials", "1e30trials", "10",      "s",       "10 parsec", "10 2 s"}) {
    const Result<BudgetText> budget = parse_budget(text);
    ASSERT_FALSE(budget.ok()) << text;
    EXPECT_EQ(budget.error().code, Code::bad_argument);
    EXPECT_NE(budget.error().hint.find("at least 0.1s (60s, 5m, 2h), a whole number of trials (40trials)"),
              std::string::npos)
        << budget.error().text();
  }
}

TEST(FindCommand, PrefersTheLongestName) {
  EXPECT_EQ((*find_command({"list", "families"}))->name, "list");
  const Result<const Command*> unknown = find_command({"lst"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().hint.find("did you mean `list`?"), std::string::npos);
}

TEST(Commands, AreWellFormed) {
  std::set<std::string> names;
  for (const Command* command : all_commands()) {
    EXPECT_TRUE(names.insert(command->name).second) << command->name;
    EXPECT_NE(command->run, nullptr) << command->name;
    if (command->hidden) continue;
    EXPECT_FALSE(command->summary.empty()) << command->name;
    EXPECT_EQ(command->example.rfind("solstice " + command->name, 0), 0u) << command->name;
    for (const Parameter& p : command->parameters) EXPECT_FALSE(p.help.empty()) << command->name << " " << p.name;
  }
}

TEST(Help, IsAsInTheGoldenFiles) {
  testing::expect_golden("help/overview.txt", overview());
  for (const Command* command : all_commands()) {
    if (command->hidden) continue;
    std::string file = command->name;
    for (char& c : file) c = c == ' ' ? '_' : c;
    testing::expect_golden("help/" + file + ".txt", help_text(*command));
  }
}

}  // namespace
}  // namespace solstice::cli
