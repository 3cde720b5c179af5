#include "lang/words.h"

#include <algorithm>

#include "base/dtype.h"

namespace solstice::lang {
namespace {

bool contains(const std::vector<std::string_view>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

const std::vector<std::string_view>& reducers() {
  static const std::vector<std::string_view> list = {"sum", "prod", "max",  "min", "argmax",   "argmin",
                                                     "any", "all",  "mean", "var", "logsumexp"};
  return list;
}

bool is_reducer(std::string_view word) { return contains(reducers(), word); }

bool is_ranker(std::string_view word) { return word == "argtop" || word == "argbot"; }

bool starts_item(std::string_view word) {
  static const std::vector<std::string_view> list = {"def",    "fn",     "dim",    "param",    "buffer", "input",
                                                     "output", "tensor", "random", "view",     "assume", "opaque",
                                                     "kernel", "target", "launch", "numerics", "allow"};
  return contains(list, word);
}

bool is_reserved(std::string_view word) {
  static const std::vector<std::string_view> list = {"program", "once",  "by",    "at",   "with", "same", "into", "order", "strides",
                                                     "from",    "for",   "where", "else", "in",   "step", "or",   "and",   "not",
                                                     "true",    "false", "inf",   "pi",   "when", "case", "let",  "type"};
  return contains(list, word) || starts_item(word) || is_reducer(word) || is_ranker(word) || dtype_from_name(word).has_value();
}

}  // namespace solstice::lang
