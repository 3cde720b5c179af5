#include "import/text/dim_lines.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

namespace solstice::importer {

std::vector<std::string> dim_lines(const DimNames& names, const Dims& dims, bool only_printed) {
  std::vector<std::pair<DimId, std::string>> items;
  std::map<DimId, std::set<DimId>> parts;
  Names known = names.names;  // with the products of earlier dims only: each is written out in its own line
  known.products.clear();
  for (const DimId id : names.order) {
    if (dims.is_given(id) || dims.is_inlined(id)) continue;
    const auto& formula = dims.formula(id);
    known.printed.clear();
    const std::string value = formula ? formula_text(*formula, known, dims) : std::to_string(dims.value(id));
    parts[id] = known.printed;
    items.emplace_back(id, fmt::format("{} = {}", known.dims.at(id), value));
    for (const auto& [product, dim] : names.names.products) {
      if (dim == id) known.products.emplace(product, dim);
    }
  }
  std::set<DimId> wanted = names.names.printed;
  for (auto id = names.order.rbegin(); id != names.order.rend(); ++id) {
    if (wanted.count(*id)) wanted.insert(parts[*id].begin(), parts[*id].end());
  }
  std::vector<std::string> lines;
  std::string line;
  for (const auto& [id, item] : items) {
    if (only_printed && !wanted.count(id)) continue;
    if (!line.empty() && line.size() + item.size() > 100) lines.push_back("dim " + std::exchange(line, ""));
    line += (line.empty() ? "" : ", ") + item;
  }
  if (!line.empty()) lines.push_back("dim " + line);
  return lines;
}

}  // namespace solstice::importer
