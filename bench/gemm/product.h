// Products of a table (cases.txt), one a line: `M N K OPERANDS[:VALUES] DTYPE POLICY KNOBS`.
//
// OPERANDS are KK, KM, MK or MM: what is contiguous in x and in w, K or M (M: along the rows of the result, or its
// columns). VALUES name the data that bench_gemm_shapes runs on. DTYPE is of x, w and the result, POLICY a numerics
// policy, KNOBS the text in `by gemm(...)`; without any the cost models choose.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"

namespace solstice {

struct Product {
  std::string line, name;  // of the table, and its number there
  int64_t m = 0, n = 0, k = 0;
  std::string operands, values, dtype, policy, knobs;

  bool x_by_m() const { return operands[0] == 'M'; }
  bool w_by_n() const { return operands[1] == 'M'; }
  std::string text() const {
    return fmt::format(
        "program p\ndim M = {}, N = {}, K = {}\ninput x : {}[{}]\nparam w : {}[{}] \"w\"\noutput y : {}[M, N]\n"
        "kernel up by gemm({}) {{\n  y[m,n] = sum[k](x[{}] * w[{}])\n}}\n",
        m, n, k, dtype, x_by_m() ? "K, M" : "M, K", dtype, w_by_n() ? "K, N" : "N, K", dtype, knobs,
        x_by_m() ? "k,m" : "m,k", w_by_n() ? "k,n" : "n,k");
  }
};

inline Result<Product> parse_product(const std::string& line) {
  Product out;
  out.line = line;
  std::istringstream in(line);
  if (!(in >> out.m >> out.n >> out.k >> out.operands >> out.dtype >> out.policy) || out.operands.size() < 2)
    return fail(Code::bad_argument, "not `M N K OPERANDS[:VALUES] DTYPE POLICY KNOBS`: " + line);
  if (out.operands.size() > 2) out.values = out.operands.substr(3), out.operands.resize(2);
  std::getline(in >> std::ws, out.knobs);
  return out;
}

inline Result<std::vector<Product>> read_products(const std::filesystem::path& path) {
  SOLSTICE_TRY(const std::string text, read_file(path));
  std::istringstream lines(text);
  std::vector<Product> out;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    SOLSTICE_TRY(Product product, parse_product(line));
    product.name = fmt::format("{:03}", out.size());
    out.push_back(std::move(product));
  }
  return out;
}

}  // namespace solstice
