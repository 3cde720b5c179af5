// Sums of products: linear, matrix products, einsum. Every axis of an operand has a letter; letters that the result
// lacks are summed.
#include <map>

#include "import/rules.h"

namespace solstice::importer {
namespace {

struct Operand {
  Value value;
  std::string letters;  // one an axis
};

struct Contraction {
  std::map<char, Axis> axes;  // loops of each letter
  TermRef sum;

  Axes axes_of(const std::string& letters) const {
    Axes out;
    for (const char letter : letters) out.push_back(axes.at(letter));
    return out;
  }
};

Result<Contraction> contract(Call& call, const std::vector<Operand>& operands, const std::string& result) {
  Contraction out;
  std::map<char, std::vector<const Axis*>> uses;
  std::string order;
  for (const Operand& operand : operands) {
    if (operand.letters.size() != operand.value.axes.size()) {
      return call.unsupported("an operand has more axes than the product names");
    }
    for (size_t i = 0; i < operand.letters.size(); ++i) {
      const char letter = operand.letters[i];
      if (!uses.count(letter)) order += letter;
      auto& axes = uses[letter];
      const Axis& axis = operand.value.axes[i];
      if (axis.extent() == 1) continue;
      if (!axes.empty() && axes[0]->extent() != axis.extent()) return call.unsupported("extents of a letter differ");
      axes.push_back(&axis);
    }
  }
  std::vector<Loop> summed;
  for (const char letter : order) {
    out.axes[letter] = uses[letter].empty() ? Axis{} : call.loops().align(uses[letter]);
    for (Loop& loop : out.axes[letter].digits) {
      if (letter >= 'a') loop.hint = std::string(1, letter);
    }
    if (result.find(letter) != std::string::npos) continue;
    summed.insert(summed.end(), out.axes[letter].digits.begin(), out.axes[letter].digits.end());
  }
  TermRef product;
  for (const Operand& operand : operands) {
    Indices at;
    for (size_t i = 0; i < operand.letters.size(); ++i) {
      at.push_back(operand.value.extent(static_cast<int>(i)) == 1 ? Index(0)
                                                                  : call.loops().flat(out.axes[operand.letters[i]]));
    }
    const TermRef factor = read_at(operand.value, at, call.loops());
    product = product ? product * factor : factor;
  }
  out.sum = summed.empty() ? product : reduce("sum", summed, product);
  return out;
}

Status yield_product(Call& call, const Contraction& product, const std::string& result, const TermRef& rhs) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  return call.yield(call.draft().define(call.wish(), product.axes_of(result), rhs, dtype));
}

// y[.., n] = sum[k](x[.., k] * w[n, k]) + b[n]
Status linear(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("input"));
  SOLSTICE_TRY(const Value w, call.tensor("weight"));
  SOLSTICE_TRY(const std::optional<Value> bias, call.maybe_tensor("bias"));
  if (x.rank() < 1 || w.rank() != 2) return call.unsupported("a weight that is no matrix");
  std::string rows;
  for (int i = 0; i + 1 < x.rank(); ++i) rows += static_cast<char>('A' + i);
  if (x.rank() == 2) hint(call, x.axis(0), "M");
  hint(call, x.axis(x.rank() - 1), "K");
  hint(call, w.axis(0), "N");
  hint(call, w.axis(1), "K");
  SOLSTICE_TRY(const Contraction product, contract(call, {{x, rows + "k"}, {w, "nk"}}, rows + "n"));
  TermRef rhs = product.sum;
  if (bias) {
    const Axis& n = product.axes.at('n');
    if (bias->rank() == 1) call.loops().align({&bias->axis(0), &n});
    rhs = rhs + read_at(*bias, {call.loops().flat(n)}, call.loops());
  }
  return yield_product(call, product, rows + "n", rhs);
}

// torch.matmul: vectors, matrices, and leading axes that broadcast.
Status matmul_of(Call& call, const char* a_name, const char* b_name) {
  SOLSTICE_TRY(const Value a, call.tensor(a_name));
  SOLSTICE_TRY(const Value b, call.tensor(b_name));
  if (a.rank() < 1 || b.rank() < 1) return call.unsupported("a factor without axes");
  const int a_batch = std::max(a.rank() - 2, 0);
  const int b_batch = std::max(b.rank() - 2, 0);
  const int batch = std::max(a_batch, b_batch);
  std::string letters;
  for (int i = 0; i < batch; ++i) letters += static_cast<char>('A' + i);
  const std::string a_own = a.rank() == 1 ? "k" : "mk";
  const std::string b_own = b.rank() == 1 ? "k" : "kn";
  const std::string result = letters + (a.rank() == 1 ? "" : "m") + (b.rank() == 1 ? "" : "n");
  hint(call, a.axis(a.rank() - 1), "K");
  if (a.rank() >= 2) hint(call, a.axis(a.rank() - 2), "M");
  if (b.rank() >= 2) hint(call, b.axis(b.rank() - 1), "N");
  if (batch == 1) hint(call, a_batch == 1 ? a.axis(0) : b.axis(0), "B");
  SOLSTICE_TRY(const Contraction product, contract(call,
                                                   {{a, letters.substr(static_cast<size_t>(batch - a_batch)) + a_own},
                                                    {b, letters.substr(static_cast<size_t>(batch - b_batch)) + b_own}},
                                                   result));
  return yield_product(call, product, result, product.sum);
}
Status matmul(Call& call) { return matmul_of(call, "self", "other"); }
Status mm(Call& call) { return matmul_of(call, "self", "mat2"); }
Status mv(Call& call) { return matmul_of(call, "self", "vec"); }
Status dot(Call& call) { return matmul_of(call, "self", "tensor"); }

// beta * self + alpha * (a @ b)
Status add_product(Call& call, const char* a_name, const char* b_name, const std::string& a_letters,
                   const std::string& b_letters, const std::string& result) {
  SOLSTICE_TRY(const Value c, call.tensor("self"));
  SOLSTICE_TRY(const Value a, call.tensor(a_name));
  SOLSTICE_TRY(const Value b, call.tensor(b_name));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const double alpha, call.number("alpha"));
  SOLSTICE_TRY(const double beta, call.number("beta"));
  SOLSTICE_TRY(const Contraction product, contract(call, {{a, a_letters}, {b, b_letters}}, result));
  TermRef rhs = alpha == 1 ? product.sum : rounded_scalar(alpha, dtype) * product.sum;
  if (beta != 0) {
    Indices at;
    for (int i = 0; i < c.rank(); ++i) {
      const Axis& axis = product.axes.at(result[result.size() - static_cast<size_t>(c.rank() - i)]);
      if (c.extent(i) != 1) call.loops().align({&c.axis(i), &axis});
      at.push_back(c.extent(i) == 1 ? Index(0) : call.loops().flat(axis));
    }
    const TermRef added = read_at(c, at, call.loops());
    rhs = (beta == 1 ? added : rounded_scalar(beta, dtype) * added) + rhs;
  }
  return yield_product(call, product, result, rhs);
}
Status addmm(Call& call) { return add_product(call, "mat1", "mat2", "mk", "kn", "mn"); }
Status addmv(Call& call) { return add_product(call, "mat", "vec", "mk", "k", "m"); }
Status addbmm(Call& call) { return add_product(call, "batch1", "batch2", "bmk", "bkn", "mn"); }
Status baddbmm(Call& call) { return add_product(call, "batch1", "batch2", "bmk", "bkn", "bmn"); }

struct Subscripts {
  std::vector<std::string> operands;
  std::string result;
};

Subscripts parse_subscripts(std::string text) {
  std::erase(text, ' ');
  Subscripts out;
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  for (size_t begin = 0; begin <= left.size();) {
    const size_t end = std::min(left.find(',', begin), left.size());
    out.operands.push_back(left.substr(begin, end - begin));
    begin = end + 1;
  }
  if (arrow != std::string::npos) {
    out.result = text.substr(arrow + 2);
    return out;
  }
  std::erase(left, ',');
  for (char letter = 'A'; letter <= 'z'; ++letter) {  // letters that occur once, in alphabetical order
    if (left.find(letter) != std::string::npos && left.find(letter) == left.rfind(letter)) out.result += letter;
  }
  return out;
}

Status einsum(Call& call) {
  SOLSTICE_TRY(const std::string equation, call.text("equation"));
  SOLSTICE_TRY(const Operands values, call.tensors("tensors"));
  if (equation.find('.') != std::string::npos) return call.unsupported("an ellipsis in the subscripts");
  const Subscripts subscripts = parse_subscripts(equation);
  if (subscripts.operands.size() != values.size()) return call.unsupported("subscripts do not match the operands");
  std::vector<Operand> operands;
  for (size_t i = 0; i < values.size(); ++i) operands.push_back({values[i], subscripts.operands[i]});
  SOLSTICE_TRY(const Contraction product, contract(call, operands, subscripts.result));
  return yield_product(call, product, subscripts.result, product.sum);
}

// y[.., o] = sum[i,j](x1[.., i] * w[o,i,j] * x2[.., j]) + b[o]
Status bilinear(Call& call) {
  SOLSTICE_TRY(const Value x1, call.tensor("input1"));
  SOLSTICE_TRY(const Value x2, call.tensor("input2"));
  SOLSTICE_TRY(const Value w, call.tensor("weight"));
  SOLSTICE_TRY(const std::optional<Value> bias, call.maybe_tensor("bias"));
  std::string rows;
  for (int i = 0; i + 1 < x1.rank(); ++i) rows += static_cast<char>('A' + i);
  SOLSTICE_TRY(const Contraction product, contract(call, {{x1, rows + "i"}, {w, "oij"}, {x2, rows + "j"}}, rows + "o"));
  TermRef rhs = product.sum;
  if (bias) {
    call.loops().align({&bias->axis(0), &product.axes.at('o')});
    rhs = rhs + read_at(*bias, {call.loops().flat(product.axes.at('o'))}, call.loops());
  }
  return yield_product(call, product, rows + "o", rhs);
}

// The number of groups that end at or before a position of `axis`, which is the group that it is in.
TermRef group_of(Call& call, const Value& ends, const Axis& axis) {
  const Axis g = call.loops().align(ends.axis(0));
  const TermRef ended =
      binary("<=", read_at(ends, {call.loops().flat(g)}, call.loops()), index_value(call.loops().flat(axis)));
  return reduce("sum", g.digits, select(ended, integer(1), integer(0)));
}

// Two matrices whose common axis lies in groups: y[g,m,n] = sum[k where e[k] == g](a[m,k] * b[k,n])
Status product_of_each_group(Call& call, const Value& a, const Value& b, const Value& ends, DType dtype) {
  const Axis m = call.loops().align(a.axis(0)), n = call.loops().align(b.axis(1)),
             k = call.loops().align({&a.axis(1), &b.axis(0)});
  const Axis g = call.loops().align(ends.axis(0));
  const Value e = call.draft().define("e", {k}, group_of(call, ends, k), DType::kI32);
  const Index at = call.loops().flat(k);
  const TermRef product =
      read_at(a, {call.loops().flat(m), at}, call.loops()) * read_at(b, {at, call.loops().flat(n)}, call.loops());
  const TermRef own = binary("==", read_at(e, {at}, call.loops()), index_value(call.loops().flat(g)));
  return call.yield(call.draft().define(call.wish(), {g, m, n}, reduce("sum", k.digits, product, own), dtype));
}

// Rows that lie in groups, each with its matrix: y[m,n] = sum[k](a[m,k] * b[e[m],k,n]). Rows behind the last group,
// whose results PyTorch leaves open, count as its rows.
Status product_by_groups(Call& call, const Value& a, const Value& b, const Value& ends, DType dtype) {
  const Axis m = call.loops().align(a.axis(0)), n = call.loops().align(b.axis(2)),
             k = call.loops().align({&a.axis(1), &b.axis(1)});
  call.loops().align({&ends.axis(0), &b.axis(0)});
  const TermRef last = size_value(call.loops().size(b.axis(0))) - integer(1);
  const Value e = call.draft().define("e", {m}, apply("min", {group_of(call, ends, m), last}), DType::kI32);
  const Index row = call.loops().flat(m), at = call.loops().flat(k);
  const Index own = index_of_read(read_at(e, {row}, call.loops()), b.extent(0));
  const TermRef product =
      read_at(a, {row, at}, call.loops()) * read_at(b, {own, at, call.loops().flat(n)}, call.loops());
  return call.yield(call.draft().define(call.wish(), {m, n}, reduce("sum", k.digits, product), dtype));
}

// torch.nn.functional.grouped_mm; `offs` holds the end of each group.
Status grouped_mm(Call& call) {
  SOLSTICE_TRY(const Value a, call.tensor("self"));
  SOLSTICE_TRY(const Value b, call.tensor("mat2"));
  SOLSTICE_TRY(const std::optional<Value> ends, call.maybe_tensor("offs"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (!call.is_none("bias")) return call.unsupported("a bias");
  if (!ends) return matmul_of(call, "self", "mat2");
  if (a.rank() != 2 || b.rank() < 2) return call.unsupported("groups of columns");
  hint(call, a.axis(0), "M");
  hint(call, a.axis(1), "K");
  hint(call, b.axis(b.rank() - 1), "N");
  hint(call, ends->axis(0), "G");
  return b.rank() == 2 ? product_of_each_group(call, a, b, *ends, dtype) : product_by_groups(call, a, b, *ends, dtype);
}

}  // namespace

const RuleGroup kContractionRules = {
    "contraction",
    {
        {"aten.linear.default", linear},
        {"aten.matmul.default", matmul},
        {"aten.mm.default", mm},
        {"aten.bmm.default", mm},
        {"aten.mv.default", mv},
        {"aten.dot.default", dot},
        {"aten.addmm.default", addmm},
        {"aten.addmv.default", addmv},
        {"aten.addbmm.default", addbmm},
        {"aten.baddbmm.default", baddbmm},
        {"aten.einsum.default", einsum},
        {"aten.bilinear.default", bilinear},
        {"aten._grouped_mm.default", grouped_mm},
    },
};

}  // namespace solstice::importer
