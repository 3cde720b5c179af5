#include "toolchain/ptx.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace solstice::toolchain {
namespace {

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}

// Words (directives with their dot, instructions with their suffixes) and single symbols; comments and strings are left
// out, as ptxas does.
class PtxTokens {
 public:
  explicit PtxTokens(std::string_view text) : text_(text) {}

  std::string_view next() {  // empty: the end
    skip();
    if (at_ >= text_.size()) return {};
    size_t end = at_ + 1;
    while (in_word(text_[at_]) && end < text_.size() && in_word(text_[end])) ++end;
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end;
    return out;
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (text_.substr(at_, 2) == "//") {
        at_ = text_.find('\n', at_);
      } else if (text_.substr(at_, 2) == "/*") {
        const size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? end : end + 2;
      } else if (text_[at_] == '"') {
        const size_t end = text_.find('"', at_ + 1);
        at_ = end == std::string_view::npos ? end : end + 1;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

// `.global .align 4 .b8 name[16] = {...};` up to the name: what is no directive and no number.
std::string_view declared_name(PtxTokens& tokens) {
  for (std::string_view token = tokens.next(); !token.empty() && token != ";"; token = tokens.next()) {
    if (token[0] == '_' || token[0] == '$' || token[0] == '%' || std::isalpha(static_cast<unsigned char>(token[0])))
      return token;
  }
  return {};
}

}  // namespace

std::vector<std::string> lasting_variables(std::string_view ptx) {
  std::vector<std::string> used;
  const auto add = [&](std::string_view name) {
    if (std::find(used.begin(), used.end(), name) == used.end()) used.emplace_back(name);
  };
  std::set<std::string_view> declared;
  PtxTokens tokens(ptx);
  int depth = 0, brackets = 0;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "{") ++depth;
    if (token == "}") depth = std::max(0, depth - 1);
    if (token == "(") ++brackets;
    if (token == ")") --brackets;
    if (token == ".global" && brackets == 0) {  // in brackets: of the pointers among parameters
      const std::string_view name = declared_name(tokens);
      declared.insert(name);
      if (depth > 0) add(name);
    } else if (depth > 0 && (token.starts_with("cvta.const") || token == "generic")) {
      add("(address of a constant)");
    } else if (depth > 0 && declared.contains(token)) {
      add(token);
    }
  }
  return used;
}

}  // namespace solstice::toolchain
