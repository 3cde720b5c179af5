// Programs with one mistake each, made from the programs of examples/programs and a chain of residual blocks: the
// static rules reject it, or the equivalence test refutes it, or it means the same. tests/golden/language_mutants.txt
// lists those that mean the same, each under the reason why; a new one has to be explained there before this test
// passes.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "ir/equivalence.h"
#include "lang/parse.h"
#include "property/mutate.h"
#include "support/golden.h"

namespace solstice::ir {
namespace {

const std::filesystem::path kRoot = SOLSTICE_SOURCE_DIR;
constexpr const char* kUnexplained = "# ?";

struct Tally {
  int rejected = 0;
  int refuted = 0;
  int equal = 0;
};

struct Mutation {
  std::map<std::string, Tally> kinds;
  std::set<std::string> survivors;
};

void try_mutants(const std::string& name, const std::string& text, Mutation& run) {
  Diagnostics diagnostics;
  const lang::Program original = lang::parse(text, diagnostics);
  ASSERT_FALSE(diagnostics.has_errors()) << render_text(diagnostics, text, name);
  lang::testing::each_mutant(
      original, [&](const std::string& kind, const std::string& line, const lang::Program& mutant) {
        const Equivalence e = same_meaning(original, mutant);
        Tally& tally = run.kinds[kind];
        if (e.verdict == Verdict::kRefuted) {
          ++(e.reason == "the candidate has errors" ? tally.rejected : tally.refuted);
          return;
        }
        ++tally.equal;
        EXPECT_NE(e.verdict, Verdict::kUnknown) << name << " " << kind << ": " << line << "\n" << e.reason;
        run.survivors.insert(name + " " + kind + ": " + line);
      });
}

// The listed mutants by the reason above them.
std::map<std::string, std::string> listed_reasons(const std::string& golden) {
  std::map<std::string, std::string> out;
  std::string reason = kUnexplained;
  for (size_t at = 0; at < golden.size();) {
    const size_t end = std::min(golden.find('\n', at), golden.size());
    const std::string line = golden.substr(at, end - at);
    at = end + 1;
    if (line.empty()) continue;
    if (line[0] == '#') {
      reason = line;
    } else {
      out[line] = reason;
    }
  }
  return out;
}

// What the golden file should be: survivors under the reasons that it gives.
std::string explained(const std::set<std::string>& survivors, const std::map<std::string, std::string>& reasons) {
  std::map<std::string, std::set<std::string>> groups;
  for (const std::string& s : survivors) {
    const auto known = reasons.find(s);
    groups[known == reasons.end() ? kUnexplained : known->second].insert(s);
  }
  std::string out;
  for (const auto& [reason, group] : groups) {
    if (!out.empty()) out += "\n";
    out += reason + "\n";
    for (const std::string& s : group) out += s + "\n";
  }
  return out;
}

TEST(Mutants, AreCaughtOrEqual) {
  std::set<std::filesystem::path> files = {kRoot / "tests/property/residual_chain.ucut"};
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "examples/programs")) files.insert(entry.path());
  Mutation run;
  for (const auto& file : files) {
    const auto text = read_file(file);
    ASSERT_TRUE(text.ok());
    try_mutants(file.stem().string(), *text, run);
  }
  Tally all;
  const auto show = [](const char* kind, const Tally& t) {
    std::printf("%-20s %8d %8d %8d\n", kind, t.rejected, t.refuted, t.equal);
  };
  std::printf("%-20s %8s %8s %8s\n", "mistake", "rejected", "refuted", "equal");
  for (const auto& [kind, t] : run.kinds) {
    show(kind.c_str(), t);
    all.rejected += t.rejected, all.refuted += t.refuted, all.equal += t.equal;
  }
  show("all", all);
  EXPECT_GT(all.rejected + all.refuted, 1000);
  const auto golden = read_file(kRoot / "tests/golden/language_mutants.txt");
  const std::string list = explained(run.survivors, listed_reasons(golden.ok() ? *golden : ""));
  EXPECT_EQ(list.find(kUnexplained), std::string::npos)
      << "say in tests/golden/language_mutants.txt why these are equal";
  solstice::testing::expect_golden("language_mutants.txt", list);
}

}  // namespace
}  // namespace solstice::ir
