#include "codesearch/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codesearch/lines.h"
#include "codesearch/words.h"

namespace solstice::codesearch {
namespace {

constexpr double kAgain = 0.25;    // of a concept that a chosen line holds already
constexpr size_t kLongLine = 160;  // bytes that are shown of a line

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> out;
  each_word(text, [&](std::string_view word) { out.emplace(word); });
  return out;
}

// The word of a concept that stands here; null where none does.
const Alternative* held(const Concept& one, const std::set<std::string>& words) {
  for (const Alternative& word : one.words) {
    if (words.contains(word.word)) return &word;
  }
  return nullptr;
}

std::string shown(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return std::string(line.substr(0, kLongLine)) + (line.size() > kLongLine ? " .." : "");
}

struct Scored {
  int number;
  std::string_view text;
  std::vector<double> holds;  // by concept
};

std::vector<Scored> score(const std::vector<std::string_view>& lines, int first, int last, const Question& question) {
  std::vector<Scored> out;
  for (int i = first; i <= std::min(last, static_cast<int>(lines.size())); ++i) {
    const std::string_view text = lines[static_cast<size_t>(i - 1)];
    const std::set<std::string> words = words_of(text);
    Scored one{.number = i, .text = text, .holds = {}};
    for (const Concept& part : question.concepts) {
      const Alternative* word = held(part, words);
      one.holds.push_back(word ? word->weight * part.weight : 0);
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<int> choose(const std::vector<Scored>& lines, size_t concepts, size_t most) {
  std::vector<int> chosen;
  std::vector<bool> has(concepts, false);
  while (chosen.size() < most) {
    const Scored* best = nullptr;
    double gain = 0;
    for (const Scored& line : lines) {
      if (std::find(chosen.begin(), chosen.end(), line.number) != chosen.end()) continue;
      double adds = 0;
      for (size_t i = 0; i < concepts; ++i) adds += line.holds[i] * (has[i] ? kAgain : 1);
      if (adds > gain) {
        gain = adds;
        best = &line;
      }
    }
    if (!best) break;
    chosen.push_back(best->number);
    for (size_t i = 0; i < concepts; ++i) has[i] = has[i] || best->holds[i] > 0;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

Excerpt excerpt(std::string_view text, int first, int last, const std::string& path, const Question& question,
                size_t most) {
  Excerpt out;
  const std::vector<std::string_view> lines = split_lines(text);
  const std::vector<Scored> scored = score(lines, first, last, question);
  std::set<std::string> words = words_of(path);
  for (const Scored& line : scored) words.merge(words_of(line.text));
  for (const Concept& one : question.concepts) {
    const Alternative* word = held(one, words);
    if (one.extra && !word) continue;
    const bool as_asked = word && one.shown.find(word->word) != std::string::npos;
    (word ? out.why : out.lacks)
        .push_back(word && !as_asked ? fmt::format("{} ({})", one.shown, word->word) : one.shown);
  }
  std::vector<int> chosen = choose(scored, question.concepts.size(), most);
  if (chosen.empty() && most > 0 && !scored.empty()) chosen.push_back(scored.front().number);
  for (const int number : chosen) out.lines.push_back({number, shown(lines[static_cast<size_t>(number - 1)])});
  return out;
}

}  // namespace solstice::codesearch
