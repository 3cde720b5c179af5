// Keys of providers. A Secret cannot be printed, logged or written as JSON; what may hold one goes through a Scrubber
// before it leaves the process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace solstice::llm {

class Secret {
 public:
  Secret() = default;
  // 8 to 4096 visible ASCII characters: a shorter one could not be told from ordinary text. Error bad_key.
  static Result<Secret> create(const std::string& text, const std::string& origin);
  bool empty() const { return text_.empty(); }
  const std::string& reveal() const { return text_; }  // for the header that needs it
  template <typename Stream>
  friend Stream& operator<<(Stream&, const Secret&) = delete;

 private:
  explicit Secret(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// From the variable, or from the file's only line. Error bad_key: not set, or a file that others than its owner may
// use; what may be the key itself in place of the variable's name is not shown.
Result<Secret> secret_from_environment(const std::string& variable);
Result<Secret> secret_from_file(const std::filesystem::path& file);

class Scrubber {
 public:
  void add(const Secret& secret);
  // Every secret as [key], also as JSON may spell it (`\/`, `\u002d`, escaped twice and more): who parses the text gets
  // none back.
  std::string scrub(std::string text) const;

 private:
  std::vector<Secret> secrets_;
};

// Values of environment variables whose names end in KEY, TOKEN, SECRET or PASSWORD, but for paths: what a shell may
// have written into a command line.
Scrubber secrets_of_environment();

}  // namespace solstice::llm
