// Anchors and roles of the normal form's nodes; budgets; passes left out.
#include <gtest/gtest.h>

#include "ir/bind.h"
#include "ir/normal.h"

namespace solstice::ir {
namespace {

NormalForm normal_of(const std::string& text, const NormalOptions& options = {}) {
  Diagnostics diagnostics;
  const auto program = load_program("program p\n" + text, "p", diagnostics);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().text());
  auto out = normal_form(*program, options);
  EXPECT_TRUE(out.ok());
  return std::move(*out);
}

// Anchors of all nodes but maps, in order.
std::string anchors_of(const NormalForm& normal) {
  std::string out;
  for (const NormalNode& node : normal.nodes) {
    if (node.anchor != "map") out += (out.empty() ? "" : " ") + node.anchor;
  }
  return out;
}

std::string roles_of(const NormalForm& normal, const std::string& anchor) {
  for (const NormalNode& node : normal.nodes) {
    if (node.anchor != anchor) continue;
    std::string out;
    for (const auto& [index, role] : node.roles) {
      const bool bound = index.starts_with("b1_");
      out += (out.empty() ? "" : " ") + (bound ? "" : index + ":") + role;
    }
    return out;
  }
  return "";
}

struct Anchor {
  const char* name;
  const char* text;
  const char* anchors;
};

void PrintTo(const Anchor& each, std::ostream* out) { *out << each.name; }

const Anchor kAnchors[] = {
    {"linear",
     "dim M = 8, N = 9, K = 10\ninput x : f32[M,K]\nparam w : f32[N,K]\nparam b : f32[N]\noutput y : f32[M,N]\n"
     "y[m,n] = relu(sum[k](x[m,k]*w[n,k]) + b[n])",
     "gemm"},
    {"heads as digits",
     "dim T = 8, H = 2, D = 4\ninput q : f32[T,H*D]\ninput k : f32[T,H*D]\noutput s : f32[H,T,T]\n"
     "s[h,i,j] = sum[d<D](q[i,D*h+d]*k[j,D*h+d]) for h < H",
     "gemm"},
    {"rows chosen by expert",
     "dim R = 8, E = 3, D = 4, F = 5\ninput x : f32[R,D]\ninput e : i64[R]\nparam w : f32[E,F,D]\noutput y : f32[R,F]\n"
     "y[r,f] = sum[d](x[r,d]*w[e[r],f,d])",
     "grouped_gemm"},
    {"convolution",
     "dim B = 2, C = 3, K = 4, H = 9\ninput x : f32[B,C,H]\nparam w : f32[K,C,3]\noutput y : f32[B,K,H]\n"
     "y[b,k,p] = sum[c,r](x[b,c,p+r-1 else 0]*w[k,c,r])",
     "conv"},
    {"convolution by where",
     "dim B = 2, C = 3, K = 4, H = 9\ninput x : f32[B,C,H]\nparam w : f32[K,C,3]\noutput y : f32[B,K,H]\n"
     "y[b,k,p] = sum[c,u,r where u == p+r-1](x[b,c,u]*w[k,c,r])",
     "conv"},
    {"depthwise",
     "dim B = 2, C = 3, H = 9\ninput x : f32[B,C,H]\nparam w : f32[C,3]\noutput y : f32[B,C,H]\n"
     "y[b,c,p] = sum[r](x[b,c,p+r-1 else 0]*w[c,r])",
     "conv_depthwise"},
    {"transposed",
     "dim B = 2, C = 3, K = 4, H = 9\ninput x : f32[B,C,H]\nparam w : f32[C,K,3]\noutput y : f32[B,K,2*H]\n"
     "y[b,k,u] = sum[c,i,r where u == 2*i+r](x[b,c,i]*w[c,k,r])",
     "conv_transposed"},
    {"patches",
     "dim B = 2, C = 3, K = 4, P = 5\ninput x : f32[B,C,4*P]\nparam w : f32[K,C,4]\noutput y : f32[B,K,P]\n"
     "y[b,k,p] = sum[c,r](x[b,c,4*p+r]*w[k,c,r])",
     "gemm"},
    {"layer norm",
     "dim M = 8, N = 9\ninput x : f32[M,N]\noutput y : f32[M,N]\n"
     "u[m] = mean[n](x[m,n])\ny[m,n] = x[m,n]-u[m]",
     "rows"},
    {"a mean", "dim M = 8, N = 9\ninput x : f32[M,N]\noutput y : f32[M]\ny[m] = mean[n](x[m,n])", "reduce"},
    {"pooling", "dim H = 9\ninput x : f32[H]\noutput y : f32[H]\ny[p] = max[r<3](x[p+r-1 else -inf])", "window"},
    {"prefix sum", "dim M = 8, N = 9\ninput x : f32[M,N]\noutput y : f32[M,N]\ny[m,n] = sum[j where j <= n](x[m,j])",
     "scan"},
    {"accumulating recurrence",
     "dim M = 8, N = 9\ninput x : f32[M,N]\noutput y : f32[M,N]\ny[m,n] = y[m,n-1 else 0]+x[m,n]", "scan"},
    {"decay", "dim M = 8, N = 9\ninput x : f32[M,N]\noutput y : f32[M,N]\ny[m,n] = 0.9*y[m,n-1 else 0]+x[m,n]", "scan"},
    {"rnn",
     "dim T = 8, H = 9\ninput x : f32[T,H]\nparam w : f32[H,H]\noutput y : f32[T,H]\n"
     "y[t,j] = tanh(x[t,j]+sum[k](y[t-1,k else 0]*w[j,k]))",
     "recurrent"},
    {"attention",
     "dim T = 8, D = 4\ninput q : f32[T,D]\ninput k : f32[T,D]\ninput v : f32[T,D]\noutput o : f32[T,D]\n"
     "s[i,j] = sum[d](q[i,d]*k[j,d])/2\np[i,j] = exp(s[i,j]-max[j where j <= i](s[i,j]))\n"
     "o[i,e] = sum[j where j <= i](p[i,j]*v[j,e])/sum[j where j <= i](p[i,j])",
     "gemm scan attention scan"},
    {"scatter",
     "dim J = 8, R = 5\ninput s : f32[J]\ninput i : i64[J]\noutput y : f32[R]\ny[r] = sum[j where i[j] == r](s[j])",
     "scatter"},
    {"ranking", "dim M = 8, N = 9\ninput x : f32[M,N]\noutput y : i64[M,3]\ny[m,j] = argtop[n; j](x[m,n]) for j < 3",
     "rank"},
};

class AnchorOf : public ::testing::TestWithParam<Anchor> {};
TEST_P(AnchorOf, IsRecognised) {
  const NormalForm normal = normal_of(GetParam().text);
  std::string nodes;
  for (const Equation& e : normal.program.equations) nodes += to_text(normal.program, e) + "\n";
  EXPECT_EQ(anchors_of(normal), GetParam().anchors) << nodes;
}
INSTANTIATE_TEST_SUITE_P(Normal, AnchorOf, ::testing::ValuesIn(kAnchors));

TEST(NormalNodes, IndicesHaveRoles) {
  EXPECT_EQ(roles_of(normal_of(kAnchors[0].text), "gemm"), "m:m n:n k");
  EXPECT_EQ(roles_of(normal_of(kAnchors[1].text), "gemm"), "h:batch i:m j:n k");
  EXPECT_EQ(roles_of(normal_of(kAnchors[5].text), "conv_depthwise"), "b:m c:batch p:m window");
}

TEST(NormalNodes, ABudgetThatRunsOutIsSaid) {
  NormalOptions options;
  options.most_terms = 5;
  const NormalForm normal = normal_of(kAnchors[0].text, options);
  EXPECT_EQ(normal.exceeded, "terms");
  EXPECT_EQ(normal.program.equations.size(), 1u);
}

TEST(NormalNodes, PassesAreNamedTimedAndMayBeLeftOut) {
  NormalOptions options;
  options.without = {"algebra", "name"};
  const NormalForm normal = normal_of(kAnchors[0].text, options);
  ASSERT_EQ(normal.passes.size(), 8u);
  EXPECT_EQ(normal.passes[6].name, "algebra");
  EXPECT_FALSE(normal.passes[6].ran);
  EXPECT_TRUE(normal.passes[0].ran);
  EXPECT_EQ(normal.passes[0].reductions, 1u);
  options.without = {"fold"};
  Diagnostics diagnostics;
  const auto program = load_program(std::string("program p\n") + kAnchors[0].text, "p", diagnostics);
  const auto wrong = normal_form(*program, options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().hint.find("expand, hoist"), std::string::npos);
}

}  // namespace
}  // namespace solstice::ir
