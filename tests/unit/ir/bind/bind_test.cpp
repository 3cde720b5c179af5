#include "ir/bind.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "lang/parse.h"

namespace solstice::ir {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

std::string codes_of(std::string_view text) {
  Diagnostics diagnostics;
  const auto program = load_program(text, "test", diagnostics);
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += (out.empty() ? "" : " ") + d.code;
  EXPECT_EQ(program.ok(), !diagnostics.has_errors());
  return out;
}

Program bound(std::string_view text) {
  Diagnostics diagnostics;
  auto program = load_program(text, "test", diagnostics);
  EXPECT_TRUE(program.ok()) << render_text(diagnostics, text, "test");
  return program.ok() ? std::move(*program) : Program();
}

const Equation& last(const Program& p) { return p.equations.back(); }

TEST(Bind, AcceptsEveryExampleProgram) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SOLSTICE_SOURCE_DIR "/examples/programs")) {
    const std::string text = file_text(entry.path());
    Diagnostics diagnostics;
    EXPECT_TRUE(load_program(text, entry.path().string(), diagnostics).ok());
    EXPECT_EQ(diagnostics.size(), 0u) << render_text(diagnostics, text, entry.path().string());
    ++count;
  }
  EXPECT_GE(count, 12);
}

constexpr const char* kRow = "dim M = 8\ninput x : f32[M]\noutput y : f32[M]\ny[m] = x[m]\n";

TEST(Bind, RefusesClausesThatNameNothing) {
  const std::string row = kRow;
  EXPECT_EQ(codes_of("program p\ntarget h200\nnumerics high\nlaunch stream\nallow frozen, nondeterministic\n" + row),
            "");
  EXPECT_EQ(codes_of("program p\nnumerics refrence\nlaunch grph(pdl=true)\nallow nondeterminstic\n" + row),
            "E008 E008 E008");
  EXPECT_EQ(codes_of("program p\nnumerics high\nnumerics medium\n" + row), "E022");
}

TEST(Bind, AnExponentialIsJudgedByWhatItsNamesStandFor) {
  const std::string head = "program p\ndim M = 8, N = 8\ninput x : f32[M,N]\noutput y : f32[M,N]\n";
  const std::string rest = "y[m,n] = exp(s[m,n]) / sum[j](exp(s[m,j]))\n";
  EXPECT_EQ(codes_of(head + "s[m,n] = x[m,n] - max[j](x[m,j])\n" + rest), "");
  EXPECT_EQ(codes_of(head + "t[m,n] = x[m,n] - max[j](x[m,j])\ns[m,n] = t[m,n]\n" + rest), "");
  EXPECT_EQ(codes_of(head + "s[m,n] = x[m,n] * x[m,n]\n" + rest), "W017");
  const std::string pieces = "tensor s : f32[M,N]\ns[m,2*h] = x[m,2*h] - max[j](x[m,j]) for h<N//2\ns[m,2*h+1] = ";
  EXPECT_EQ(codes_of(head + pieces + "x[m,2*h+1] * x[m,2*h+1] for h<N//2\n" + rest), "W017");
}

TEST(Bind, NotesWhatNothingImplements) {
  EXPECT_TRUE(bound(std::string("program p\n") + kRow).not_yet.empty());
  const Program p =
      bound("program p\nallow rng\ndim M = 8 in 1..64 step 8\ninput x : f32[M]\noutput y : f32[M]\ny[m] = x[m]\n");
  ASSERT_EQ(p.not_yet.size(), 2u);
  EXPECT_NE(p.not_yet[0].what.find("allow rng"), std::string::npos);
  EXPECT_NE(p.not_yet[1].what.find("`M` is 8"), std::string::npos);
  EXPECT_EQ(codes_of("program p\ndim M = 8 in 1..64 step 0\ninput x : f32[M]\noutput y : f32[M]\ny[m] = x[m]\n"),
            "E000");
}

TEST(Bind, ADrawNamesItsDistribution) {
  const auto drawn = [](const std::string& line) {
    return codes_of("program p\ndim M = 8\n" + line + "\noutput y : f32[M]\ny[m] = z[m]\n");
  };
  EXPECT_EQ(drawn("random z : f32[M] from normal(0, 1.5)"), "");
  EXPECT_EQ(drawn("random z : bool[M] from bernoulli(0.9)"), "");
  EXPECT_EQ(drawn("random z : f32[M]"), "E022");
  EXPECT_EQ(drawn("random z : f32[M] from gauss(0, 1)"), "E022");
  EXPECT_EQ(drawn("random z : bool[M] from bernoulli(0.9, 3)"), "E022");
  EXPECT_EQ(drawn("input z : f32[M] from normal(0, 1)"), "E022");
}

TEST(Bind, SharedStorageFitsAndMayBeWritten) {
  const auto shared = [](const std::string& line) {
    return codes_of(
        "program p\ndim N = 4, C = 3\nparam w : f32[N, C]\nparam v : f32[C, N] strides(1, C) same w\ninput x : f32[N, "
        "C]\n"
        "output f : f32[N, 2*C]\n" +
        line + "\nt[n,c] = x[n,c] * v[c,n]\nf[n,c] = t[n,c]\nf[n,C+c] = w[n,c]\n");
  };
  EXPECT_EQ(shared("tensor t : f32[N, C] same f[0, C]"), "");
  EXPECT_EQ(shared("tensor t : f32[N, C] same f[0, C+1]"), "E022");
  EXPECT_EQ(shared("tensor t : f16[N, C] same f[0, 0]"), "E022");
  EXPECT_EQ(shared("tensor t : f32[N, C] same x"), "E014");
  EXPECT_EQ(shared("tensor t : f32[N, C] same f[0, 0, 0]"), "E006");
}

TEST(Bind, ABufferIsUpdatedOnceAndNotAssumed) {
  const std::string head = "program p\ndim T = 4\nbuffer b : f32[T] \"b\"\ninput s : f32[T]\noutput y : f32[T]\n";
  const std::string update = "tensor b1 : f32[T] into b\nb1[i] = b[i] + s[i]\n";
  EXPECT_EQ(codes_of(head + update + "y[i] = s[i]\n"), "");
  EXPECT_EQ(codes_of(head + update + "tensor b2 : f32[T] into b\nb2[i] = s[i]\ny[i] = s[i]\n"), "E022");
  EXPECT_EQ(codes_of(head + update + "assume b[i] = i\ny[i] = s[i]\n"), "E022");
  const std::string def =
      "program p\ndef count(x : f32[C]) -> y : f32[C] {\n  buffer m : f32[C] \"m\"\n  tensor m1 : f32[C] into m\n"
      "  m1[c] = m[c] + x[c]\n  y[c] = x[c] - m[c]\n}\ndim C = 4\ninput x : f32[C]\noutput z : f32[C]\n";
  EXPECT_EQ(codes_of(def + "u = count(x) at \"a\"\nz = count(u) at \"b\"\n"), "");
  EXPECT_EQ(codes_of(def + "u = count(x) at \"a\"\nz = count(u) at \"a\"\n"), "E022");
}

TEST(Bind, ARecurrenceNamesTheReadThatStandsTooEarly) {
  Diagnostics diagnostics;
  const std::string text =
      "program p\ndim T = 7\ninput x : f32[T]\noutput u : f32[T]\noutput v : f32[T]\n"
      "u[t] = 0.9 * u[t-1 else 0] + v[t]\nv[t] = x[t] - u[t-1 else 0]\n";
  EXPECT_FALSE(load_program(text, "test", diagnostics).ok());
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics.all()[0].message.find("`v` is read at the step of its own equation"), std::string::npos)
      << diagnostics.all()[0].message;
}

TEST(Bind, FillsTheProgram) {
  const Program p = bound(
      "program lin\ntarget h200\nnumerics reference\nlaunch graph(pdl=true)\nallow frozen\ndim M = 4, K = 8, "
      "N = 6\n"
      "param w : f32[N, K] \"l.weight\"\ninput x : f16[M, K] order(1, 0)\noutput y : f32[M, N]\n"
      "kernel up by gemm(math=fp16x3, tile={128x64, 64x64}, ctas=M*2, stages=auto) {\n"
      "  z[m,n] = sum[k](x[m,k] * w[n,k])\n  y[m,n] = relu(z[m,n])\n}\n");
  EXPECT_EQ(p.target, "h200");
  EXPECT_EQ(p.launch_kind, "graph");
  EXPECT_EQ(p.allow, std::vector<std::string>{"frozen"});
  ASSERT_EQ(p.tensors.size(), 4u);
  EXPECT_EQ(p.tensor(0).path, "l.weight");
  EXPECT_EQ(p.tensor(1).strides, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(p.tensor(3).kind, TensorKind::kLocal);
  EXPECT_EQ(p.tensor(3).shape, (std::vector<int64_t>{4, 6}));
  EXPECT_EQ(p.tensor(3).dims, (std::vector<std::string>{"M", "N"}));
  ASSERT_EQ(p.kernels.size(), 1u);
  EXPECT_EQ(to_text(p.kernels[0].knobs), "math=fp16x3, tile={128x64, 64x64}, ctas=8, stages=auto");
  EXPECT_EQ(p.kernels[0].equations, (std::vector<int>{0, 1}));
  EXPECT_EQ(to_text(p, p.equations[0]), "z[m,n] = sum[k](x[m,k] * w[n,k])");
  EXPECT_EQ(to_text(p, p.equations[1]), "y[m,n] = max(z[m,n], 0)");
}

TEST(Bind, FindsExtents) {
  const Program p = bound("program p dim N = 9 input x : f32[4, N] output y : f32[4, 3] y[m,q] = sum[i<3](x[m,3*q+i])");
  const Equation& e = last(p);
  EXPECT_EQ(e.indices[0].dim, "4");
  EXPECT_EQ(e.indices[1].extent, 3);
  EXPECT_EQ(e.indices[2].extent, 3);
}

TEST(Bind, ExpandsDefsAtTheirPaths) {
  const Program p = bound(
      "program p\ndim B = 2, C = 3\n"
      "def lin[K, S=1](x : f32[N, D]) -> y : f32[N, K] {\n  param w : f32[K, D] \"weight\"\n"
      "  t[n,k] = sum[d](x[n,d] * w[k,d])\n  kernel f by map(vector=S) {\n    y[n,k] = 0*x[n,0]\n  }\n}\n"
      "input x : f32[B, C]\noutput y : f32[B, 5]\n"
      "h = lin[K=4](x) at \"a\"\ny = lin[K=5, S=4](h) at \"b\" with f(vector=8)\n");
  ASSERT_EQ(p.kernels.size(), 2u);
  EXPECT_EQ(p.kernels[0].name, "a.f");
  EXPECT_EQ(to_text(p.kernels[0].knobs), "vector=1");
  EXPECT_EQ(to_text(p.kernels[1].knobs), "vector=8");
  const int w = p.find_tensor("b.w");
  ASSERT_GE(w, 0);
  EXPECT_EQ(p.tensor(w).path, "b.weight");
  EXPECT_EQ(p.tensor(w).shape, (std::vector<int64_t>{5, 4}));
  EXPECT_EQ(p.tensor(p.find_tensor("h")).dims, (std::vector<std::string>{"B", "4"}));
}

TEST(Bind, FoldsViews) {
  const Program p = bound(
      "program p input a : f32[2, 6] input b : f32[2, 3] output y : f32[2, 9] output z : f32[3, 2, 2]\n"
      "view c[m,n] = a[m,n]\nview c[m,6+n] = b[m,n]\nview t[g,m,d] = a[m,2*g+d] for g<3, d<2\n"
      "y[m,n] = c[m,n]\nz[g,m,d] = t[g,m,d]");
  EXPECT_EQ(to_text(p, p.equations[0]), "y[m,n] = select(n <= 5, a[m,n], b[m,n-6]) for n < 9");
  EXPECT_EQ(to_text(p, p.equations[1]), "z[g,m,d] = a[m,2*g+d] for g < 3, d < 2");
}

TEST(Bind, FindsRecurrences) {
  const Program p = bound(
      "program p dim T = 5, B = 2, U = 3\ninput x : f32[T, B, U] input h0 : f32[B, U] param w : f32[U, U]\n"
      "output h : f32[T, B, U] output r : f32[T, B, U]\n"
      "g[t,b,j] = x[t,b,j] + sum[k](h[t-1,b,k else h0[b,k]] * w[j,k])\nh[t,b,j] = tanh(g[t,b,j])\n"
      "r[t,b,j] = x[t,b,j] + r[t+1,b,j else 0]\n");
  EXPECT_EQ(p.equations[0].group, p.equations[1].group);
  EXPECT_GE(p.equations[0].group, 0);
  EXPECT_EQ(p.equations[0].step_sign, 1);
  EXPECT_EQ(p.equations[2].step_sign, -1);
  EXPECT_NE(p.equations[2].group, p.equations[0].group);
}

TEST(Bind, KeepsPiecesApart) {
  EXPECT_EQ(codes_of("program p input x : f32[4] output y : f32[8] y[i] = x[i] for i<4\n z[i] = y[i]*2 for "
                     "i<4\n y[4+i] = z[i]"),
            "");
  EXPECT_EQ(codes_of("program p input x : f32[8] output y : f32[8] y[0] = x[0]\n y[t+1] = y[t] + x[t+1] for t<7"), "");
  EXPECT_EQ(codes_of("program p input x : f32[8] output y : f32[8] y[t] = x[t] + sum[s where s < t](y[s])"), "");
}

struct Case {
  const char* codes;
  const char* text;
};

TEST(Bind, Rejects) {
  const Case cases[] = {
      {"E004", "input a:f32[5,7] input b:f32[7,4] output y:f32[5,4] y[m,n]=a[m,k]*b[7-1,n]"},
      {"E002", "input x:f32[5,7] param w:f32[4,7] output y:f32[5,4] y[m,n]=sum[k](x[m,k]*w[k,n])"},
      {"E001", "input x:f32[2,8] param w:f32[3] output y:f32[2,8] y[n,p]=sum[r](x[n,p+r-1]*w[r])"},
      {"E003", "input x:f32[2,8] output y:f32[2,4] y[n,p]=max[i](x[n,2*p+i])"},
      {"E006", "input x:f32[2,8] param b:f32[8,1,1] output y:f32[2,8] y[n,c]=x[n,c]+b[c]"},
      {"E005", "input a:f32[2,3] output y:f32[2,8] y[n,c]=a[n,c]"},
      {"E005", "input a:f32[2,3] input b:f32[2,5] output y:f32[2,7] y[n,c]=a[n,c] y[n,2+c]=b[n,c]"},
      {"E010", "input x:f32[2,8] param b:f32[8] output y:f32[2,8] y[n,c]=x[n,c] y[n,c]=y[n,c]+b[c]"},
      {"E010", "input x:f32[2,8] output y:f32[2,8] y[n,t]=y[n,t]+x[n,t]"},
      {"E001", "input x:f32[2,8] output y:f32[2,8] y[n,t]=y[n,t-1]+x[n,t]"},
      {"E004", "input x:f32[5,7] param w:f32[7] output y:f32[5] y[m]=sum[k](x[m,k])*w[k]"},
      {"E001", "input x:f32[5,8] output y:f32[5,4] y[m,n]=x[m,n]"},
      {"E007", "input x:f32[5,8] output y:f32[5,8] y[m,n]=gelu(x)"},
      {"E009", "input x:f32[5,8] output y:f32[5] y[m]=sum(x[m,0], dim=1)"},
      {"E008", "input x:f32[5,8] output y:f32[5,8] y[m,n]=relux(x[m,n])"},
      {"E008", "input x:f32[5] output y:f32[5] y[x]=x[x]"},
      {"E013", "input x:f32[5,8] output y:f32[5,8] y[m,k]=x[m,k/2]"},
      {"E013", "dim H=2.5 input x:f32[3] tensor c:f32[H] output y:f32[3] c[1]=1 c[2]=2 y[m]=x[m]"},
      {"E014", "buffer rm:f32[5] output y:f32[5] y[m]=rm[m] rm[m]=0*y[m]"},
      {"E011", "input x:f32[5] output y:f32[5] kernel a by map() { t[m]=x[m] } kernel b by map() { y[m]=t[m] }"},
      {"E015", "allow frozen input x:f32[5] output y:f32[5] kernel a once by map() { y[m]=x[m] }"},
      {"E015", "param w:f32[5] output y:f32[5] kernel a once by map() { y[m]=w[m] }"},
      {"E022",
       "input x:f32[5] output y:f32[5] kernel a by map(threads=128, (vector, threads)={(4, 256)}) { y[m]=x[m] }"},
      {"E101", "launch graph(foo=3) input x:f32[5] output y:f32[5] y[m]=x[m]"},
      {"E102", "numerics budget(rel=0) input x:f32[5] output y:f32[5] y[m]=x[m]"},
      {"E105", "numerics budget input x:f32[5] output y:f32[5] y[m]=x[m]"},
      {"W002", "dim K=4, N=4 input x:f32[K,K] param w:f32[N,K] output y:f32[K,K] y[m,n]=sum[k](x[m,k]*w[k,n])"},
      {"E021", "input x:f32[5] output y:i64[5] y[m]=x[m]"},
      {"E021", "input x:f32[5] output y:f32[5] y[m]=select(x[m], 1, 2)"},
      {"E001", "input x:f32[4,9] output i:i64[4,10] i[m,j]=argtop[n;j](x[m,n])"},
      {"E005", "input x:f32[5] output y:f32[5,5] y[m,m]=x[m]"},
      {"E005", "input x:f32[6] output y:f32[5] y[m+n]=x[m] for m<3, n<3"},
      {"E010", "input x:f32[5] output y:f32[5] y[m]=z[m] z[m]=x[m]"},
      {"E003", "input x:f32[5] output y:f32[5] y[m]=z[m] z[m]=z[m]"},
      {"E022", "def f(x:f32[N]) -> y:f32[N] { y[n]=x[n] } input x:f32[5] output y:f32[5] y = f(x, x)"},
      {"E014", "def f(x:f32[N]) -> y:f32[N] { y[n]=x[n] x[n]=y[n] } input x:f32[5] output y:f32[5] y = f(x)"},
  };
  for (const Case& c : cases) {
    std::string text = std::string("program p\n") + c.text;
    Diagnostics diagnostics;
    (void)load_program(text, "case", diagnostics);
    EXPECT_EQ(codes_of(text), c.codes) << render_text(diagnostics, text, "case");
  }
}

TEST(Bind, ProvesRanges) {
  for (const char* text : {
           "input x:f32[7] output y:f32[3] y[o]=mean[i where i>=(o*7)//3 and i<((o+1)*7+2)//3](x[i])",
           "input x:f32[4,9] output y:f32[6,6] y[p,q]=x[(6*p+q)//9,(6*p+q)%9]",
           "input x:f32[9] output y:f32[9] y[n]=x[(n+3)%9]",
           "input x:f32[9] output y:f32[9] y[n]=x[8-n]",
           "input x:f32[11] output y:f32[6] y[p]=mean[i<3 where 0<=2*p+i-1<11](x[2*p+i-1])",
           "input x:f32[9] output y:f32[9] y[n]=select(n >= 2, x[n-2], 0)",
           "input x:f32[9] output y:f32[9] y[n]=select(n < 2 or n > 8, 0, x[n-2])",
           "input x:f32[9] output y:f32[9] y[n]=x[min(n+1, 8)]",
           "input x:f32[5,7] input i:i64[5] output y:f32[5] y[n]=x[n,i[n]]",
           "input x:f32[5,7] output y:f32[5] y[n]=x[n,argmax[k](x[n,k])]",
           "input x:f32[10] output y:f32[16] y[u]=sum[i,r<3 where u == 2*i+r-1](x[i])",
           "input x:f32[10] output y:f32[16] y[u]=sum[r<3 where (u+1-r) % 2 == 0 and 0 <= (u+1-r)//2 < "
           "10](x[(u+1-r)//2])",
           "input x:f32[2,14] output y:f32[2,7,2] y[n,p,q]=x[n,2*p+q]",
       }) {
    EXPECT_EQ(codes_of(std::string("program p ") + text), "") << text;
  }
  EXPECT_EQ(codes_of("program p input x:f32[7] output y:f32[3] y[o]=sum[i<3](x[(o*7)//3+i+1])"), "E001");
}

TEST(Bind, AKnobGivenAnewLeavesWhatItWasTiedTo) {
  Diagnostics diagnostics;
  const auto program = load_program(
      "program p\ndef twice(x : f32[N]) -> y : f32[N] { kernel k by map(unroll=2, (vector, threads)={(4, 256), (8, "
      "128)}) { y[n] = 2*x[n] } }\n"
      "input x : f32[8]\noutput y : f32[8]\ny = twice(x) with k(threads=512)",
      "p.ucut", diagnostics);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(to_text(program->kernels[0].knobs), "unroll=2, threads=512");
}

TEST(Bind, NamesInKnobsAreTheTensorsInSight) {
  Diagnostics diagnostics;
  const auto program = load_program(
      "program p\ndef twice(a : f32[N]) -> b : f32[N] {\n  view v[n] = a[n]\n"
      "  kernel k by cuda(\"k.cu\", entry=\"f\", args=(v, b, N), grid=1, block=8) { b[n] = 2*a[n] } }\n"
      "input x : f32[8]\noutput y : f32[8]\ny = twice(x)",
      "p.ucut", diagnostics);
  ASSERT_TRUE(program.ok());
  const std::vector<KnobValue>& args = program->kernels[0].knobs.find("args")->items;
  EXPECT_EQ(args[0].tensor, program->find_tensor("x"));
  EXPECT_EQ(args[1].tensor, program->find_tensor("y"));
  EXPECT_EQ(args[2].tensor, -1);
}

}  // namespace
}  // namespace solstice::ir
