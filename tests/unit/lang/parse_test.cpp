#include "lang/parse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "lang/prelude.h"
#include "lang/print.h"

namespace solstice::lang {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

void expect_identity(std::string_view source) {
  Diagnostics diagnostics;
  const Program tree = parse(source, diagnostics);
  ASSERT_FALSE(diagnostics.has_errors()) << render_text(diagnostics, source, "source");
  const std::string printed = print(tree);
  const Program again = parse(printed, diagnostics);
  ASSERT_FALSE(diagnostics.has_errors()) << printed << render_text(diagnostics, printed, "printed");
  EXPECT_TRUE(same(tree, again)) << printed;
  EXPECT_EQ(printed, print(again));
}

TEST(Parse, EveryProgramSurvivesPrinting) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SOLSTICE_SOURCE_DIR "/examples/programs")) {
    SCOPED_TRACE(entry.path().string());
    expect_identity(file_text(entry.path()));
    ++count;
  }
  EXPECT_GE(count, 12);
}

TEST(Parse, SourcesAreTakenAsTheyAre) {
  const std::string text =
      "program p\n# about it\nsource \"a.cu\" \"\"\" \n  # no comment\n\"\"\" // no end\nkernel {\n\n\"\"\"\n"
      "source \"b.cu\" \"\"\"\r\nx\r\n\"\"\"\r\nsource \"c.cu\" \"\"\"\n\"\"\"";
  expect_identity(text);
  Diagnostics diagnostics;
  const Program p = parse(text, diagnostics);
  ASSERT_EQ(p.items.size(), 3u);
  EXPECT_EQ(p.items[0].before, std::vector<std::string>{"about it"});
  EXPECT_EQ(std::get<Source>(p.items[0].node).text, "  # no comment\n\"\"\" // no end\nkernel {\n\n");
  EXPECT_EQ(std::get<Source>(p.items[1].node).text, "x\r\n");
  EXPECT_EQ(std::get<Source>(p.items[2].node).text, "");
}

TEST(Parse, ASourceWithoutItsEndCostsNothingBehindIt) {
  const std::string text = "program p\nsource \"a.cu\" \"\"\"\nint a;\n  \"\"\"\ndim M = 4\n";
  Diagnostics diagnostics;
  const Program p = parse(text, diagnostics);
  EXPECT_EQ(diagnostics.size(), 1u) << render_text(diagnostics, text, "source");
  EXPECT_EQ(p.items.size(), 2u);
  EXPECT_TRUE(parse("program p\nsource \"a.cu\" \"\"\"\nint a;\n", diagnostics).items.size() == 1);
}

TEST(Parse, PreludeParses) {
  Diagnostics diagnostics;
  parse(prelude_text(), diagnostics);
  EXPECT_EQ(diagnostics.size(), 0u) << render_text(diagnostics, prelude_text(), "prelude");
  expect_identity(prelude_text());
}

TEST(Parse, KeepsCommentsWithTheirItems) {
  const std::string_view source =
      "# about the program\nprogram p # name\n# first\n# second\ndim M = 4 # a dim\ninput x : f32[M]\n"
      "output y : f32[M]\nkernel k by map() { # header\n  # anchor: begin\n  y[m] = x[m] # at the end\n"
      "      + 1 # more\n  # anchor: end\n} # after\n# last\n";
  expect_identity(source);
  Diagnostics diagnostics;
  const Program p = parse(source, diagnostics);
  EXPECT_EQ(p.before, std::vector<std::string>{"about the program"});
  EXPECT_EQ(p.after, "name");
  EXPECT_EQ(p.items[0].before, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(p.items[0].after, "a dim");
  EXPECT_EQ(p.items[3].after, "header");
  const auto& kernel = std::get<Kernel>(p.items[3].node);
  EXPECT_EQ(kernel.items[0].before, (std::vector<std::string>{"anchor: begin", "at the end"}));
  EXPECT_EQ(kernel.items[0].after, "more");
  EXPECT_EQ(kernel.tail, std::vector<std::string>{"anchor: end"});
  EXPECT_EQ(p.tail, (std::vector<std::string>{"after", "last"}));
}

TEST(Parse, BracketsOnlyWhereNeeded) {
  const auto round_trip = [](std::string_view text) {
    Diagnostics diagnostics;
    const ExprRef e = parse_expression(text, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << text;
    return print(e);
  };
  EXPECT_EQ(round_trip("((a+b))*c"), "(a + b) * c");
  EXPECT_EQ(round_trip("a-(b-c)"), "a - (b - c)");
  EXPECT_EQ(round_trip("-a**-b**2"), "-a**-b**2");
  EXPECT_EQ(round_trip("(-a)**2"), "(-a)**2");
  EXPECT_EQ(round_trip("not (a<b and c)"), "not (a < b and c)");
  EXPECT_EQ(round_trip("(a<b)==(c<d)"), "(a < b) == (c < d)");
  EXPECT_EQ(round_trip("0<=i and i<N"), "0 <= i and i < N");
  EXPECT_EQ(round_trip("0 <= i < N"), "0 <= i < N");
  EXPECT_EQ(round_trip("max[i<3, j < 3 where i+j<4](x[n, 2*p+i-1 else -inf])"),
            "max[i<3,j<3 where i+j < 4](x[n,2*p+i-1 else -inf])");
  EXPECT_EQ(round_trip("argtop[e ; s](v[e])"), "argtop[e; s](v[e])");
  EXPECT_EQ(round_trip("max(a,b)+bf16(x[i])"), "max(a, b) + bf16(x[i])");
  EXPECT_EQ(round_trip("a + -9223372036854775808"), "a + -9223372036854775808");
  EXPECT_EQ(round_trip("(-9223372036854775808)**2"), "(-9223372036854775808)**2");
}

TEST(Parse, TheLeastIntegerIsOneNumber) {
  Diagnostics diagnostics;
  const ExprRef least = integer(std::numeric_limits<int64_t>::min());
  EXPECT_TRUE(same(least, parse_expression(print(least), diagnostics)));
  EXPECT_FALSE(diagnostics.has_errors());
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "-9223372036854775808**2"}) {
    Diagnostics refused;
    parse_expression(text, refused);
    EXPECT_TRUE(refused.has_errors()) << text;
  }
}

TEST(Parse, ReportsSeveralMistakes) {
  Diagnostics diagnostics;
  const Program p = parse(
      "program p\ninput x : f31[4]\noutput y : f32[4]\ny[m = x[m]\nkernel k by map() {\n  y[m] = x[m] +\n"
      "  z[m] = x[m]\n  dim K = 3\n  w[m] = sum(x[m], dim=1)\n}\nkernel j by {\n}\n",
      diagnostics);
  std::vector<std::string> codes;
  for (const Diagnostic& d : diagnostics.all()) codes.push_back(d.code);
  EXPECT_EQ(codes, (std::vector<std::string>{"E000", "E000", "E000", "E000", "E009", "E000"}))
      << render_json(diagnostics, "", "").dump(1);
  EXPECT_EQ(p.items.size(), 3u);  // the output and the kernels, whose blocks could be read
}

TEST(Parse, NotesWhatBrokenItemsWouldHaveDefined) {
  Diagnostics diagnostics;
  const Program p = parse(
      "program p\ndim A = 4, B = , C = 5\ninput x : f32[A\ny[m = x[m]\nh, c = layer(x\ndef f[K(x : f32[K]) -> y : "
      "f32[K] {\n  y[k = x[k]\n}\n"
      "kernel k by map(threads=) {\n  z[m] = x[m]\n}\n",
      diagnostics);
  const std::set<std::string> lost(p.lost.begin(), p.lost.end());
  for (const char* name : {"A", "B", "x", "y", "h", "c", "f"}) EXPECT_TRUE(lost.count(name)) << name;
  EXPECT_FALSE(lost.count("layer"));
  ASSERT_EQ(p.items.size(), 1u);  // the kernel, whose head alone is wrong
  EXPECT_EQ(std::get<Kernel>(p.items[0].node).items.size(), 1u);
}

TEST(Parse, RejectsForeignText) {
  for (const char* source : {"", "program", "program 5", "prog p", "program p y[m] = 1.", "program p dim M = \xc3\xa9",
                             "program p input x : f32[4] \"open", "program p dim M = 99999999999999999999"}) {
    Diagnostics diagnostics;
    parse(source, diagnostics);
    EXPECT_TRUE(diagnostics.has_errors()) << source;
  }
}

TEST(Parse, BuildersMakeWhatTheParserMakes) {
  Diagnostics diagnostics;
  const ExprRef built = binary(
      BinaryOp::kAdd,
      reduce("sum", {{"k", integer(4), {}}}, binary(BinaryOp::kMul, read("x", {name("m"), name("k")}), number(0.5))),
      integer(-3));
  EXPECT_EQ(print(built), "sum[k<4](x[m,k] * 0.5) + -3");
  EXPECT_TRUE(same(built, parse_expression(print(built), diagnostics)));
}

TEST(Parse, KnobsStandAlone) {
  for (const char* text : {"", "math=bf16", "tile=128x64x32, combine=sum, \"k.cu\", grid=(M//128, 1)",
                           "(tile, cluster)={(64x64, 2x1), (128x64, 1x1)}"}) {
    Diagnostics diagnostics;
    EXPECT_EQ(print(parse_knobs(text, diagnostics)), text);
    EXPECT_FALSE(diagnostics.has_errors()) << text;
  }
}

TEST(Parse, DimsCanBeReplaced) {
  Diagnostics diagnostics;
  const Program p = parse("program p dim M = 8, N = M*2 input x : f32[M, N]", diagnostics);
  EXPECT_EQ(print(with_dims(p, {{"M", 3}})), "program p\ndim M = 3, N = M*2\ninput x : f32[M, N]\n");
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// Whatever stands in it, a text never ends the program.
TEST(Parse, DepthIsLimited) {
  const auto message_of = [](const std::string& text) {
    Diagnostics diagnostics;
    const ExprRef parsed = parse_expression(text, diagnostics);
    EXPECT_EQ(parsed == nullptr, diagnostics.has_errors());
    return diagnostics.has_errors() ? diagnostics.all().front().code + ": " + diagnostics.all().front().message : "";
  };
  for (const int times : {499, 20000}) {
    const std::string wanted = times == 499 ? "" : "E000: an expression is nested more than 500 deep here";
    EXPECT_EQ(message_of(repeated("(", times) + "x" + repeated(")", times)), wanted);
    EXPECT_EQ(message_of(repeated("-", times) + "x"), wanted);
    EXPECT_EQ(message_of(repeated("not ", times) + "x"), wanted);
    EXPECT_EQ(message_of("x" + repeated(" + x", times)), wanted);
    EXPECT_EQ(message_of("x" + repeated(" * x", times)), wanted);
    EXPECT_EQ(message_of("x" + repeated(" and x", times)), wanted);
    EXPECT_EQ(message_of("x" + repeated(" ** x", times)), wanted);
    EXPECT_EQ(message_of(repeated("x[", times) + "0" + repeated("]", times)), wanted);
    EXPECT_EQ(message_of(repeated("exp(", times) + "x" + repeated(")", times)), wanted);
  }
  // Neither of them is deep, both together are.
  EXPECT_NE(message_of(repeated("(", 400) + "x" + repeated(" + x)", 400) + repeated(" + x", 400)), "");
  EXPECT_EQ(message_of(repeated("x + (", 400) + "x" + repeated(")", 400) + repeated(" + x", 90)), "");
  EXPECT_EQ(message_of("f(x" + repeated(", x", 20000) + ")"), "");  // long, not deep
}

TEST(Parse, KnobsAndBlocksHaveALimitToo) {
  Diagnostics diagnostics;
  (void)parse_knobs("a=" + repeated("x(b=", 20000) + "1" + repeated(")", 20000), diagnostics);
  ASSERT_TRUE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.all().front().message, "a knob's value is nested more than 500 deep here");
  (void)parse_knobs("a=" + repeated("(", 20000), diagnostics);
  (void)parse("program p\n" + repeated("def f(a: f32[1]) -> b: f32[1] {\n", 20000), diagnostics);
  EXPECT_LE(diagnostics.size(), Diagnostics::kMost);
}

TEST(Parse, ABinaryFileIsOneMistake) {
  Diagnostics diagnostics;
  (void)parse(std::string_view("program p\n\0\x01\x02", 13), diagnostics);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].message, "a zero byte: this is not a text file");
  EXPECT_EQ(diagnostics.all()[0].span.begin, 10);
}

TEST(Parse, AFileOfControlCharactersIsOneMistakeAndIsNotPrinted) {
  const std::string text = "\xf0\x9f\x92L\x13?@\xb1l\n\x01\x02";
  Diagnostics diagnostics;
  (void)parse(text, diagnostics);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].message, "a control character (0x13): this is not a text file");
  const std::string shown = render_text(diagnostics, text, "a.ucut");
  EXPECT_TRUE(std::all_of(shown.begin(), shown.end(), [](unsigned char c) { return c < 0x80; })) << shown;
}

}  // namespace
}  // namespace solstice::lang
