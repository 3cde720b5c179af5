#include "record/oracle_messages.h"

#include <string_view>

namespace solstice {
namespace {

struct Rule {
  std::string_view part;  // of the oracle's code
  Code code;
};

// The first that matches: whole subjects last.
constexpr Rule kRules[] = {
    {"out_of_memory", Code::too_large},
    {"too_large", Code::too_large},
    {"no_gpu", Code::no_gpu},
    {"no_weights", Code::too_large},
    {"oracle.crashed", Code::process_failed},
    {"load.no_file", Code::not_found},
    {"no_torch", Code::no_python},
    {"load.", Code::module_import},
    {"forward_failed", Code::module_forward},  // of `trace` and of `oracle`
    {"trace.branches", Code::module_branches},
    {"trace.", Code::module_trace},
    {"export.file", Code::io_error},
    {"protocol.", Code::internal},
};

Code code_of(const OracleFailure& failure) {
  for (const Rule& rule : kRules) {
    if (failure.code.find(rule.part) != std::string::npos) return rule.code;
  }
  if (failure.kind == "input") return Code::bad_argument;
  return failure.kind == "environment" ? Code::process_failed : Code::internal;
}

}  // namespace

Error to_error(const OracleFailure& failure) {
  Error error = fail(code_of(failure), failure.message, failure.hint);
  error.file = failure.file;
  error.line = failure.line;
  error.column = failure.column;
  error.width = failure.width;
  error.reasons = failure.reasons;
  return error;
}

}  // namespace solstice
