// Code search for a language model (agents/looks.h).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "codesearch/codesearch.h"

namespace solstice::flow {

class CodeLook {
 public:
  // `options` say which index; it is opened, and built where there is none, when something is looked up first.
  explicit CodeLook(codesearch::Options options) : options_(std::move(options)) {}

  // `PATH:FROM-TO`, `PATH:LINE` and what looks like a path are read, all else is searched for; in at most so many
  // tokens. A mistake of whoever asks is what is found, with the way out; errors are those of the machine.
  Result<std::string> operator()(const std::string& query, int64_t most_tokens);

 private:
  Result<std::string> found(const std::string& query, size_t characters);
  codesearch::Options options_;
  std::optional<codesearch::CodeIndex> index_;
};

}  // namespace solstice::flow
