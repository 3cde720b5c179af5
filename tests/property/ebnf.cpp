#include "property/ebnf.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "lang/words.h"

namespace solstice::lang::testing {
namespace {

using Kind = GrammarNode::Kind;

class EbnfReader {
 public:
  explicit EbnfReader(const std::string& text) : text_(text) {}

  Grammar read() {
    Grammar out;
    while (!peek().empty()) {
      const std::string name = next();
      next();  // =
      out.rules.emplace(name, choice());
      next();  // ;
    }
    out.nodes = nodes_;
    return out;
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (text_.compare(at_, 2, "(*") == 0) {
        at_ = text_.find("*)", at_) + 2;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string peek() {
    skip();
    if (at_ >= text_.size()) return "";
    size_t end = at_ + 1;
    if (text_[at_] == '"') {
      end = text_.find('"', at_ + 1) + 1;
    } else if (std::isalpha(static_cast<unsigned char>(text_[at_]))) {
      while (std::isalnum(static_cast<unsigned char>(text_[end]))) ++end;
    }
    return text_.substr(at_, end - at_);
  }

  std::string next() {
    const std::string out = peek();
    at_ += out.size();
    return out;
  }

  GrammarNode node(Kind kind, std::vector<GrammarNode> children, std::string text = "") {
    return {kind, std::move(text), std::move(children), nodes_++};
  }

  GrammarNode choice() {
    std::vector<GrammarNode> alternatives = {sequence()};
    while (peek() == "|") {
      next();
      alternatives.push_back(sequence());
    }
    return alternatives.size() == 1 ? alternatives[0] : node(Kind::kChoice, alternatives);
  }

  GrammarNode sequence() {
    std::vector<GrammarNode> parts;
    for (std::string t = peek(); t != "|" && t != ";" && t != "]" && t != "}" && t != ")"; t = peek())
      parts.push_back(part());
    return parts.size() == 1 ? parts[0] : node(Kind::kSequence, parts);
  }

  GrammarNode part() {
    const std::string t = next();
    if (t[0] == '"') return node(Kind::kTerminal, {}, t.substr(1, t.size() - 2));
    if (t != "[" && t != "{" && t != "(") return node(Kind::kRule, {}, t);
    GrammarNode inner = choice();
    next();
    if (t == "(") return inner;
    return node(t == "[" ? Kind::kOptional : Kind::kRepeat, {inner});
  }

  const std::string& text_;
  size_t at_ = 0;
  int nodes_ = 0;
};

bool is_of_class(const Token& token, const std::string& name) {
  if (name == "NAME") return token.kind == TokenKind::kWord && !is_reserved(token.text);
  if (name == "WORD") return token.kind == TokenKind::kWord;
  if (name == "INT") return token.kind == TokenKind::kInt;
  if (name == "NUMBER") return token.kind == TokenKind::kNumber;
  if (name == "SIZE") return token.kind == TokenKind::kSize;
  if (name == "RAW") return token.kind == TokenKind::kRaw;
  return name == "STRING" && token.kind == TokenKind::kString;
}

// Where each node can end when it begins at a token: every parse at once, remembered.
class Deriver {
 public:
  Deriver(const Grammar& grammar, const std::vector<Token>& tokens) : grammar_(grammar), tokens_(tokens) {
    while (!tokens_.empty() && tokens_.back().kind == TokenKind::kEnd) tokens_.pop_back();
    known_.resize(static_cast<size_t>(grammar.nodes) * (tokens_.size() + 1));
  }

  bool run(std::set<Way>& taken) {
    const GrammarNode& file = *grammar_.rule("file");
    taken_ = &taken;
    const auto& found = ends(file, 0);
    if (std::find(found.begin(), found.end(), tokens_.size()) == found.end()) return false;
    take(file, 0, tokens_.size());
    return true;
  }

 private:
  using Ends = std::vector<size_t>;

  const Ends& ends(const GrammarNode& node, size_t at) {
    std::optional<Ends>& known = known_[static_cast<size_t>(node.id) * (tokens_.size() + 1) + at];
    if (!known) {
      Ends found = compute(node, at);
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
      known = std::move(found);
    }
    return *known;
  }

  Ends compute(const GrammarNode& node, size_t at) {
    switch (node.kind) {
      case Kind::kTerminal:
        return at < tokens_.size() && tokens_[at].text == node.text ? Ends{at + 1} : Ends{};
      case Kind::kRule:
        if (const GrammarNode* rule = grammar_.rule(node.text)) return ends(*rule, at);
        return at < tokens_.size() && is_of_class(tokens_[at], node.text) ? Ends{at + 1} : Ends{};
      case Kind::kSequence:
        return after(node, 0, {at});
      case Kind::kChoice: {
        Ends out;
        for (const GrammarNode& c : node.children) append(out, ends(c, at));
        return out;
      }
      case Kind::kOptional: {
        Ends out = {at};
        append(out, ends(node.children[0], at));
        return out;
      }
      case Kind::kRepeat: {
        Ends out = {at};
        for (size_t i = 0; i < out.size(); ++i) {
          for (const size_t e : ends(node.children[0], out[i])) {
            if (std::find(out.begin(), out.end(), e) == out.end()) out.push_back(e);
          }
        }
        return out;
      }
    }
    return {};
  }

  static void append(Ends& out, const Ends& more) { out.insert(out.end(), more.begin(), more.end()); }

  Ends after(const GrammarNode& sequence, size_t from, Ends at) {
    for (size_t c = from; c < sequence.children.size(); ++c) {
      Ends out;
      for (const size_t begin : at) append(out, ends(sequence.children[c], begin));
      std::sort(out.begin(), out.end());
      out.erase(std::unique(out.begin(), out.end()), out.end());
      at = std::move(out);
    }
    return at;
  }

  bool reaches(const Ends& list, size_t end) const { return std::find(list.begin(), list.end(), end) != list.end(); }

  // Marks one derivation of the tokens between, which is known to exist.
  void take(const GrammarNode& node, size_t at, size_t end) {
    if (node.kind == Kind::kRule) {
      if (const GrammarNode* rule = grammar_.rule(node.text)) take(*rule, at, end);
    } else if (node.kind == Kind::kSequence) {
      take_sequence(node, at, end);
    } else if (node.kind == Kind::kChoice) {
      for (size_t c = 0; c < node.children.size(); ++c) {
        if (!reaches(ends(node.children[c], at), end)) continue;
        taken_->insert({node.id, static_cast<int>(c)});
        return take(node.children[c], at, end);
      }
    } else if (node.kind == Kind::kOptional || node.kind == Kind::kRepeat) {
      taken_->insert({node.id, at == end ? 0 : 1});
      while (at != end) {
        const size_t next = node.kind == Kind::kOptional ? end : first_round(node, at, end);
        take(node.children[0], at, next);
        at = next;
      }
    }
  }

  void take_sequence(const GrammarNode& node, size_t at, size_t end) {
    for (size_t c = 0; c < node.children.size(); ++c) {
      for (const size_t e : ends(node.children[c], at)) {
        if (!reaches(after(node, c + 1, {e}), end)) continue;
        take(node.children[c], at, e);
        at = e;
        break;
      }
    }
  }

  size_t first_round(const GrammarNode& repeat, size_t at, size_t end) {
    for (const size_t e : ends(repeat.children[0], at)) {
      if (e != at && reaches(ends(repeat, e), end)) return e;
    }
    return end;
  }

  const Grammar& grammar_;
  std::vector<Token> tokens_;
  std::vector<std::optional<Ends>> known_;
  std::set<Way>* taken_ = nullptr;
};

}  // namespace

const GrammarNode* Grammar::rule(const std::string& name) const {
  const auto found = rules.find(name);
  return found == rules.end() ? nullptr : &found->second;
}

Grammar read_grammar(const std::string& ebnf) { return EbnfReader(ebnf).read(); }

std::string ebnf_of(const std::string& page) {
  const std::string fence = "```ebnf\n";
  const size_t begin = page.find(fence) + fence.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

std::map<Way, std::string> all_ways(const Grammar& grammar) {
  std::map<Way, std::string> out;
  for (const auto& [name, root] : grammar.rules) {
    const std::function<void(const GrammarNode&)> visit = [&, n = name](const GrammarNode& node) {
      const int count = node.kind == Kind::kChoice ? static_cast<int>(node.children.size())
                        : node.kind == Kind::kOptional || node.kind == Kind::kRepeat ? 2
                                                                                     : 0;
      const char* what = node.kind == Kind::kChoice     ? "alternative"
                         : node.kind == Kind::kOptional ? "option"
                                                        : "repetition";
      for (int w = 0; w < count; ++w) out[{node.id, w}] = n + ": " + what + " " + std::to_string(w);
      for (const GrammarNode& c : node.children) visit(c);
    };
    visit(root);
  }
  return out;
}

bool derive(const Grammar& grammar, const std::vector<Token>& tokens, std::set<Way>& taken) {
  return Deriver(grammar, tokens).run(taken);
}

}  // namespace solstice::lang::testing
