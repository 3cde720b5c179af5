#include "lang/words.h"

#include <algorithm>

#include "base/dtype.h"

namespace solstice::lang {
namespace {

using Words = std::vector<std::string_view>;

bool contains(const Words& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

const Words& rankers() {
  static const Words list = {"argtop", "argbot"};
  return list;
}

const Words& item_words() {
  static const Words list = {"def",  "fn",     "dim",    "param",  "buffer", "input",  "output", "tensor",   "random",
                             "view", "assume", "opaque", "kernel", "source", "target", "launch", "numerics", "allow"};
  return list;
}

const Words& other_words() {
  static const Words list = {"program", "once",  "by",    "at",   "with", "same", "into", "order", "strides",
                             "from",    "for",   "where", "else", "in",   "step", "or",   "and",   "not",
                             "true",    "false", "inf",   "pi",   "when", "case", "let",  "type"};
  return list;
}

}  // namespace

const std::vector<std::string_view>& reducers() {
  static const Words list = {"sum", "prod", "max", "min", "argmax", "argmin", "any", "all", "mean", "var", "logsumexp"};
  return list;
}

bool is_reducer(std::string_view word) { return contains(reducers(), word); }

bool is_ranker(std::string_view word) { return contains(rankers(), word); }

bool starts_item(std::string_view word) { return contains(item_words(), word); }

const std::vector<std::string_view>& reserved_words() {
  static const Words list = [] {
    Words out;
    for (const Words* part : {&item_words(), &other_words(), &reducers(), &rankers()})
      out.insert(out.end(), part->begin(), part->end());
    for (const DType dtype : all_dtypes()) out.push_back(name_of(dtype));
    return out;
  }();
  return list;
}

bool is_reserved(std::string_view word) { return contains(reserved_words(), word); }

}  // namespace solstice::lang
