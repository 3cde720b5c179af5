#include "base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice {
namespace {

struct Position {
  int line = 1;
  int column = 1;
  std::string_view text;  // the whole line
};

Position position_of(std::string_view source, int offset) {
  const size_t at = std::min(static_cast<size_t>(std::max(offset, 0)), source.size());
  Position p;
  p.line = 1 + static_cast<int>(std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  const size_t start = at == 0 ? 0 : source.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const size_t end = std::min(source.find('\n', at), source.size());
  p.column = static_cast<int>(at - start) + 1;
  p.text = source.substr(start, end - start);
  return p;
}

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

std::string excerpt(std::string_view source, Span span) {
  const Position p = position_of(source, span.begin);
  const int room = std::max(1, static_cast<int>(p.text.size()) - p.column + 1);
  const int width = std::clamp(span.end - span.begin, 1, room);
  return fmt::format("  {} | {}\n  {} | {}{}\n", p.line, p.text, std::string(std::to_string(p.line).size(), ' '),
                     std::string(static_cast<size_t>(p.column - 1), ' '), std::string(static_cast<size_t>(width), '^'));
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

Json span_json(std::string_view source, Span span) {
  const Position p = position_of(source, span.begin);
  return Json::object().set("begin", span.begin).set("end", span.end).set("line", p.line).set("column", p.column);
}

}  // namespace

Diagnostic& Diagnostics::error(std::string code, Span span, std::string message, std::string hint) {
  all_.push_back({std::move(code), Severity::kError, std::move(message), span, {}, std::move(hint), ""});
  return all_.back();
}

Diagnostic& Diagnostics::warning(std::string code, Span span, std::string message, std::string hint) {
  all_.push_back({std::move(code), Severity::kWarning, std::move(message), span, {}, std::move(hint), ""});
  return all_.back();
}

bool Diagnostics::has_errors() const {
  return std::any_of(all_.begin(), all_.end(), [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::string render_text(const Diagnostics& diagnostics, std::string_view source, std::string_view file) {
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) {
    const Position p = position_of(source, d.span.begin);
    out += fmt::format("{}:{}:{}: {}[{}]: {}\n", file, p.line, p.column, severity_name(d.severity), d.code, d.message);
    out += excerpt(source, d.span);
    for (const Label& label : d.labels) {
      const Position q = position_of(source, label.span.begin);
      out += fmt::format("{}:{}:{}: note: {}\n{}", file, q.line, q.column, label.message, excerpt(source, label.span));
    }
    if (!d.hint.empty()) out += fmt::format("  hint: {}\n", d.hint);
  }
  return out;
}

Json render_json(const Diagnostics& diagnostics, std::string_view source, std::string_view file) {
  Json out = Json::array();
  for (const Diagnostic& d : diagnostics.all()) {
    Json entry = Json::object();
    entry.set("code", d.code).set("severity", severity_name(d.severity)).set("file", file);
    entry.set("message", d.message).set("span", span_json(source, d.span));
    Json labels = Json::array();
    for (const Label& label : d.labels) {
      labels.push(Json::object().set("message", label.message).set("span", span_json(source, label.span)));
    }
    entry.set("labels", labels).set("hint", d.hint);
    if (!d.fix.empty()) entry.set("fix", d.fix);
    out.push(entry);
  }
  return out;
}

std::string closest(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, name.size() / 3) + 1;
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
