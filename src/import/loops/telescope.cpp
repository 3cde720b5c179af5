#include "import/loops/telescope.h"

#include <fmt/format.h>

#include <map>

#include "import/draft/term_mapper.h"

namespace solstice::importer {
namespace {

// An equation as text up to the names of its indices and of the tensor it writes.
class PieceReader : public TermMapper {
 public:
  PieceReader(const Draft& draft, const DraftEquation& piece) : TermMapper(draft), target_(piece.tensor) {
    (void)equation(piece);
  }
  std::string text;

 private:
  void mark(std::string_view part) override { text += part; }
  int tensor(int id) override {
    text += id == target_ ? "self" : fmt::format("t{}", id);
    return id;
  }
  Size size(const Size& given) override {
    const Size canonical = given.canonical(source().dims());
    for (const auto& [product, coefficient] : canonical.terms())
      text += fmt::format("{}*{} ", coefficient, fmt::join(product, "."));
    return canonical;
  }
  Loop loop(const Loop& given) override {
    const auto [found, is_new] = loops_.emplace(given.id, loops_.size());
    text += fmt::format("l{}", found->second);
    if (is_new) size(source().dims().size(given.dim));
    return given;
  }

  int target_;
  std::map<int, size_t> loops_;
};

class Telescope {
 public:
  explicit Telescope(Draft& draft) : draft_(draft) {
    for (size_t i = 0; i < draft_.items.size(); ++i) {
      const DraftItem& item = draft_.items[i];
      if (!item.is_equation()) continue;
      const int target = item.equation.tensor;
      if (pieces_[target].empty()) order_.push_back(target);
      pieces_[target].push_back(i);
      texts_[target].push_back(PieceReader(draft_, item.equation).text);
    }
  }

  void run() {
    std::map<std::vector<std::string>, int> whole;  // the pieces of a tensor -> that tensor, the first of its kind
    for (const int tensor : order_) {
      std::vector<std::string> prefix = texts_[tensor];
      whole.emplace(prefix, tensor);
      while (prefix.size() > 2) {
        prefix.pop_back();
        const auto found = whole.find(prefix);
        if (found != whole.end() && take(tensor, found->second, prefix.size())) break;
      }
    }
    std::vector<DraftItem> kept;
    for (size_t i = 0; i < draft_.items.size(); ++i) {
      if (!gone_.count(i)) kept.push_back(std::move(draft_.items[i]));
    }
    draft_.items = std::move(kept);
  }

 private:
  const DraftTensor& tensor(int id) const { return draft_.tensors[static_cast<size_t>(id)]; }

  // The first `count` pieces of `tensor` become one that reads all of `part`.
  bool take(int id, int part, size_t count) {
    const DraftTensor& whole = tensor(id);
    const DraftTensor& given = tensor(part);
    if (whole.is_merged || given.is_merged || whole.dtype != given.dtype || whole.shape.size() != given.shape.size())
      return false;
    const std::vector<size_t>& pieces = pieces_[id];
    if (pieces_[part].back() > pieces[0]) return false;
    std::vector<Index> at;
    for (const Size& extent : given.shape) {
      const Size canonical = extent.canonical(draft_.dims());
      const auto& terms = canonical.terms();
      if (terms.size() != 1 || terms.begin()->second != 1 || terms.begin()->first.size() > 1) return false;
      const bool one = terms.begin()->first.empty();
      at.push_back(one ? Index(0) : index_of(draft_.loops().fresh(terms.begin()->first[0])));
    }
    draft_.items[pieces[0]].equation = {id, at, read(part, at)};
    for (size_t i = 1; i < count; ++i) gone_.insert(pieces[i]);
    return true;
  }

  Draft& draft_;
  std::vector<int> order_;  // tensors, as they are first written
  std::map<int, std::vector<size_t>> pieces_;
  std::map<int, std::vector<std::string>> texts_;
  std::set<size_t> gone_;
};

}  // namespace

void telescope(Draft& draft) { Telescope(draft).run(); }

}  // namespace solstice::importer
