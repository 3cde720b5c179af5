#include "base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>

namespace solstice {
namespace {

struct Position {
  int line = 1;
  int column = 1;
  std::string_view text;  // the whole line
};

class Lines {
 public:
  explicit Lines(std::string_view source) : source_(source) {
    for (size_t at = source.find('\n'); at != std::string_view::npos; at = source.find('\n', at + 1))
      starts_.push_back(at + 1);
  }

  // Of a line from 1: its first byte, and the byte after its last; none where there is no such line.
  std::optional<Span> line(int number) const {
    if (number < 1 || static_cast<size_t>(number) > starts_.size()) return std::nullopt;
    const size_t begin = starts_[static_cast<size_t>(number) - 1];
    const size_t end = std::min(source_.find('\n', begin), source_.size());
    return Span{static_cast<int>(begin), static_cast<int>(end)};
  }

  Position at(int offset) const {
    const size_t at = std::min(static_cast<size_t>(std::max(offset, 0)), source_.size());
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), at);
    const size_t start = *std::prev(next);
    const size_t end = next == starts_.end() ? source_.size() : *next - 1;
    return {static_cast<int>(next - starts_.begin()), static_cast<int>(at - start) + 1,
            source_.substr(start, end - start)};
  }

 private:
  std::string_view source_;
  std::vector<size_t> starts_ = {0};
};

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

bool is_control(unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; }

std::string excerpt(const Lines& lines, Span span) {
  constexpr size_t kWidest = 240, kBefore = 80;  // of a longer line: what stands around the place
  const Position p = lines.at(span.begin);
  const size_t column = static_cast<size_t>(p.column - 1);
  const size_t from = p.text.size() > kWidest && column > kBefore ? column - kBefore : 0;
  std::string text(p.text.substr(from, kWidest));
  const bool is_text =
      std::none_of(p.text.begin(), p.text.end(), [](unsigned char c) { return c != '\r' && is_control(c); });
  std::replace_if(
      text.begin(), text.end(), [&](unsigned char c) { return is_control(c) || (!is_text && c >= 0x80); },
      '?');  // a terminal obeys them
  const size_t room = std::max<size_t>(1, text.size() - std::min(text.size(), column - from));
  const size_t width = std::clamp<size_t>(static_cast<size_t>(std::max(span.end - span.begin, 1)), 1, room);
  const char* const head = from > 0 ? "..." : "";
  return fmt::format("  {} | {}{}{}\n  {} | {}{}\n", p.line, head, text,
                     from + text.size() < p.text.size() ? "..." : "", std::string(std::to_string(p.line).size(), ' '),
                     std::string(column - from + std::strlen(head), ' '), std::string(width, '^'));
}

// Letters that are added, left out, changed, or swapped with the next.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> above2, above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitute});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], above2[j - 2] + 1);
    }
    above2 = above;
    std::swap(above, row);
  }
  return above[b.size()];
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_name(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_word); }

// Where `name` stands in `text` as a whole word, npos where it does not.
size_t find_word(std::string_view text, std::string_view name) {
  const bool whole = is_name(name);
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool joined = (at > 0 && is_word(text[at - 1])) || (end < text.size() && is_word(text[end]));
    if (!whole || !joined) return at;
  }
  return std::string_view::npos;
}

// Of `a=1, b=2` the first that stands in `text`.
std::optional<std::pair<size_t, size_t>> find_part(std::string_view text, std::string_view quoted) {
  constexpr std::string_view kSeparator = ", ";
  for (size_t begin = 0; begin < quoted.size();) {
    const size_t end = std::min(quoted.find(kSeparator, begin), quoted.size());
    const std::string_view part = quoted.substr(begin, end - begin);
    if (const size_t at = find_word(text, part); at != std::string_view::npos) return std::pair(at, part.size());
    begin = end + kSeparator.size();
  }
  return std::nullopt;
}

// The first name in backticks, or knob of a list, that stands within the span; an expression that does not stand there
// ends the search.
Span narrowed(Span span, std::string_view message, std::string_view source) {
  const size_t begin = std::min(static_cast<size_t>(std::max(span.begin, 0)), source.size());
  const size_t end = std::clamp(static_cast<size_t>(std::max(span.end, 0)), begin, source.size());
  const std::string_view text = source.substr(begin, end - begin);
  for (size_t open = message.find('`'); open != std::string_view::npos;) {
    const size_t close = message.find('`', open + 1);
    if (close == std::string_view::npos || close == open + 1) return span;
    const std::string_view quoted = message.substr(open + 1, close - open - 1);
    const bool is_list = quoted.find('=') != std::string_view::npos;
    const size_t whole = find_word(text, quoted);
    const auto found = whole != std::string_view::npos ? std::optional(std::pair(whole, quoted.size()))
                       : is_list                       ? find_part(text, quoted)
                                                       : std::nullopt;
    if (found) {
      const int first = static_cast<int>(begin + found->first);
      return {first, first + static_cast<int>(found->second)};
    }
    if (!is_name(quoted)) return span;
    open = message.find('`', close + 1);
  }
  return span;
}

// All, each under its own token, in the order of the text. A fix replaces the whole span.
std::vector<Diagnostic> shown(const Diagnostics& diagnostics, std::string_view source) {
  std::vector<Diagnostic> out = diagnostics.all();
  for (Diagnostic& d : out) {
    if (d.fix.empty()) d.span = narrowed(d.span, d.message, source);
    for (Label& label : d.labels) label.span = narrowed(label.span, label.message, source);
  }
  return out;
}

Json span_json(const Lines& lines, Span span) {
  const Position p = lines.at(span.begin);
  return Json::object().set("begin", span.begin).set("end", span.end).set("line", p.line).set("column", p.column);
}

}  // namespace

Diagnostic& Diagnostics::error(std::string code, Span span, std::string message, std::string hint) {
  return add({std::move(code), Severity::kError, std::move(message), span, {}, std::move(hint), ""});
}

Diagnostic& Diagnostics::warning(std::string code, Span span, std::string message, std::string hint) {
  return add({std::move(code), Severity::kWarning, std::move(message), span, {}, std::move(hint), ""});
}

Diagnostic& Diagnostics::add(Diagnostic diagnostic) {
  size_t& kept = kept_[static_cast<size_t>(diagnostic.severity)];
  if (kept == kMost) {
    ++omitted_;
    return lost_ = std::move(diagnostic);
  }
  ++kept;
  all_.push_back(std::move(diagnostic));
  return all_.back();
}

void Diagnostics::sort() {
  std::stable_sort(all_.begin(), all_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
}

bool Diagnostics::has_errors() const {
  return std::any_of(all_.begin(), all_.end(), [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::string render_text(const Diagnostics& diagnostics, std::string_view source, std::string_view file) {
  std::string out;
  const Lines lines(source);
  for (const Diagnostic& d : shown(diagnostics, source)) {
    const Position p = lines.at(d.span.begin);
    out += fmt::format("{}:{}:{}: {}[{}]: {}\n", file, p.line, p.column, severity_name(d.severity), d.code, d.message);
    out += excerpt(lines, d.span);
    for (const Label& label : d.labels) {
      const Position q = lines.at(label.span.begin);
      out += fmt::format("{}:{}:{}: note: {}\n{}", file, q.line, q.column, label.message, excerpt(lines, label.span));
    }
    if (!d.hint.empty()) out += fmt::format("  hint: {}\n", d.hint);
  }
  if (diagnostics.omitted() > 0) out += fmt::format("{}: and {} more\n", file, diagnostics.omitted());
  return out;
}

Json render_json(const Diagnostics& diagnostics, std::string_view source, std::string_view file) {
  Json out = Json::array();
  const Lines lines(source);
  const auto add = [&](const Diagnostic& d) {
    Json entry = Json::object();
    entry.set("code", d.code).set("severity", severity_name(d.severity)).set("file", file);
    entry.set("message", d.message).set("span", span_json(lines, d.span));
    Json labels = Json::array();
    for (const Label& label : d.labels) {
      labels.push(Json::object().set("message", label.message).set("span", span_json(lines, label.span)));
    }
    entry.set("labels", labels).set("hint", d.hint);
    if (!d.fix.empty()) entry.set("fix", d.fix);
    out.push(entry);
  };
  for (const Diagnostic& d : shown(diagnostics, source)) add(d);
  if (const size_t more = diagnostics.omitted(); more > 0)
    add({"N000", Severity::kNote, fmt::format("and {} more", more), {}, {}, "", ""});
  return out;
}

Error refusal(const Diagnostics& diagnostics, std::string_view source, std::string_view file) {
  const auto& all = diagnostics.all();
  const auto errors = static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [](const Diagnostic& d) { return d.severity == Severity::kError; }));
  Error out = fail(Code::program_invalid,
                   fmt::format("{} has {} mistake{}", file, errors + diagnostics.omitted(), errors == 1 ? "" : "s"));
  out.file = std::string(file);
  out.listing = render_text(diagnostics, source, file);
  while (out.listing.ends_with('\n')) out.listing.pop_back();
  return out;
}

std::string excerpt_at(std::string_view source, int line, int column, int width) {
  const Lines lines(source);
  const std::optional<Span> whole = lines.line(line);
  if (!whole) return "";
  const int at = std::min(whole->begin + column - 1, whole->end);
  if (column > 0) return excerpt(lines, {at, at + width});
  const std::string_view text =
      source.substr(static_cast<size_t>(whole->begin), static_cast<size_t>(whole->end - whole->begin));
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  const size_t last = text.find_last_not_of(" \t\r");
  return excerpt(lines, {whole->begin + static_cast<int>(first), whole->begin + static_cast<int>(last) + 1});
}

std::string instead_of(std::string_view name, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "there are none";
  const std::string near = closest(name, candidates);
  const std::string all = fmt::format("there are {}", fmt::join(candidates, ", "));
  return near.empty() ? all : fmt::format("did you mean `{}`? {}", near, all);
}

std::string closest(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 200;  // of a name that somebody typed
  if (name.size() > kLongest) return "";
  constexpr size_t kShort = 4;  // with two of its letters changed it is another word
  std::string best;
  size_t best_distance = (name.size() <= kShort ? 1 : std::max<size_t>(2, name.size() / 3)) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace solstice
