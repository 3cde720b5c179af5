#include "codesearch/titles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "codesearch/lines.h"
#include "codesearch/words.h"

namespace solstice::codesearch {
namespace {

constexpr size_t kLongestTitle = 400;

// A word of a declaration with its place. Inside template parameters and arguments there are none.
struct Token {
  std::string_view text;
  size_t at;
};

// Up to the first `{`, `;` or `=` outside of brackets.
std::vector<Token> outer_words(std::string_view code) {
  std::vector<Token> out;
  int angles = 0, parentheses = 0;
  for (size_t at = 0; at < code.size(); ++at) {
    const char c = code[at];
    if (parentheses == 0 && angles == 0 && (c == '{' || c == ';')) break;
    if (c == '<' && parentheses == 0) ++angles;
    if (c == '>' && parentheses == 0 && angles > 0 && code[at - 1] != '-') --angles;
    if (c == '(') {
      if (angles == 0 && parentheses == 0) out.push_back({"(", at});
      ++parentheses;
    }
    if (c == ')') --parentheses;
    if (!is_word_char(c)) continue;
    size_t end = at;
    while (end < code.size() && is_word_char(code[end])) ++end;
    if (angles == 0 && parentheses == 0) out.push_back({code.substr(at, end - at), at});
    at = end - 1;
  }
  return out;
}

// Words that an opening parenthesis may follow without being the name of a function.
bool is_no_function(std::string_view word) {
  constexpr std::array kWords = {
      "if",       "for",    "while",    "switch",        "return",        "alignas",
      "decltype", "sizeof", "noexcept", "__attribute__", "static_assert", "requires",
      "asm",      "void",   "explicit", "__declspec",    "__align__",     "__launch_bounds__"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool is_type_word(std::string_view word) {
  return word == "struct" || word == "class" || word == "union" || word == "enum" || word == "concept";
}

// A name from `at`, with its template arguments: "MMA_Traits<SM90_64x8x16_F16F16F16_SS>".
std::string with_arguments(std::string_view code, size_t at) {
  size_t end = at;
  while (end < code.size() && is_word_char(code[end])) ++end;
  if (end < code.size() && code[end] == '<') end = std::min(code.find_first_of("{;", end), code.size());
  std::string out;
  for (const char c : code.substr(at, end - at)) {
    const char shown = std::isspace(static_cast<unsigned char>(c)) ? ' ' : c;
    if (shown != ' ' || (!out.empty() && out.back() != ' ')) out += shown;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (out.size() > kLongestTitle) out.resize(kLongestTitle);
  return out;
}

// "#define NAME" of a directive; "" of another.
std::string macro_title(std::string_view line) {
  size_t at = line.find_first_not_of("# \t");
  if (at == std::string_view::npos || !line.substr(at).starts_with("define ")) return "";
  at = line.find_first_not_of(" \t", at + 7);
  if (at == std::string_view::npos) return "";
  return "#define " + std::string(line.substr(at, line.find_first_of("(\\ \t", at) - at));
}

// The lines without directives, and the title of the first macro.
std::string without_directives(std::string_view code, std::string& macro) {
  std::string out;
  bool continued = false;
  for (const std::string_view line : split_lines(code)) {
    const size_t first = line.find_first_not_of(" \t");
    const bool directive = continued || (first != std::string_view::npos && line[first] == '#');
    if (directive && !continued && macro.empty()) macro = macro_title(line);
    continued = directive && line.ends_with('\\');
    if (!directive) out += std::string(line) + "\n";
  }
  return out;
}

std::string type_title(std::string_view code, const std::vector<Token>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].text == "(") return "";  // a function that returns or takes one
    if (!is_type_word(words[i].text)) continue;
    size_t name = i + 1;
    while (name < words.size() && (is_type_word(words[name].text) || words[name].text == "alignas" ||
                                   words[name].text == "(" || words[name].text.starts_with("__align"))) {
      ++name;
    }
    // `struct __device_builtin__ __builtin_align__(16) float4`: words before the name are attributes.
    while (name + 1 < words.size() && words[name].text.ends_with("__")) ++name;
    if (name >= words.size()) return "";
    return std::string(words[i].text) + " " + with_arguments(code, words[name].at);
  }
  return "";
}

std::string function_title(const std::vector<Token>& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i].text != "(" || words[i - 1].text == "(") continue;
    const std::string_view name = words[i - 1].text;
    if (is_no_function(name)) continue;
    if (name == "operator" || std::isdigit(static_cast<unsigned char>(name.front()))) continue;
    return std::string(name) + "()";
  }
  return "";
}

}  // namespace

std::string title_of(std::string_view text) {
  std::string macro;
  const std::string code = without_directives(text, macro);
  const std::vector<Token> words = outer_words(code);
  if (words.empty()) return macro;
  if (const std::string type = type_title(code, words); !type.empty()) return type;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i].text == "using" && words[i + 1].text != "namespace") {
      return "using " + std::string(words[i + 1].text);
    }
  }
  const std::string function = function_title(words);
  return function.empty() ? macro : function;
}

bool declares_type(std::string_view code) {
  const std::string title = title_of(code);
  return is_type_word(std::string_view(title).substr(0, std::min(title.find(' '), title.size())));
}

}  // namespace solstice::codesearch
