#include "llm/secret.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/file.h"

namespace solstice::llm {
namespace {

constexpr std::string_view kInPlaceOfKey = "[key]";

constexpr size_t kNumbered = 5;  // bytes of "u002f"

// "u002f" for '/', in digits of any case.
bool is_numbered(std::string_view text, char c) {
  unsigned value = 0;
  if (text.size() < kNumbered || text[0] != 'u') return false;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + kNumbered, value, 16);
  return error == std::errc() && end == text.data() + kNumbered && value == static_cast<unsigned char>(c);
}

// The number of bytes of backslashes that a text begins with, also of those that are written by their numbers.
size_t backslashes(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\\') {
      ++at;
    } else if (at > 0 && is_numbered(text.substr(at), '\\')) {
      at += kNumbered;
    } else {
      break;
    }
  }
  return at;
}

// The number of bytes of the text that are the key, however JSON, and JSON within JSON, may spell it; 0 where it begins
// otherwise. Backslashes are passed over, in the text as in `bare`.
size_t length_of_key(std::string_view text, std::string_view bare) {
  size_t at = 0;
  for (const char c : bare) {
    const size_t escape = backslashes(text.substr(at));
    const std::string_view rest = text.substr(at + escape);
    const bool numbered = escape > 0 && is_numbered(rest, c);
    if (!numbered && !rest.starts_with(c)) return 0;
    at += escape + (numbered ? kNumbered : 1);
  }
  return at;
}

std::string without_key(std::string_view text, const std::string& key) {
  std::string bare, out;
  std::copy_if(key.begin(), key.end(), std::back_inserter(bare), [](char c) { return c != '\\'; });
  const std::string starts = {'\\', bare.front()};
  while (!text.empty()) {
    const size_t begin = std::min(text.find_first_of(starts), text.size());
    out += text.substr(0, begin);
    text.remove_prefix(begin);
    size_t length = length_of_key(text, bare);
    if (length > 0 && key.back() == '\\') length += backslashes(text.substr(length));
    const size_t other = std::min(std::max<size_t>(backslashes(text), 1), text.size());
    out += length > 0 ? kInPlaceOfKey : text.substr(0, other);
    text.remove_prefix(length > 0 ? length : other);
  }
  return out;
}

// Keys have small letters and digits, or at least no underscore: more than names of variables do.
bool may_be_key(std::string_view name) {
  const auto holds = [&](auto&& kind) { return std::any_of(name.begin(), name.end(), kind); };
  const bool digits = holds([](char c) { return c >= '0' && c <= '9'; });
  const bool small = holds([](char c) { return c >= 'a' && c <= 'z'; });
  return name.size() >= 16 && digits && (small || name.find('_') == name.npos);
}

// [A-Za-z_][A-Za-z0-9_]*
bool is_variable(std::string_view name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

Result<Secret> Secret::create(const std::string& text, const std::string& origin) {
  const bool visible = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (!visible)
    return fail(Code::bad_key, fmt::format("the key in {} holds a space or another character that no key has", origin));
  if (text.size() < 8 || text.size() > 4096) {
    return fail(Code::bad_key, fmt::format("the key in {} has {} characters", origin, text.size()),
                "keys have 8 to 4096");
  }
  if (text.find_first_not_of('\\') == text.npos)
    return fail(Code::bad_key, fmt::format("the key in {} is backslashes alone", origin));
  return Secret(text);
}

namespace {
constexpr const char* kNameTheVariable = "put the key into a variable, and give the variable's name";
}

Result<Secret> secret_from_environment(const std::string& variable) {
  if (!is_variable(variable)) {
    return fail(Code::bad_key,
                "key_env is no name of an environment variable (letters, digits and `_`, no digit first), and is not "
                "shown, as it may be the key itself",
                kNameTheVariable);
  }
  const char* value = std::getenv(variable.c_str());
  if ((!value || !*value) && may_be_key(variable)) {
    return fail(Code::bad_key,
                "the variable that key_env names is not set, and its name is not shown, as it may be the key itself",
                kNameTheVariable);
  }
  if (!value || !*value)
    return fail(Code::bad_key, fmt::format("{} is not set", variable),
                "put the provider's key there, or name its file: `--option key_file=FILE`");
  return Secret::create(value, variable);
}

Result<Secret> secret_from_file(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0)
    return fail(Code::bad_key, fmt::format("cannot read the key in {}: {}", file.string(), std::strerror(errno)));
  const unsigned mode = found.st_mode & 07777;
  if ((mode & 077) != 0) {
    return fail(Code::bad_key,
                fmt::format("{} may be used by others than its owner (mode {:04o})", file.string(), mode),
                fmt::format("`chmod 600 {}`", file.string()));
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
    const bool named =
        std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return name.ends_with(ending); });
    if (!named || value.starts_with('/')) continue;
    if (const Result<Secret> secret = Secret::create(value, std::string(name)); secret.ok())
      out.add(*secret);  // else it is no key
  }
  return out;
}

std::string Scrubber::scrub(std::string text) const {
  for (const Secret& secret : secrets_) text = without_key(text, secret.reveal());
  return text;
}

}  // namespace solstice::llm
