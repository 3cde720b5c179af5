#include "import/loops/loop_item.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "import/draft/term_mapper.h"

namespace solstice::importer {
namespace {

class LoopReader : public TermMapper {
 public:
  LoopReader(const Draft& draft, LoopItem& out) : TermMapper(draft), out_(out) {}

 private:
  void mark(std::string_view text) override { out_.structure += text; }

  int tensor(int id) override {
    const DraftTensor& t = source().tensors[static_cast<size_t>(id)];
    mark(fmt::format("t{}", static_cast<int>(t.dtype)));
    for (const Size& extent : t.shape) mark(fmt::format(",{}", extent.value()));
    if (out_.target < 0) {
      out_.target = id;
    } else {
      out_.reads.push_back(id);
    }
    return id;
  }

  Index offset(const Size& given) override {
    const Size canonical = given.canonical(source().dims());
    if (!canonical.is_constant()) return Index(size(given));
    mark("o");
    out_.offsets.push_back(canonical);
    return Index(canonical);
  }

  TermRef number(const TermRef& given) override {
    mark("#");
    out_.numbers.push_back(loop_number(*given));
    return given;
  }

  Size size(const Size& given) override {
    const Size canonical = given.canonical(source().dims());
    mark(fmt::format("s{}", canonical.value()));
    if (!canonical.is_constant()) out_.sizes.push_back(canonical);
    return canonical;
  }

  Loop loop(const Loop& given) override {
    const auto [found, is_new] = loops_.emplace(given.id, loops_.size());
    mark(fmt::format("l{}", found->second));
    if (is_new) size(source().dims().size(given.dim));
    return given;
  }

  LoopItem& out_;
  std::map<int, size_t> loops_;
};

}  // namespace

LoopItem::Number loop_number(const Term& term) {
  const bool negative = term.kind == TermKind::kPrefix;
  LoopItem::Number out{(negative ? "-" + term.args[0]->text : term.text), std::nullopt};
  const double units = std::ldexp(std::strtod(out.text.c_str(), nullptr), 32);
  if (std::abs(units) < 0x1p61 && units == std::floor(units)) out = {"", static_cast<int64_t>(units)};
  return out;
}

bool grow_evenly(const LoopItem::Number& a, const LoopItem::Number& b, const LoopItem::Number& c) {
  if (a.units && b.units && c.units) return *c.units - *b.units == *b.units - *a.units;
  return a.text == b.text && b.text == c.text;
}

bool grow_evenly(const LoopItem& a, const LoopItem& b, const LoopItem& c) {
  for (size_t i = 0; i < a.offsets.size(); ++i) {
    if (c.offsets[i].value() - b.offsets[i].value() != b.offsets[i].value() - a.offsets[i].value()) return false;
  }
  for (size_t i = 0; i < a.numbers.size(); ++i) {
    if (!grow_evenly(a.numbers[i], b.numbers[i], c.numbers[i])) return false;
  }
  return true;
}

LoopItem loop_item(const Draft& draft, const DraftItem& item) {
  LoopItem out;
  if (!item.is_equation() || item.is_rolled) return out;
  (void)LoopReader(draft, out).equation(item.equation);
  return out;
}

}  // namespace solstice::importer
