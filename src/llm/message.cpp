#include "llm/message.h"

namespace solstice::llm {

std::vector<const char*> enum_names(Role) { return {"user", "assistant"}; }
std::vector<const char*> enum_names(Finish) { return {"complete", "truncated", "refused", "empty", "invalid"}; }

Failure failure_of(const Error& error, bool again) {
  Failure out;
  out.code = name_of(error.code);
  out.message = error.text();
  out.again = again;
  return out;
}

Error error_of(const Failure& failure) {
  for (const Code code : all_codes()) {
    if (name_of(code) == failure.code) return fail(code, failure.message);
  }
  return fail(Code::provider_failed, failure.message);
}

Usage& usage_of(Attempt& attempt) {
  if (Answer* answer = std::get_if<Answer>(&attempt)) return answer->usage;
  return std::get<Failure>(attempt).usage;
}

const Usage& usage_of(const Attempt& attempt) { return usage_of(const_cast<Attempt&>(attempt)); }

bool was_used(const Attempt& attempt) {
  const Failure* failure = std::get_if<Failure>(&attempt);
  return !failure || failure->uncounted || failure->usage.counted();
}

}  // namespace solstice::llm
