#include "base/result.h"

#include <array>

namespace solstice {
namespace {

struct CodeRow {
  Code code;
  ErrorKind kind;
  std::string_view name;
  std::string_view text;
};

constexpr std::array kCodeRows = {
#define SOLSTICE_CODE(name, kind, text) CodeRow{Code::name, ErrorKind::kind, #name, text},
#include "base/codes.def"
#undef SOLSTICE_CODE
};

const CodeRow& row_of(Code code) { return kCodeRows[static_cast<size_t>(code)]; }

}  // namespace

ErrorKind kind_of(Code code) { return row_of(code).kind; }
std::string_view name_of(Code code) { return row_of(code).name; }
std::string_view text_of(Code code) { return row_of(code).text; }

const std::vector<Code>& all_codes() {
  static const std::vector<Code> codes = [] {
    std::vector<Code> all;
    for (const CodeRow& row : kCodeRows) all.push_back(row.code);
    return all;
  }();
  return codes;
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInput:
      return 2;
    case ErrorKind::kEnvironment:
      return 3;
    case ErrorKind::kInternal:
      return 70;
  }
  return 70;
}

std::string Error::sentence() const { return hint.empty() ? message : message + "; " + hint; }

std::string Error::text() const {
  std::string out = listing;
  if (listing.empty() && !file.empty()) out += file + (line > 0 ? ":" + std::to_string(line) : "") + ": ";
  if (listing.empty()) out += sentence();
  for (const std::string& step : context) out += "\n  while " + step;
  return out;
}

Error fail(Code code, std::string message, std::string hint) {
  Error error;
  error.code = code;
  error.message = std::move(message);
  error.hint = std::move(hint);
  return error;
}

}  // namespace solstice
