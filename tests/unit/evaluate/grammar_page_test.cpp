// docs/grammar.md is what people and language models learn the language from: its examples check, its lists are those
// of the parser and of the families, and it stays short.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/dtype.h"
#include "base/file.h"
#include "evaluate/candidate.h"
#include "families/family.h"
#include "ir/bind.h"
#include "lang/prelude.h"
#include "lang/words.h"
#include "machine/machine.h"

namespace solstice::evaluate {
namespace {

const std::string& page() {
  static const std::string text = std::move(read_file(SOLSTICE_SOURCE_DIR "/docs/grammar.md")).value();
  return text;
}

std::string complaints(const std::string& text) {
  const machine::Machine machine = std::move(machine::load_machine("h200")).value();
  const Checked checked = check(text, {machine});
  return render_text(checked.diagnostics, text, "page");
}

std::vector<std::string> code_blocks() {
  std::vector<std::string> out;
  const std::string open = "```ucut\n", close = "\n```";
  for (size_t at = page().find(open); at != std::string::npos; at = page().find(open, at)) {
    at += open.size();
    out.push_back(page().substr(at, page().find(close, at) + 1 - at));
  }
  return out;
}

// What the page leaves out around an example: `before` are declarations, `after` is what makes it whole.
struct Frame {
  std::string before, after;
};

// Each example by the comment that heads it.
const std::map<std::string, Frame>& example_frames() {
  static const std::map<std::string, Frame> frames = {
      {"3x3 convolution, stride 2, padding 1",
       {"input x : f32[2,4,8,8] input w : f32[6,4,3,3] input b : f32[6] output y : f32[2,6,4,4]", ""}},
      {"max pool 3x3, stride 2, padding 1", {"input x : f32[2,4,8,8] output y : f32[2,4,4,4]", ""}},
      {"transposed convolution, stride 2, padding 1, weight [C,K,3]",
       {"input x : f32[2,4,8] input w : f32[4,6,3] input b : f32[6] output y : f32[2,6,15]", ""}},
      {"G groups of C in- and D out-channels",
       {"dim G = 2, C = 3, D = 4 input x : f32[2,G*C,8] input w : f32[G*D,C,3] output y : f32[2,G*D,8]", ""}},
      {"softmax", {"input x : f32[4,8] output y : f32[4,8]", ""}},
      {"layer norm", {"input x : f32[4,8] input g : f32[8] input b : f32[8] output y : f32[4,8]", ""}},
      {"group norm, D channels a group", {"dim G = 2, D = 3 input x : f32[2,G*D,8] output y : f32[2,G*D,8]", ""}},
      {"causal attention",
       {"dim D = 4 input q : f32[2,3,6,D] input k : f32[2,3,6,D] input v : f32[2,3,6,D] output o : f32[2,3,6,D]", ""}},
      {"concat of a [M,9] and c [M,4]", {"input a : f32[3,9] input c : f32[3,4] output y : f32[3,13]", ""}},
      {"cross entropy with ignore_index", {"input x : f32[5,7] input t : i64[5] output loss : f32[]", ""}},
      {"a module, used twice", {"input x : f32[4,8] output h2 : f32[4,32]", ""}},
  };
  return frames;
}

// Each example in the text by itself.
const std::map<std::string, Frame>& snippet_frames() {
  static const std::map<std::string, Frame> frames = {
      {"dim A = 8, B = A//2", {}},
      {"fn f(a, b) = a*b + 1", {}},
      {"view v[i,j] = x[j,2*i] for i<4", {"input x : f32[3,8] output y : f32[4,3]", "y[i,j] = v[i,j]"}},
      {"y[m, 2*p+1] = x[m,p] for p<3", {"input x : f32[4,8] output y : f32[4,6]", "y[m,2*p] = 0 for p<3"}},
      {"id[t,s] = argtop[e; s](v[t,e]) for s<2", {"input v : f32[4,8] output id : i64[4,2]", ""}},
      {"opaque s : f32[B,C] = \"aten.op\"(x, 0, false)",
       {"dim B = 2, C = 3 input x : f32[4] output y : f32[B,C]", "y[b,c] = s[b,c]"}},
      {"rm1[c] = 0.9*rm[c] + 0.1*mu[c]",
       {"dim C = 4 buffer rm : f32[C] \"rm\" input mu : f32[C] tensor rm1 : f32[C] into rm", ""}},
      {"h, c = layer[U=64](x, h0[1]) at \"module.path\"",
       {"def layer[U](x : f32[B], h0 : f32[B]) -> h : f32[U], c : f32[B] { h[u] = u c[b] = x[b] + h0[b] } input x : "
        "f32[4] "
        "input h0 : f32[2,4] output h : f32[64] output c : f32[4]",
        ""}},
      {"(tile, cluster)={(128x256x64, 2x1), (128x128x64, 1x2)}",
       {"input x : f32[256,256] input w : f32[256,256] output y : f32[256,256] kernel k by gemm(math=fp16x3,",
        ") { y[m,n] = sum[k](x[m,k] * w[n,k]) }"}},
      {"by cuda(\"k.cu\", entry=\"f\", args=(x, y, M), grid=M//128, block=128) { y[m] = x[m] }",
       {"dim M = 256 input x : f32[M] output y : f32[M] source \"k.cu\" \"\"\"\nextern \"C\" __global__ void f(..) "
        "{..}\n\"\"\"\n kernel k",
        ""}},
  };
  return frames;
}

// An example rather than a form: it assigns something, and leaves nothing out ("..").
bool is_example(std::string code) {
  if (code.find("..") != std::string::npos) return false;
  for (const char* comparison : {"==", "<=", ">=", "!="}) {
    for (size_t at = code.find(comparison); at != std::string::npos; at = code.find(comparison)) code.erase(at, 2);
  }
  return code.find('=') != std::string::npos;
}

std::vector<std::string> snippets() {
  std::vector<std::string> out;
  std::string text = page();
  for (const std::string& block : code_blocks()) text.erase(text.find(block), block.size());
  for (size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at)) {
    const size_t end = text.find('`', at + 1);
    if (end == at + 1) {  // a fence
      at = text.find('\n', at);
      continue;
    }
    const std::string code = text.substr(at + 1, end - at - 1);
    if (is_example(code)) out.push_back(code);
    at = end + 1;
  }
  return out;
}

std::string whole(const Frame& frame, const std::string& text) {
  return "program page\n" + frame.before + "\n" + text + "\n" + frame.after + "\n";
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

// The words between two marks.
std::vector<std::string> listed(const std::string& from, const std::string& to) {
  const size_t begin = page().find(from);
  EXPECT_NE(begin, std::string::npos) << from;
  const size_t start = begin + from.size();
  return words_of(page().substr(start, page().find(to, start) - start));
}

using Set = std::set<std::string>;
Set set_of(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }

// Tokens of a byte-pair vocabulary, estimated: its usual first step cuts words (with one symbol before them), runs of
// up to three digits and runs of symbols; a word costs one for every seven letters begun, symbols one for every two.
// Against a real vocabulary of 100,000 pairs (cl100k_base) it was 2 % low on this page; hence the margin.
double estimated_tokens(const std::string& text) {
  const auto is = [&](size_t i, int (*what)(int)) {
    return i < text.size() && what(static_cast<unsigned char>(text[i]));
  };
  const auto run = [&](size_t i, int (*what)(int)) {
    size_t end = i;
    while (is(end, what)) ++end;
    return end - i;
  };
  size_t tokens = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t word = is(i, isalpha) ? i : i + 1;
    if (const size_t letters = run(word, isalpha)) {
      tokens += (letters + 6) / 7;
      i = word + letters;
    } else if (is(i, isdigit)) {
      i += std::min<size_t>(3, run(i, isdigit));
      ++tokens;
    } else if (is(i, isspace) && !is(i + 1, ispunct)) {
      i += run(i, isspace);
      ++tokens;
    } else {  // symbols, with a blank before them and the ends of lines behind them
      const size_t symbols = run(word, ispunct) + (is(i, ispunct) ? 1 : 0);
      i = word + run(word, ispunct);
      while (i < text.size() && text[i] == '\n') ++i;
      tokens += (symbols + 1) / 2;
    }
  }
  return 1.05 * static_cast<double>(tokens);
}

TEST(GrammarPage, HasAtMost2500Tokens) { EXPECT_LE(estimated_tokens(page()), 2500.0); }

TEST(GrammarPage, ItsProgramChecks) {
  const std::vector<std::string> blocks = code_blocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(complaints(blocks[0]), "");
}

TEST(GrammarPage, ItsExamplesCheck) {
  std::map<std::string, std::string> examples;
  std::istringstream in(code_blocks().at(1));
  std::string title;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# ")) title = line.substr(2);
    examples[title] += line + "\n";
  }
  EXPECT_EQ(examples.size(), example_frames().size());
  for (const auto& [name, text] : examples) {
    ASSERT_TRUE(example_frames().contains(name)) << "no declarations for `" << name << "`";
    EXPECT_EQ(complaints(whole(example_frames().at(name), text)), "") << name;
  }
}

TEST(GrammarPage, ItsSnippetsCheck) {
  Set seen;
  for (const std::string& code : snippets()) {
    if (!snippet_frames().contains(code)) {
      ADD_FAILURE() << "no declarations for `" << code << "`";
      continue;
    }
    seen.insert(code);
    EXPECT_EQ(complaints(whole(snippet_frames().at(code), code)), "") << code;
  }
  EXPECT_EQ(seen.size(), snippet_frames().size()) << "the test knows examples that the page no longer has";
}

TEST(GrammarPage, ItsListsAreTheLanguages) {
  Set dtypes, functions, reducers;
  for (const DType dtype : all_dtypes()) dtypes.emplace(name_of(dtype));
  for (const std::string_view reducer : lang::reducers()) reducers.emplace(reducer);
  for (const std::string_view name : ir::primitive_functions()) functions.emplace(name);
  for (const lang::Fn& fn : lang::prelude()) functions.insert(fn.name);
  functions.erase("select");  // stands among the operators
  EXPECT_EQ(set_of(listed("**Dtypes** ", " belong")), dtypes);
  EXPECT_EQ(set_of(listed("Reducers: ", ";")), reducers);
  EXPECT_EQ(set_of(listed("Functions: ", ";")), functions);
}

TEST(GrammarPage, NamesEveryReservedWord) {
  Set words;
  std::string word;
  for (const char c : page()) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
    } else if (!word.empty()) {
      words.insert(word), word.clear();
    }
  }
  for (const std::string_view reserved : lang::reserved_words())
    EXPECT_TRUE(words.contains(std::string(reserved))) << reserved;
  for (const std::string& other : listed("Reserved beside words above: ", "."))
    EXPECT_TRUE(lang::is_reserved(other)) << other;
}

// As the page writes it: `*` where nothing is compiled yet, an argument without a name as a string.
std::string shown(const families::Family& family) {
  std::string out = fmt::format("{}{}(", family.name, family.available ? "" : "*");
  for (const families::KnobSpec& knob : family.knobs()) {
    if (out.back() != '(') out += out.back() == '"' ? ", " : " ";
    out += knob.name.empty() ? "\"file.cu\"" : knob.name;
  }
  return out + ")";
}

TEST(GrammarPage, ListsEveryFamilyWithItsKnobs) {
  for (const families::Family* family : families::all_families()) {
    EXPECT_NE(page().find(shown(*family)), std::string::npos) << "the page lacks " << shown(*family);
  }
  const std::vector<families::KnobSpec> knobs = families::find_family("gemm")->knobs();
  EXPECT_EQ(listed("math: ", ";"), knobs.at(0).values);
}

}  // namespace
}  // namespace solstice::evaluate
