// Text to tokens. Comments ride on the token that follows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace solstice::lang {

// kRaw: lines between `"""` at the end of one and `"""` alone on another (raw_text).
enum class TokenKind { kWord, kInt, kNumber, kSize, kString, kRaw, kSymbol, kEnd, kBroken };

struct Comment {
  std::string text;        // without `#`, one blank after it and blanks at the end
  bool same_line = false;  // as the token before it
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  Span span;
  bool first_on_line = false;
  std::vector<Comment> comments;
};

// The last token is kEnd. Characters that belong to no token are reported (E000) and skipped.
std::vector<Token> lex(std::string_view source, Diagnostics& diagnostics);

// The lines of a kRaw token, each with its newline.
std::string_view raw_text(const Token& token);

}  // namespace solstice::lang
