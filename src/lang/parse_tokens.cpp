// The parser's view of its tokens, and recovery.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "lang/parse.h"
#include "lang/parser.h"
#include "lang/words.h"

namespace solstice::lang {
namespace {

const Token kBrokenToken = [] {
  Token t;
  t.kind = TokenKind::kBroken;
  return t;
}();

std::string shown(const Token& token) {
  constexpr size_t kMost = 80;
  if (token.kind == TokenKind::kEnd) return "the end of the file";
  if (token.kind == TokenKind::kRaw) return "raw text";
  return fmt::format("`{}{}`", token.text.substr(0, kMost), token.text.size() > kMost ? "..." : "");
}

}  // namespace

const Token& Parser::peek(size_t ahead) const {
  if (broken_) return kBrokenToken;
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

bool Parser::at(std::string_view symbol, size_t ahead) const {
  return peek(ahead).kind == TokenKind::kSymbol && peek(ahead).text == symbol;
}

bool Parser::at_word(std::string_view word, size_t ahead) const {
  return peek(ahead).kind == TokenKind::kWord && peek(ahead).text == word;
}

bool Parser::at_name(size_t ahead) const {
  return peek(ahead).kind == TokenKind::kWord && !is_reserved(peek(ahead).text);
}

void Parser::keep_comments(const Token& token) {
  for (const Comment& c : token.comments) pending_.push_back(c.text);
}

Token Parser::next() {
  if (broken_) return kBrokenToken;
  const Token& token = tokens_[position_];
  keep_comments(token);
  last_end_ = token.span.end;
  if (token.kind != TokenKind::kEnd) ++position_;
  return token;
}

bool Parser::accept(std::string_view text) {
  if (!at(text) && !at_word(text)) return false;
  next();
  return true;
}

void Parser::fail(const Token& token, std::string message, std::string hint) {
  if (broken_) return;
  broken_ = true;
  if (hint.empty()) hint = "`solstice grammar` prints the language on one page";
  diagnostics_.error("E000", token.span, std::move(message), std::move(hint));
}

void Parser::too_deep(std::string_view what) {
  fail(peek(), fmt::format("{} is nested more than {} deep here", what, kDeepest),
       what == "an expression" ? "give a part of it an equation of its own" : "");
}

// What is missing at the end of a line is shown there, not at what the next line begins with.
void Parser::fail_missing(std::string_view what) {
  const Token& found = peek();
  const bool next_line = (found.first_on_line || found.kind == TokenKind::kEnd) && last_end_ > 0;
  if (!next_line) return fail(found, fmt::format("expected {}, found {}", what, shown(found)));
  Token end;
  end.span = {last_end_, last_end_ + 1};
  fail(end, fmt::format("expected {}, found the end of the line", what));
}

void Parser::expect(std::string_view symbol, std::string_view where) {
  if (broken_ || accept(symbol)) return;
  fail_missing(fmt::format("`{}` {}", symbol, where));
}

std::string Parser::expect_name(std::string_view what) {
  if (broken_) return "";
  if (at_name()) return std::string(next().text);
  const bool reserved = peek().kind == TokenKind::kWord;
  if (reserved)
    fail(peek(), fmt::format("{} is a reserved word and cannot be {}", shown(peek()), what), "give it another name");
  else
    fail(peek(), fmt::format("expected {}, found {}", what, shown(peek())));
  return "";
}

int64_t Parser::to_int(const Token& token) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  if (error != std::errc())
    fail(token, fmt::format("{} does not fit 64 bits", shown(token)),
         fmt::format("numbers go up to {}", std::numeric_limits<int64_t>::max()));
  return value;
}

int64_t Parser::expect_int(std::string_view what) {
  if (broken_) return 0;
  if (peek().kind == TokenKind::kInt) return to_int(next());
  fail(peek(), fmt::format("expected {}, found {}", what, shown(peek())));
  return 0;
}

std::string Parser::expect_string(std::string_view what) {
  if (broken_) return "";
  if (peek().kind != TokenKind::kString) {
    fail(peek(), fmt::format("expected {} in quotes, found {}", what, shown(peek())));
    return "";
  }
  std::string_view text = next().text;
  text.remove_prefix(1);
  if (!text.empty() && text.back() == '"') text.remove_suffix(1);
  return std::string(text);
}

// Skips to what can begin an item: a reserved word, or a name or `}` at the start of a line.
void Parser::synchronise(bool inside_block) {
  broken_ = false;
  int depth = 0;
  while (peek().kind != TokenKind::kEnd) {
    const Token& t = peek();
    if (at("{")) ++depth;
    if (at("}")) {
      if (depth == 0 && inside_block) return;
      depth = std::max(0, depth - 1);
    } else if (t.kind == TokenKind::kWord && t.first_on_line && (t.text == "kernel" || t.text == "def")) {
      return;  // even inside braces: one of them may be what is missing
    } else if (t.kind == TokenKind::kWord && depth == 0) {
      if (starts_item(t.text) && t.first_on_line) return;
      if (t.first_on_line && !is_reserved(t.text) && (at("[", 1) || at("=", 1) || at(",", 1))) return;
    }
    next();
  }
}

// After a mistake in the head of a kernel or definition, which begins at token `head`: to the `{` outside its brackets,
// or, where these do not match, to the next that ends a line. False, and nothing has happened, where there is none.
bool Parser::skip_to_block(size_t head) {
  int depth = 0;
  for (size_t i = head; i + 1 < tokens_.size() && depth >= 0; ++i) {
    const Token& t = tokens_[i];
    if (i > head && t.first_on_line && t.kind == TokenKind::kWord && starts_item(t.text)) break;
    if (t.kind != TokenKind::kSymbol) continue;
    if (t.text == "{" && depth == 0 && i >= position_) {
      position_ = i;
      broken_ = false;
      return true;
    }
    if (t.text == "(" || t.text == "[" || t.text == "{") ++depth;
    if (t.text == ")" || t.text == "]" || t.text == "}") --depth;
  }
  for (size_t i = position_; i + 1 < tokens_.size(); ++i) {
    const Token& t = tokens_[i];
    if (i > position_ && t.first_on_line && t.kind == TokenKind::kWord && starts_item(t.text)) return false;
    if (t.kind != TokenKind::kSymbol || t.text != "{" || !tokens_[i + 1].first_on_line) continue;
    position_ = i;
    broken_ = false;
    return true;
  }
  return false;
}

// The item from token `start` was left out: what it would have defined is not to be missed elsewhere.
void Parser::note_lost(size_t start) {
  const auto is = [&](size_t i, std::string_view symbol) {
    return i < position_ && tokens_[i].kind == TokenKind::kSymbol && tokens_[i].text == symbol;
  };
  const auto name = [&](size_t i) {
    return i < position_ && tokens_[i].kind == TokenKind::kWord && !is_reserved(tokens_[i].text);
  };
  size_t at = start;
  if (at < position_ && starts_item(tokens_[at].text)) ++at;
  if (name(at)) lost_.emplace_back(tokens_[at].text);
  for (; name(at) && is(at + 1, ",") && name(at + 2); at += 2) lost_.emplace_back(tokens_[at + 2].text);
  for (; at < position_; ++at) {
    if (name(at) && (is(at + 1, "=") || is(at + 1, ":"))) lost_.emplace_back(tokens_[at].text);
  }
}

std::string Parser::take_same_line_comment() {
  if (broken_) return "";
  Token& token = tokens_[position_];
  if (token.comments.empty() || !token.comments.front().same_line) return "";
  std::string text = std::move(token.comments.front().text);
  token.comments.erase(token.comments.begin());
  return text;
}

ExprRef Parser::whole_expression() {
  ExprRef e = expr();
  if (!broken_ && peek().kind != TokenKind::kEnd) fail(peek(), fmt::format("unexpected {}", shown(peek())));
  return broken_ ? nullptr : e;
}

std::vector<Knob> Parser::whole_knobs() {
  std::vector<Knob> knobs = knob_list("");
  if (!broken_ && peek().kind != TokenKind::kEnd) fail(peek(), fmt::format("unexpected {}", shown(peek())));
  return knobs;
}

namespace {

bool is_no_text(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v') || byte == 0x7f;
}

}  // namespace

Program parse(std::string_view source, Diagnostics& diagnostics) {
  const auto foreign = std::find_if(source.begin(), source.end(), is_no_text);
  if (foreign != source.end()) {
    const int at = static_cast<int>(foreign - source.begin());
    const unsigned byte = static_cast<unsigned char>(*foreign);
    const std::string what = byte == 0 ? "a zero byte" : fmt::format("a control character ({:#04x})", byte);
    diagnostics.error("E000", {at, at + 1}, what + ": this is not a text file", "a program is a text file");
    return {};
  }
  return Parser(lex(source, diagnostics), diagnostics).program();
}

ExprRef parse_expression(std::string_view source, Diagnostics& diagnostics) {
  return Parser(lex(source, diagnostics), diagnostics).whole_expression();
}

std::vector<Knob> parse_knobs(std::string_view source, Diagnostics& diagnostics) {
  return Parser(lex(source, diagnostics), diagnostics).whole_knobs();
}

}  // namespace solstice::lang
