#include "ir/import/loop_item.h"

#include <fmt/format.h>

#include <map>

#include "ir/import/term_mapper.h"

namespace solstice::ir::importer {
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

LoopItem loop_item(const Draft& draft, const DraftItem& item) {
  LoopItem out;
  if (!item.is_equation() || item.is_rolled) return out;
  (void)LoopReader(draft, out).equation(item.equation);
  return out;
}

}  // namespace solstice::ir::importer
