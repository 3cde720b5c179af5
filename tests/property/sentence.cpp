// Random programs of the grammar.
#include <functional>

#include "property/ebnf.h"

namespace solstice::lang::testing {
namespace {

using Kind = GrammarNode::Kind;

class Writer {
 public:
  Writer(const Grammar& grammar, std::mt19937_64& random) : grammar_(grammar), random_(random) {}

  std::string write(int depth) {
    for (int round = 0; round < 40; ++round) {  // heights settle from the tokens up
      for (const auto& [name, rule] : grammar_.rules) heights_[name] = height(rule);
    }
    expand(*grammar_.rule("file"), depth);
    return std::move(text_);
  }

 private:
  static constexpr int kHigh = 1000;
  static constexpr size_t kLong = 1000;  // from here on only what must be

  // Rules on the shortest way down to tokens.
  int height(const GrammarNode& node) const {
    int out = node.kind == Kind::kChoice ? kHigh : 0;
    if (node.kind == Kind::kRule) {
      if (!grammar_.rule(node.text)) return 0;
      const auto known = heights_.find(node.text);
      return known == heights_.end() ? kHigh : known->second + 1;
    }
    if (node.kind == Kind::kOptional || node.kind == Kind::kRepeat) return 0;
    for (const GrammarNode& c : node.children)
      out = node.kind == Kind::kChoice ? std::min(out, height(c)) : std::max(out, height(c));
    return out;
  }

  int64_t below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }

  // `def`, clauses and sources stand at the top level alone: the one rule that the grammar leaves to the text beside
  // it.
  bool legal(const GrammarNode& node) const {
    return !in_def_ || (node.text != "def" && node.text != "clause" && node.text != "source");
  }

  void expand(const GrammarNode& node, int depth) {
    if (text_.size() > kLong) depth = 0;
    switch (node.kind) {
      case Kind::kTerminal:
        return word(node.text);
      case Kind::kRule: {
        const GrammarNode* rule = grammar_.rule(node.text);
        if (!rule) return word(token(node.text));
        const bool outer = in_def_;
        in_def_ = in_def_ || node.text == "def";
        expand(*rule, depth - 1);
        in_def_ = outer;
        return;
      }
      case Kind::kSequence:
        for (const GrammarNode& c : node.children) expand(c, depth);
        return;
      case Kind::kChoice:
        return expand(chosen(node, depth), depth);
      case Kind::kOptional:
        if (depth > height(node.children[0]) && below(2) == 0) expand(node.children[0], depth);
        return;
      case Kind::kRepeat: {
        const bool items = node.children[0].text == "item";
        while (depth > height(node.children[0]) && text_.size() < kLong && below(items ? 5 : 3) < (items ? 4 : 1)) {
          expand(node.children[0], depth);
        }
      }
    }
  }

  const GrammarNode& chosen(const GrammarNode& choice, int depth) {
    std::vector<const GrammarNode*> fitting;
    const GrammarNode* lowest = nullptr;
    for (const GrammarNode& c : choice.children) {
      if (!legal(c)) continue;
      if (height(c) < depth) fitting.push_back(&c);
      if (!lowest || height(c) < height(*lowest)) lowest = &c;
    }
    return fitting.empty() ? *lowest : *fitting[static_cast<size_t>(below(static_cast<int64_t>(fitting.size())))];
  }

  std::string token(const std::string& name) {
    if (name == "RAW") return below(2) == 0 ? "\"\"\"\n\"\"\"\n" : "\"\"\" \nkernel { \"\"\" 'x'\n\"\"\"\n";
    static const std::vector<std::string> names = {"a", "b", "x", "mu", "z_1", "M", "K", "CNT", "h0", "e4", "x2", "_t"};
    static const std::vector<std::string> words = {"tile", "order", "sum", "by", "bf16", "for", "dim"};
    static const std::vector<std::string> numbers = {"0.5", "1e-5", "3.25", "1E+30", "0.0440", "2e3"};
    static const std::vector<std::string> strings = {"\"a.b.0.weight\"", "\"\"", "\"k.cu # no comment\"", "\"µ\""};
    static const std::vector<std::string> sizes = {"128x64", "64x64x16", "0x1"};
    const auto& list = name == "NAME"     ? names
                       : name == "WORD"   ? words
                       : name == "NUMBER" ? numbers
                       : name == "SIZE"   ? sizes
                                          : strings;
    if (name == "INT") return std::to_string(1 + below(1000));
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

  void word(const std::string& text) { text_ += text + (below(8) == 0 ? "\n" : " "); }

  const Grammar& grammar_;
  std::mt19937_64& random_;
  std::map<std::string, int> heights_;
  std::string text_;
  bool in_def_ = false;
};

}  // namespace

std::string sentence(const Grammar& grammar, int depth, std::mt19937_64& random) {
  return Writer(grammar, random).write(depth);
}

}  // namespace solstice::lang::testing
