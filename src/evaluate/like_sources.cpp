#include "evaluate/like_sources.h"

#include <algorithm>
#include <cctype>

#include "codegen/pointer_names.h"

namespace solstice::evaluate {
namespace {

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

LikeSources::LikeSources(const ir::Program& program) {
  for (std::string& name : codegen::pointer_names(program)) pointers_.insert(std::move(name));
}

bool LikeSources::is_pointer_name(const std::string& word) const {
  for (size_t at = word.find("p_"); at != word.npos; at = word.find("p_", at + 1)) {
    if ((at == 0 || word[at - 1] == '_') && pointers_.contains(word.substr(at))) return true;
  }
  return false;
}

// Names become `@` and a number: by their place in `entries`, then by first appearance.
std::string LikeSources::without_names(const families::Source& source, const std::vector<std::string>& entries) const {
  std::map<std::string, size_t> numbers;
  for (const std::string& entry : entries) numbers.emplace(entry, numbers.size());
  std::string out = std::to_string(entries.size());
  for (const std::string& option : source.options) out += '\n' + option;
  out += '\n';
  for (size_t at = 0; at < source.code.size();) {
    if (!is_of_word(source.code[at])) {
      out += source.code[at++];
      continue;
    }
    const auto begin = source.code.begin() + static_cast<std::ptrdiff_t>(at);
    const std::string word(begin, std::find_if_not(begin, source.code.end(), is_of_word));
    at += word.size();
    if (is_pointer_name(word)) numbers.emplace(word, numbers.size());
    const auto number = numbers.find(word);
    out += number == numbers.end() ? word : '@' + std::to_string(number->second);
  }
  return out;
}

std::optional<LikeSources::Kept> LikeSources::find_or_keep(const families::Source& source,
                                                           const std::vector<std::string>& entries) {
  if (!source.file.empty()) return std::nullopt;
  const auto [found, is_new] = kept_.try_emplace(without_names(source, entries), Kept{source.name, entries});
  return is_new ? std::nullopt : std::optional(found->second);
}

}  // namespace solstice::evaluate
