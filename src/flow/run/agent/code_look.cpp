#include "flow/run/agent/code_look.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "llm/ledger.h"

namespace solstice::flow {
namespace {

constexpr size_t kHits = 4, kLinesOfHit = 8;

bool is_place(const std::string& query) {
  if (query.find_first_of(" \t\r\n") != query.npos) return false;
  if (query.find('/') != query.npos) return true;
  const size_t colon = query.rfind(':');
  return colon != query.npos && colon + 1 < query.size() && query[colon + 1] >= '0' && query[colon + 1] <= '9';
}

std::string text_of_lines(const std::vector<codesearch::CodeLine>& lines) {
  std::string out;
  for (const codesearch::CodeLine& line : lines) out += fmt::format("{:>5}  {}\n", line.number, line.text);
  return out;
}

std::string text_of_passage(const codesearch::Passage& passage) {
  std::string out = fmt::format("{}:{}-{} of {}\n", passage.path, passage.first, passage.last, passage.of);
  if (!passage.about.empty()) out += passage.about + "\n";
  out += text_of_lines(passage.lines);
  if (passage.cut) out += fmt::format("(cut here; {}:{}-.. goes on)\n", passage.path, passage.last + 1);
  return out;
}

std::string text_of_answer(const codesearch::Answer& answer) {
  std::string out;
  for (const codesearch::Hit& hit : answer.hits) {
    out += fmt::format("{}:{}-{}{}{}\n", hit.path, hit.first, hit.last, hit.title.empty() ? "" : "  ", hit.title);
    if (!hit.about.empty()) out += hit.about + "\n";
    out += text_of_lines(hit.lines);
  }
  if (answer.hits.empty()) out += "nothing was found\n";
  if (!answer.unknown.empty()) out += fmt::format("no code has anything like: {}\n", fmt::join(answer.unknown, ", "));
  return out;
}

}  // namespace

Result<std::string> CodeLook::found(const std::string& query, size_t characters) {
  if (!index_) {
    SOLSTICE_TRY(index_, codesearch::CodeIndex::open(options_));
  }
  if (is_place(query)) {
    SOLSTICE_TRY(const codesearch::Place place, codesearch::parse_place(query));
    codesearch::ReadLimits limits;
    limits.characters = characters;
    SOLSTICE_TRY(const codesearch::Passage passage, index_->read(place, limits));
    return text_of_passage(passage);
  }
  SOLSTICE_TRY(const codesearch::Answer answer,
               index_->search(query, {.hits = kHits, .lines = kLinesOfHit, .characters = characters}));
  return text_of_answer(answer);
}

Result<std::string> CodeLook::operator()(const std::string& query, int64_t most_tokens) {
  Result<std::string> out = found(query, static_cast<size_t>(most_tokens) * llm::kBytesAToken);
  if (!out.ok() && kind_of(out.error().code) == ErrorKind::kInput) return out.error().sentence() + "\n";
  return out;
}

}  // namespace solstice::flow
