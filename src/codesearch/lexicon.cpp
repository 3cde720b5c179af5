#include "codesearch/lexicon.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace solstice::codesearch {
namespace {

constexpr size_t kGram = 3;          // letters: SQLite's trigrams
constexpr size_t kMostNear = 6;      // identifiers that stand for an unknown word
constexpr double kAlike = 0.5;       // share of trigrams that a misspelt word has in common with the right one
constexpr size_t kLongestNear = 40;  // letters of a word that is compared

std::set<std::string> grams_of(std::string_view word) {
  std::set<std::string> out;
  for (size_t at = 0; at + kGram <= word.size(); ++at) out.emplace(word.substr(at, kGram));
  return out;
}

double alikeness(const std::set<std::string>& a, std::string_view word) {
  const std::set<std::string> b = grams_of(word);
  size_t common = 0;
  for (const std::string& gram : b) common += a.count(gram);
  return 2.0 * static_cast<double>(common) / static_cast<double>(a.size() + b.size());
}

// 1 and more for a word that contains it, the shorter the better; else their alikeness.
Result<std::vector<std::string>> near_words(store::Database& database, std::string_view word) {
  const std::set<std::string> grams = grams_of(word.substr(0, kLongestNear));
  if (grams.empty()) return std::vector<std::string>();
  std::string match;
  for (const std::string& gram : grams) match += fmt::format("{}\"{}\"", match.empty() ? "" : " OR ", gram);
  SOLSTICE_TRY(auto query, database.prepare("SELECT word FROM identifier_grams WHERE identifier_grams MATCH ?"));
  query.bind(match);
  std::vector<std::pair<double, std::string>> found;
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) break;
    std::string other = query.text(0);
    const bool contains = other.find(word) != std::string::npos;
    const double alike = alikeness(grams, other) + (contains ? 1 : 0);
    if (alike >= kAlike) found.emplace_back(-alike, std::move(other));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(found.size(), kMostNear); ++i) out.push_back(found[i].second);
  return out;
}

Result<WordUse> use_of(store::Database& database, std::string_view word) {
  SOLSTICE_TRY(auto query, database.prepare("SELECT files, named, noted FROM words WHERE word = ?"));
  SOLSTICE_TRY(const bool row, query.bind(word).step());
  return row ? WordUse{query.integer(0), query.integer(1), query.integer(2)} : WordUse{};
}

}  // namespace

Result<Lexicon> lexicon_of(store::Database& database, int64_t files) {
  Lexicon out;
  out.files = static_cast<double>(std::max<int64_t>(1, files));
  out.use = [&database](std::string_view word) { return use_of(database, word); };
  out.near = [&database](std::string_view word) { return near_words(database, word); };
  return out;
}

}  // namespace solstice::codesearch
