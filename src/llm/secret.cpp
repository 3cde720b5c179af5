#include "llm/secret.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/json.h"

namespace solstice::llm {
namespace {

constexpr std::string_view kShown = "[key]";

void replace_all(std::string& text, const std::string& what) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + kShown.size())) text.replace(at, what.size(), kShown);
}

// As it stands in JSON, without the quotes.
std::string in_json(const std::string& text) {
  const std::string quoted = Json(text).dump();
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

Result<Secret> Secret::create(const std::string& text, const std::string& origin) {
  const bool visible = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (!visible) return fail(Code::bad_key, fmt::format("the key in {} holds a space or another character that no key has", origin));
  if (text.size() < 8 || text.size() > 4096) {
    return fail(Code::bad_key, fmt::format("the key in {} has {} characters; keys have 8 to 4096", origin, text.size()));
  }
  return Secret(text);
}

Result<Secret> secret_from_environment(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  if (!value || !*value)
    return fail(Code::bad_key, fmt::format("{} is not set; put the provider's key there, or name a key_file", variable));
  return Secret::create(value, variable);
}

Result<Secret> secret_from_file(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0)
    return fail(Code::bad_key, fmt::format("cannot read the key in {}: {}", file.string(), std::strerror(errno)));
  const unsigned mode = found.st_mode & 07777;
  if ((mode & 077) != 0) {
    return fail(Code::bad_key, fmt::format("{} may be used by others than its owner (mode {:04o}); chmod 600 it", file.string(), mode));
  }
  SOLSTICE_TRY(std::string text, read_file(file));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return Secret::create(text, file.string());
}

void Scrubber::add(const Secret& secret) {
  if (!secret.empty()) secrets_.push_back(secret);
}

Scrubber secrets_of_environment() {
  constexpr std::array kEndings = {"KEY", "TOKEN", "SECRET", "PASSWORD"};
  Scrubber out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const std::string value(text.substr(std::min(name.size() + 1, text.size())));
    const bool named = std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return name.ends_with(ending); });
    if (!named || value.starts_with('/')) continue;
    if (const Result<Secret> secret = Secret::create(value, std::string(name)); secret.ok()) out.add(*secret);  // else it is no key
  }
  return out;
}

std::string Scrubber::scrub(std::string text) const {
  for (const Secret& secret : secrets_) {
    replace_all(text, secret.reveal());
    replace_all(text, in_json(secret.reveal()));
  }
  return text;
}

}  // namespace solstice::llm
