// Diagnostics: what was observed, the rule, a hint. Several a run; the same object prints as text and as JSON, so that
// a person, an editor and a repair loop read one thing.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace solstice {

enum class Severity { kError, kWarning, kNote };

// Bytes [begin, end) of the source text.
struct Span {
  int begin = 0;
  int end = 0;
};

struct Label {
  Span span;
  std::string message;
};

struct Diagnostic {
  std::string code;  // "E002", "W017", "E101"
  Severity severity = Severity::kError;
  std::string message;  // lower case, code in backticks
  Span span;
  std::vector<Label> labels;  // further places
  std::string hint;           // the remedy
  std::string fix;            // replacement text for `span`, where one is certain
};

class Diagnostics {
 public:
  static constexpr size_t kMost =
      100;  // that are kept of each severity; nobody reads more, and a binary file has millions

  // If there are enough of its severity, the diagnostic is counted and lost, with what is done to the reference.
  Diagnostic& error(std::string code, Span span, std::string message, std::string hint = "");
  Diagnostic& warning(std::string code, Span span, std::string message, std::string hint = "");
  Diagnostic& add(Diagnostic diagnostic);
  void add_omitted(size_t count) { omitted_ += count; }
  void sort();  // by position; those of one place stay in the order in which they were found
  const std::vector<Diagnostic>& all() const { return all_; }
  bool has_errors() const;
  size_t size() const { return all_.size(); }
  size_t omitted() const { return omitted_; }  // counted, not kept

 private:
  std::vector<Diagnostic> all_;
  std::array<size_t, 3> kept_{};  // of each severity
  size_t omitted_ = 0;
  Diagnostic lost_;
};

// A span is shown as the first name that the message quotes, where it stands within the span: `M` of `M = 3`.
// `file:line:column: error[E002]: message`, the source line with carets (a part of it where it is long), `hint: ...`.
// If some were omitted, the last line says how many; in JSON the last entry is a note (N000).
std::string render_text(const Diagnostics& diagnostics, std::string_view source, std::string_view file);
Json render_json(const Diagnostics& diagnostics, std::string_view source, std::string_view file);

// program_invalid: the text of all diagnostics as the listing, their number as the message.
Error refusal(const Diagnostics& diagnostics, std::string_view source, std::string_view file);

// The source line with carets under `width` bytes from `column`, or under the whole of it where there is no column; ""
// where the text has no such line. Lines and columns count from 1.
std::string excerpt_at(std::string_view source, int line, int column, int width);

// The candidate closest to `name` by edit distance, "" if none is close.
std::string closest(std::string_view name, const std::vector<std::string>& candidates);

// The way out of a name that is none of these: "did you mean `a`? there are a, b, c".
std::string instead_of(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace solstice
