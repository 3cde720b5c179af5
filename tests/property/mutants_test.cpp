// One-token mutants of the programs of examples/programs: each must be rejected by the static rules or
// refuted by the equivalence test. tests/golden/language_mutants.txt lists the survivors; every one of them
// is equal over the reals.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "ir/equivalence.h"
#include "lang/lexer.h"
#include "lang/parse.h"
#include "lang/print.h"
#include "support/golden.h"

namespace solstice::ir {
namespace {

const std::filesystem::path kPrograms = SOLSTICE_SOURCE_DIR "/examples/programs";

std::vector<std::string> replacements(const lang::Token& t) {
  const std::string text(t.text);
  if (t.kind == lang::TokenKind::kInt) {
    std::vector<std::string> out = {std::to_string(std::stoll(text) + 1)};
    if (text != "0") out.push_back(std::to_string(std::stoll(text) - 1));
    return out;
  }
  if (t.kind == lang::TokenKind::kNumber) return {lang::print(lang::number(std::stod(text) * 1.1))};
  if (text == "<=") return {"<"};
  if (text == "==") return {"<="};
  if (text == "*") return {"+"};
  if (text == "+") return {"-"};
  if (text == "-") return {"+"};
  if (text == "max") return {"min"};
  if (text == "sum") return {"mean"};
  if (text == "mean") return {"sum"};
  if (text == "var") return {"mean"};
  if (text == "inf") return {"0"};
  return {};
}

// The byte ranges of equations and views, outside declarations and knobs.
std::vector<Span> equations_of(const std::vector<lang::Item>& items) {
  std::vector<Span> out;
  for (const lang::Item& i : items) {
    if (std::holds_alternative<lang::Equation>(i.node) || std::holds_alternative<lang::View>(i.node)) out.push_back(i.span);
    const auto* kernel = std::get_if<lang::Kernel>(&i.node);
    const auto* def = std::get_if<lang::Def>(&i.node);
    if (!kernel && !def) continue;
    const std::vector<Span> inner = equations_of(kernel ? kernel->items : def->items);
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

struct Tally {
  int rejected = 0;
  int refuted = 0;
  std::string survivors;
};

std::string line_at(const std::string& text, int offset) {
  const auto at = static_cast<size_t>(offset);
  const size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

void try_mutants(const std::string& name, const std::string& text, Tally& tally) {
  Diagnostics diagnostics;
  const lang::Program original = lang::parse(text, diagnostics);
  ASSERT_FALSE(diagnostics.has_errors());
  for (const Span span : equations_of(original.items)) {
    for (const lang::Token& t : lang::lex(text, diagnostics)) {
      if (t.span.begin < span.begin || t.span.end > span.end) continue;
      for (const std::string& replacement : replacements(t)) {
        const auto at = static_cast<size_t>(t.span.begin);
        std::string mutant = text;
        mutant.replace(at, t.text.size(), replacement);
        Diagnostics found;
        const lang::Program candidate = lang::parse(mutant, found);
        const Equivalence e =
            found.has_errors() ? Equivalence{Verdict::kRefuted, "the candidate has errors", {}, {}, 0} : same_meaning(original, candidate);
        if (e.verdict == Verdict::kRefuted) {
          ++(e.reason == "the candidate has errors" ? tally.rejected : tally.refuted);
        } else {
          tally.survivors += name + " " + std::string(name_of(e.verdict)) + ": " + line_at(mutant, t.span.begin) + "\n";
        }
      }
    }
  }
}

TEST(Mutants, AreCaughtOrEqual) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kPrograms)) files.insert(entry.path());
  Tally tally;
  for (const auto& file : files) {
    const auto text = read_file(file);
    ASSERT_TRUE(text.ok());
    try_mutants(file.stem().string(), *text, tally);
  }
  RecordProperty("rejected", tally.rejected);
  RecordProperty("refuted", tally.refuted);
  EXPECT_GT(tally.rejected + tally.refuted, 200);
  solstice::testing::expect_golden("language_mutants.txt", tally.survivors);
  std::printf("%d rejected by the static rules, %d refuted\n", tally.rejected, tally.refuted);
}

}  // namespace
}  // namespace solstice::ir
