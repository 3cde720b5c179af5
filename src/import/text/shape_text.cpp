#include "import/text/shape_text.h"

#include <fmt/format.h>

#include "import/draft/digits.h"

namespace solstice::importer {
namespace {

std::string product_text(const std::vector<DimId>& product, int64_t coefficient, const Names& names) {
  std::vector<std::string> factors;
  if (coefficient != 1) factors.push_back(std::to_string(coefficient));
  const auto known = product.size() > 1 ? names.products.find(product) : names.products.end();
  for (const DimId id : known != names.products.end() ? std::vector<DimId>{known->second} : product) {
    factors.push_back(names.dims.at(id));
    names.printed.insert(id);
  }
  return fmt::format("{}", fmt::join(factors, "*"));
}

}  // namespace

std::string size_text(const Size& given, const Names& names, const Dims& dims) {
  const Size size = given.canonical(dims);
  std::string out;
  int64_t constant = 0;
  for (const auto& [product, coefficient] : size.terms()) {
    if (product.empty()) {
      constant = coefficient;
    } else if (coefficient < 0) {
      out += "-" + product_text(product, -coefficient, names);
    } else {
      const std::string text = product_text(product, coefficient, names);
      out = out.empty() || out[0] == '-' ? text + out : out + "+" + text;
    }
  }
  if (constant != 0 || out.empty()) out += fmt::format(fmt::runtime(out.empty() ? "{}" : "{:+}"), constant);
  return out;
}

std::string formula_text(const Formula& formula, const Names& names, const Dims& dims) {
  Size size = formula.size.canonical(dims);
  if (formula.divisor == 1) return size_text(size + Size(formula.plus), names, dims);
  std::string out = size_text(size, names, dims);
  const bool plain =
      size.terms().size() == 1 && size.terms().begin()->first.size() == 1 && size.terms().begin()->second == 1;
  out = fmt::format("{}//{}", plain ? out : "(" + out + ")", formula.divisor);
  return formula.plus == 0 ? out : fmt::format("{}{:+}", out, formula.plus);
}

std::string shape_text(const DraftTensor& tensor, const Names& names, const Dims& dims) {
  std::vector<std::string> extents;
  for (const Size& size : final_shape(tensor)) extents.push_back(size_text(size, names, dims));
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

}  // namespace solstice::importer
