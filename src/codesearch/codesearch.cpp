#include "codesearch/codesearch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/file.h"
#include "base/paths.h"
#include "codesearch/excerpt.h"
#include "codesearch/index_file.h"
#include "codesearch/lexicon.h"
#include "codesearch/lines.h"
#include "codesearch/priors.h"
#include "codesearch/rank.h"
#include "codesearch/refresh.h"

namespace solstice::codesearch {

struct CodeIndex::State {
  Options options;
  std::optional<IndexFile> index;
  std::optional<Ranker> ranker;
  Lexicon lexicon;
  std::map<std::string, IndexedFile> files;   // by path
  std::vector<const IndexedFile*> by_number;  // null: no more
};

namespace {

constexpr int kAround = 20;       // lines before and behind a line that is asked for alone
constexpr size_t kCompared = 40;  // files behind those that are asked for that may still come before them
constexpr size_t kMostMeant = 3;  // paths that are named for one that is not there

Result<std::string> text_of(IndexFile& index, const IndexedFile& file) {
  return file.file.empty() ? index.text(file.number) : read_file(file.file);
}

struct Lines {
  int first = 0, last = 0;
  std::string title;
};

Result<Lines> place_of(IndexFile& index, int64_t chunk) {
  SOLSTICE_TRY(auto query, index.database().prepare("SELECT first, last, title FROM chunks WHERE number = ?"));
  SOLSTICE_TRY(const bool row, query.bind(chunk).step());
  if (!row) return fail(Code::store_error, fmt::format("the code index lacks chunk {}", chunk), kCodeIndex.damaged);
  return Lines{static_cast<int>(query.integer(0)), static_cast<int>(query.integer(1)), query.text(2)};
}

// A word of the question in a path's own prior: code for another architecture is wanted where it is named.
FileWeights weights_of(const std::vector<const IndexedFile*>& files, const Priors& priors) {
  FileWeights out;
  for (const IndexedFile* file : files) out.of.push_back(file ? priors.of(file->path) : 0);
  return out;
}

size_t size_of(const Hit& hit) {
  size_t size = hit.path.size() + hit.title.size() + hit.about.size();
  for (const CodeLine& line : hit.lines) size += line.text.size() + 1;
  return size;
}

// Paths of the index that end like this one, or hold its file's name.
std::vector<std::string> meant(const std::map<std::string, IndexedFile>& files, std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  std::vector<std::string> out;
  for (const auto& [known, file] : files) {
    if (out.size() < kMostMeant && !name.empty() && known.ends_with("/" + std::string(name))) out.push_back(known);
  }
  for (const auto& [known, file] : files) {
    if (out.empty() && name.size() > 3 && known.find(name) != std::string::npos) out.push_back(known);
  }
  return out;
}

std::optional<int> number_in(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

}  // namespace

Result<Place> parse_place(std::string_view text) {
  Place out;
  const size_t colon = text.rfind(':');
  out.path = std::string(text.substr(0, colon));
  const auto wrong = [&](const char* what) {
    return fail(Code::bad_argument, fmt::format("`{}`: {}", text, what),
                "PATH:FROM-TO as `solstice code search` prints it: kernels/copy/tma.h:1-40");
  };
  if (out.path.empty()) return wrong("no path");
  if (colon == std::string_view::npos) return out;
  const std::string_view range = text.substr(colon + 1);
  const size_t dash = range.find('-');
  const std::optional<int> first = number_in(range.substr(0, dash));
  if (!first) return wrong("lines are numbers from 1");
  out.first = *first;
  if (dash == std::string_view::npos) return out;
  const std::optional<int> last = number_in(range.substr(dash + 1));
  if (!last) return wrong("lines are numbers from 1");
  if (*last < *first) return wrong("the range ends before it begins");
  out.last = *last;
  return out;
}

CodeIndex::CodeIndex(std::unique_ptr<State> state) : state_(std::move(state)) {}
CodeIndex::CodeIndex(CodeIndex&&) noexcept = default;
CodeIndex& CodeIndex::operator=(CodeIndex&&) noexcept = default;
CodeIndex::~CodeIndex() = default;

Status CodeIndex::load(State& state, bool anew) {
  state.ranker.reset();
  state.index.reset();
  SOLSTICE_TRY(IndexFile index, refreshed_index({.roots = state.options.roots,
                                                 .folder = state.options.folder,
                                                 .store = state.options.store,
                                                 .say = state.options.say,
                                                 .anew = anew}));
  state.index.emplace(std::move(index));
  SOLSTICE_TRY(state.files, state.index->files());
  state.by_number.clear();
  for (const auto& [path, file] : state.files) {
    const auto number = static_cast<size_t>(file.number);
    if (state.by_number.size() <= number) state.by_number.resize(number + 1, nullptr);
    state.by_number[number] = &file;
  }
  SOLSTICE_TRY(state.lexicon, lexicon_of(state.index->database(), static_cast<int64_t>(state.files.size())));
  SOLSTICE_TRY(Ranker ranker, Ranker::make(state.index->database()));
  state.ranker.emplace(std::move(ranker));
  return success();
}

Result<CodeIndex> CodeIndex::open(Options options) {
  auto state = std::make_unique<State>();
  if (options.roots.empty()) {
    SOLSTICE_TRY(options.roots, installed_roots());
  }
  if (options.folder.empty()) {
    SOLSTICE_TRY(const std::filesystem::path cache, cache_folder());
    options.folder = cache / "codesearch";
  }
  state->options = std::move(options);
  SOLSTICE_CHECK(load(*state, false));
  return CodeIndex(std::move(state));
}

Result<Answer> CodeIndex::search(std::string_view question, const SearchLimits& limits) {
  Result<Answer> answer = look_up(question, limits);
  if (answer.ok() || answer.error().code != Code::store_error) return answer;
  if (state_->options.say) state_->options.say(answer.error().message + ": it is built again");
  SOLSTICE_CHECK(load(*state_, true));
  return look_up(question, limits);
}

// Names are compared among the best files alone.
Status CodeIndex::prefer_plain(State& state, const Priors& priors, std::vector<RankedFile>& ranked) {
  for (RankedFile& one : ranked) {
    SOLSTICE_TRY(const Lines at, place_of(*state.index, one.chunks.front()));
    one.score *= priors.plainness(state.by_number[static_cast<size_t>(one.file)]->path, at.title);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  return success();
}

Result<Answer> CodeIndex::look_up(std::string_view question, const SearchLimits& limits) {
  State& state = *state_;
  SOLSTICE_TRY(const Question understood, understand(question, state.lexicon));
  const Priors priors(question, understood);
  SOLSTICE_TRY(std::vector<RankedFile> ranked,
               state.ranker->rank(understood, weights_of(state.by_number, priors), limits.hits + kCompared));
  SOLSTICE_CHECK(prefer_plain(state, priors, ranked));
  if (ranked.size() > limits.hits) ranked.resize(limits.hits);
  Answer out;
  out.unknown = understood.unknown;
  size_t characters = 0;
  for (const RankedFile& one : ranked) {
    const IndexedFile& file = *state.by_number[static_cast<size_t>(one.file)];
    SOLSTICE_TRY(const Lines at, place_of(*state.index, one.chunks.front()));
    SOLSTICE_TRY(const std::string text, text_of(*state.index, file));
    Excerpt best = excerpt(text, at.first, at.last, file.path, understood, limits.lines);
    Hit hit{.path = file.path,
            .first = at.first,
            .last = at.last,
            .title = at.title,
            .lines = std::move(best.lines),
            .why = std::move(best.why),
            .lacks = std::move(best.lacks),
            .about = file.about,
            .score = one.score};
    characters += size_of(hit);
    if (characters > limits.characters) {
      out.cut = true;
      break;
    }
    out.hits.push_back(std::move(hit));
  }
  return out;
}

Result<Passage> CodeIndex::read(const Place& place, const ReadLimits& limits) {
  State& state = *state_;
  const auto known = state.files.find(place.path);
  if (known == state.files.end()) {
    const std::vector<std::string> near = meant(state.files, place.path);
    return fail(Code::not_found, fmt::format("`{}` is no file of the code index", place.path),
                near.empty() ? "`solstice code search` prints the paths that there are"
                             : fmt::format("did you mean {}?", fmt::join(near, ", ")));
  }
  SOLSTICE_TRY(const std::string text, text_of(*state.index, known->second));
  const std::vector<std::string_view> lines = split_lines(text);
  const int count = static_cast<int>(lines.size());
  if (place.first > count) {
    return fail(Code::bad_argument, fmt::format("{} has {} lines; there is no line {}", place.path, count, place.first),
                fmt::format("{}:1-{} is all of it", place.path, count));
  }
  Passage out{.path = place.path,
              .first = std::max(1, place.first),
              .last = 0,
              .of = count,
              .lines = {},
              .about = known->second.about};
  int last = count;
  if (place.last > 0) last = std::min(place.last, count);
  if (place.last == 0 && place.first > 0) {
    out.first = std::max(1, place.first - kAround);
    last = std::min(count, place.first + kAround);
  }
  size_t characters = 0;
  for (int i = out.first; i <= last; ++i) {
    const std::string_view line = lines[static_cast<size_t>(i - 1)];
    characters += line.size() + 1;
    out.cut = out.lines.size() == limits.lines || (characters > limits.characters && !out.lines.empty());
    if (out.cut) break;
    out.lines.push_back({i, std::string(line)});
    out.last = i;
  }
  return out;
}

}  // namespace solstice::codesearch
