#include "codesearch/rank.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace solstice::codesearch {
namespace {

// How much a word tells of a chunk by where it stands, in the order of Column. A word that stands in several places
// tells more, at most 1. These numbers, and those of question.cpp and priors.cpp, were chosen on
// tests/corpus/codesearch.
constexpr std::array<double, kColumns> kTells = {0.6, 0.4, 0.25, 0.3, 0.35};
constexpr double kLongTells = 0.5;    // of that, in the comments and the code of a long chunk
constexpr double kShortChunk = 10;    // lines
constexpr double kCoverage = 0.5;     // power of the share of the question that a chunk covers
constexpr double kOtherChunks = 0.3;  // of a file's score: what its other chunks cover besides
constexpr size_t kBestChunks = 3;

}  // namespace

struct Use {
  size_t concept_number;
  double weight;
};

// Of the question that is being answered, by phrase of the full text's query.
struct Asked {
  std::vector<std::vector<Use>> uses;
  std::vector<double> weights;  // of concepts
  std::vector<bool> extra;
  double all = 0;             // sum of the weights that cover the question
  uint32_t found = 0;         // of the row that was ranked last
  std::vector<double> holds;  // of it, by concept
};

namespace {

double told(const Fts5ExtensionApi* api, Fts5Context* context, int phrase, double dilution) {
  Fts5PhraseIter iterator;
  int column = -1;
  double missing = 1;
  if (api->xPhraseFirstColumn(context, phrase, &iterator, &column) != SQLITE_OK) return 0;
  while (column >= 0) {
    const double tells = kTells[static_cast<size_t>(column)];
    missing *= 1 - (column >= kNotes ? tells * dilution : tells);
    api->xPhraseNextColumn(context, &iterator, &column);
  }
  return 1 - missing;
}

void rank_row(const Fts5ExtensionApi* api, Fts5Context* context, sqlite3_context* result, int, sqlite3_value**) {
  Asked& asked = *static_cast<Asked*>(api->xUserData(context));
  const double lines = static_cast<double>(lines_of(api->xRowid(context)));
  const double dilution = kLongTells + (1 - kLongTells) * std::min(1.0, kShortChunk / lines);
  std::fill(asked.holds.begin(), asked.holds.end(), 0.0);
  for (size_t phrase = 0; phrase < asked.uses.size(); ++phrase) {
    const double tells = told(api, context, static_cast<int>(phrase), dilution);
    if (tells == 0) continue;
    for (const Use& use : asked.uses[phrase])
      asked.holds[use.concept_number] = std::max(asked.holds[use.concept_number], tells * use.weight);
  }
  double sum = 0, covered = 0;
  asked.found = 0;
  for (size_t i = 0; i < asked.holds.size(); ++i) {
    if (asked.holds[i] == 0) continue;
    asked.found |= uint32_t{1} << i;
    sum += asked.weights[i] * asked.holds[i];
    if (!asked.extra[i]) covered += asked.weights[i];
  }
  sqlite3_result_double(result, asked.all > 0 ? sum * std::pow(covered / asked.all, kCoverage) : sum);
}

// Every word quoted, so that none is an operator.
std::string match_text(const Question& question, Asked& asked) {
  std::string out;
  std::unordered_map<std::string, size_t> phrases;
  for (size_t i = 0; i < question.concepts.size(); ++i) {
    for (const Alternative& word : question.concepts[i].words) {
      const auto [known, is_new] = phrases.emplace(word.word, phrases.size());
      if (is_new) {
        out += fmt::format("{}\"{}\"", out.empty() ? "" : " OR ", word.word);
        asked.uses.emplace_back();
      }
      asked.uses[known->second].push_back({i, word.weight});
    }
  }
  return out;
}

struct Candidate {
  double best = 0;
  uint32_t concepts = 0, all_concepts = 0;
  std::array<std::pair<double, int64_t>, kBestChunks> chunks = {};
};

void take_chunk(Candidate& candidate, double score, int64_t chunk, uint32_t found) {
  candidate.all_concepts |= found;
  if (score > candidate.best) {
    candidate.best = score;
    candidate.concepts = found;
  }
  auto& chunks = candidate.chunks;
  if (score <= chunks.back().first) return;
  chunks.back() = {score, chunk};
  std::sort(chunks.begin(), chunks.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
}

double share(const Asked& asked, uint32_t concepts) {
  double sum = 0;
  for (; concepts != 0; concepts &= concepts - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(concepts));
    if (!asked.extra[i]) sum += asked.weights[i];
  }
  return asked.all > 0 ? sum / asked.all : 0;
}

}  // namespace

struct Ranker::State {
  store::Database* database;
  Asked asked;
};

Ranker::Ranker(std::unique_ptr<State> state) : state_(std::move(state)) {}
Ranker::Ranker(Ranker&&) noexcept = default;
Ranker::~Ranker() = default;

Result<Ranker> Ranker::make(store::Database& database) {
  auto state = std::make_unique<State>();
  state->database = &database;
  fts5_api* api = nullptr;
  SOLSTICE_TRY(auto query, database.prepare("SELECT fts5(?)"));
  SOLSTICE_TRY(const bool row, query.bind_pointer(&api, "fts5_api_ptr").step());
  if (!row || !api || api->xCreateFunction(api, "code_rank", &state->asked, rank_row, nullptr) != SQLITE_OK)
    return fail(Code::internal, "SQLite has no full text (FTS5)");
  return Ranker(std::move(state));
}

Result<std::vector<RankedFile>> Ranker::rank(const Question& question, const FileWeights& weights, size_t limit) {
  Asked& asked = state_->asked;
  asked = {};
  const std::string match = match_text(question, asked);
  for (const Concept& one : question.concepts) {
    asked.weights.push_back(one.weight);
    asked.extra.push_back(one.extra);
    asked.all += one.extra ? 0 : one.weight;
  }
  asked.holds.resize(question.concepts.size());
  if (match.empty()) return std::vector<RankedFile>();
  SOLSTICE_TRY(auto query, state_->database->prepare(
                               "SELECT rowid, code_rank(chunk_words) FROM chunk_words WHERE chunk_words MATCH ?"));
  query.bind(match);
  std::vector<Candidate> candidates(weights.of.size());
  for (;;) {
    SOLSTICE_TRY(const bool row, query.step());
    if (!row) break;
    const int64_t chunk = query.integer(0);
    const auto file = static_cast<size_t>(file_of(chunk));
    if (file < candidates.size() && weights.of[file] > 0)
      take_chunk(candidates[file], query.real(1), chunk, asked.found);
  }
  std::vector<RankedFile> out;
  for (size_t file = 0; file < candidates.size(); ++file) {
    const Candidate& candidate = candidates[file];
    if (candidate.best <= 0) continue;
    const double besides = share(asked, candidate.all_concepts) - share(asked, candidate.concepts);
    RankedFile ranked{.file = static_cast<int64_t>(file),
                      .score = candidate.best * (1 + kOtherChunks * besides) * weights.of[file],
                      .chunks = {},
                      .concepts = candidate.concepts};
    for (const auto& [score, chunk] : candidate.chunks) {
      if (score > 0) ranked.chunks.push_back(chunk);
    }
    out.push_back(std::move(ranked));
  }
  const auto better = [](const RankedFile& a, const RankedFile& b) {
    return a.score != b.score ? a.score > b.score : a.file < b.file;
  };
  const size_t kept = std::min(limit, out.size());
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(kept), out.end(), better);
  out.resize(kept);
  return out;
}

}  // namespace solstice::codesearch
