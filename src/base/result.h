// Result<T>: a value or an Error. Every function that can fail returns one; nothing of ours throws across a function.
//
// An Error has a stable code (src/base/codes.def), one of three kinds that map to exit codes, a message that
// names the values, the way out (in the message or apart from it), and the chain of what was being done ("while ...").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace solstice {

// The side that can mend it: the caller (bad input), the machine's owner (environment), or we (internal).
enum class ErrorKind { kInput, kEnvironment, kInternal };

enum class Code {
#define SOLSTICE_CODE(name, kind, text) name,
#include "base/codes.def"
#undef SOLSTICE_CODE
};

ErrorKind kind_of(Code code);
std::string_view name_of(Code code);  // "bad_argument"
std::string_view text_of(Code code);  // one sentence: when it is given
const std::vector<Code>& all_codes();
int exit_code(ErrorKind kind);  // 2, 3, 70

struct Error {
  Code code = Code::internal;
  std::string message;
  std::vector<std::string> context;  // innermost first
  std::string file;                  // position in the user's input, where there is one
  int line = 0;
  int column = 0;                          // of the line, in bytes, from 1; 0: the whole line
  int width = 0;                           // bytes from there
  int offset = -1;                         // of the equation at fault in its program's text, for whoever has that text
  std::optional<std::string> member = {};  // at fault of a record, ".kernels[3].name", for whoever has its text
  std::string hint;                        // the way out
  std::string listing;                     // every mistake of a program, as text with positions; `message` counts them
  std::vector<std::string> reasons;        // all of what `message` sums up, one a line

  ErrorKind kind() const { return kind_of(code); }
  std::string sentence() const;  // message and hint
  std::string text() const;      // listing or position, sentence and context, for a person
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

  Result context(std::string what) && {
    if (!ok()) error().context.push_back(std::move(what));
    return std::move(*this);
  }

 private:
  std::variant<T, Error> state_;
};

struct Unit {};
using Status = Result<Unit>;
inline Status success() { return Unit{}; }

// Error{code, message, hint}: the usual way to fail.
Error fail(Code code, std::string message, std::string hint = "");

#define SOLSTICE_CONCAT_(a, b) a##b
#define SOLSTICE_CONCAT(a, b) SOLSTICE_CONCAT_(a, b)
// SOLSTICE_TRY(auto x, f()): x is f()'s value, or this function returns f()'s error.
#define SOLSTICE_TRY(decl, ...) SOLSTICE_TRY_IMPL(SOLSTICE_CONCAT(try_, __LINE__), decl, __VA_ARGS__)
#define SOLSTICE_TRY_IMPL(tmp, decl, ...)       \
  auto tmp = (__VA_ARGS__);                     \
  if (!tmp.ok()) return std::move(tmp).error(); \
  decl = std::move(tmp).value()
// SOLSTICE_CHECK(f()): the same where there is no value to keep.
#define SOLSTICE_CHECK(...)                             \
  do {                                                  \
    auto check_ = (__VA_ARGS__);                        \
    if (!check_.ok()) return std::move(check_).error(); \
  } while (false)

}  // namespace solstice
