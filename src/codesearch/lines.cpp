#include "codesearch/lines.h"

#include <algorithm>
#include <cctype>

#include "codesearch/words.h"

namespace solstice::codesearch {
namespace {

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\f\v") == std::string_view::npos; }

std::string_view stripped(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

class Scanner {
 public:
  Line scan(std::string_view text) {
    Line line;
    line.text = text;
    line.depth = depth_;
    line.blank = is_blank(text) && !in_comment_;
    const bool was_comment = in_comment_;
    take_code(text, line.code);
    const bool has_code = !is_blank(line.code);
    line.comment = !line.blank && !has_code && (was_comment || !stripped(text).empty());
    line.directive = continued_ || stripped(line.code).starts_with('#');
    continued_ = line.directive && text.ends_with('\\');
    if (line.directive) {
      condition(stripped(line.code));
      line.ends = !continued_;
    } else if (has_code) {
      count_braces(line.code);
      const size_t last = line.code.find_last_not_of(" \t\r");
      const bool opens_namespace = line.code[last] == '{' && !open_.empty() && open_.back();
      line.ends = line.code[last] == ';' || line.code[last] == '}' || opens_namespace;
    }
    line.depth_after = depth_;
    return line;
  }

 private:
  // Appends what is neither comment nor the inside of a string.
  void take_code(std::string_view text, std::string& code) {
    for (size_t at = 0; at < text.size(); ++at) {
      const std::string_view rest = text.substr(at);
      if (in_comment_) {
        const size_t end = rest.find("*/");
        if (end == std::string_view::npos) return;
        in_comment_ = false;
        at += end + 1;
      } else if (rest.starts_with("//")) {
        return;
      } else if (rest.starts_with("/*")) {
        in_comment_ = true;
        ++at;
      } else if (text[at] == '"' || (text[at] == '\'' && (at == 0 || !is_word_char(text[at - 1])))) {
        code += text[at];
        at = end_of_string(text, at);
        code += text[at < text.size() ? at : text.size() - 1];
      } else {
        code += text[at];
      }
    }
  }

  static size_t end_of_string(std::string_view text, size_t from) {
    size_t at = from + 1;
    while (at < text.size() && text[at] != text[from]) at += text[at] == '\\' ? 2 : 1;
    return at;
  }

  // Both branches of a condition may open the brace that one line after it closes.
  void condition(std::string_view code) {
    const std::string_view word = stripped(code.substr(code.empty() ? 0 : 1));
    if (word.starts_with("if")) {
      saved_.push_back({depth_, open_});
    } else if (word.starts_with("el") && !saved_.empty()) {
      depth_ = saved_.back().depth;
      open_ = saved_.back().open;
    } else if (word.starts_with("endif") && !saved_.empty()) {
      saved_.pop_back();
    }
  }

  void count_braces(std::string_view code) {
    for (const char c : code) {
      if (c == '{') {
        const bool scope = opens_scope();
        open_.push_back(scope);
        depth_ += scope ? 0 : 1;
        statement_.clear();
      } else if (c == '}') {
        if (!open_.empty()) {
          depth_ -= open_.back() ? 0 : 1;
          open_.pop_back();
        }
        statement_.clear();
      } else if (c == ';') {
        statement_.clear();
      } else if (statement_.size() < 200) {
        statement_ += c;
      }
    }
    statement_ += ' ';
  }

  // Whether the brace after `statement_` is a namespace's.
  bool opens_scope() const {
    std::string_view text = stripped(statement_);
    if (text.starts_with("inline ")) text = stripped(text.substr(7));
    return text.starts_with("namespace") || text.starts_with("extern \"");
  }

  struct Saved {
    int depth;
    std::vector<bool> open;
  };
  int depth_ = 0;
  bool in_comment_ = false, continued_ = false;
  std::vector<bool> open_;  // of each open brace, if it is a namespace's
  std::vector<Saved> saved_;
  std::string statement_;  // since the last `;` or brace
};

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<Line> scan_lines(std::string_view text) {
  std::vector<Line> out;
  Scanner scanner;
  for (const std::string_view line : split_lines(text)) out.push_back(scanner.scan(line));
  return out;
}

}  // namespace solstice::codesearch
