#include "cli/view/run_tree.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/counted.h"
#include "cli/harmless.h"
#include "cli/view/table.h"
#include "search/counts.h"

namespace solstice::cli {
namespace {

constexpr size_t kDeepest = 16;  // levels that are drawn; further up is only hinted at

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

// Clipped between characters.
std::string fitted(std::string_view text, size_t width) {
  if (width_of(text) <= width) return std::string(text);
  size_t end = 0, seen = 0;
  const size_t kept = width > 3 ? width - 3 : 0;
  while (end < text.size() && (seen < kept || !begins_character(text[end]))) seen += begins_character(text[end++]);
  return std::string(text.substr(0, end)) + "...";
}

std::string padded(std::string text, size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

struct Line {
  std::string mark, name, state, time, factor, move;
};

class Drawing {
 public:
  Drawing(const RunView& view, const TreeLook& look) : view_(view), look_(look), shown_(view.tree.nodes().size()) {
    // Children come after their parents.
    for (size_t i = shown_.size(); i-- > 0;) {
      const search::Node& node = view.tree.nodes()[i];
      const bool wanted = !look.only_usable || node.usable() || (!node.measurement && !node.lost);
      if (!shown_[i]) shown_[i] = wanted || i == 0;
      if (shown_[i] && i > 0) shown_[static_cast<size_t>(node.proposal.parent)] = true;
    }
  }

  std::vector<Line> lines() {
    draw(0);
    return std::move(lines_);
  }
  int hidden() const { return static_cast<int>(std::count(shown_.begin(), shown_.end(), false)); }

 private:
  // Without recursion: a tree may be as deep as a run is long.
  void draw(int root) {
    struct Step {
      int node;
      std::vector<bool> last;  // of each level above: nothing follows there
    };
    std::vector<Step> stack = {{root, {}}};
    while (!stack.empty()) {
      const Step step = std::move(stack.back());
      stack.pop_back();
      const search::Node& node = view_.tree.node(step.node);
      std::vector<int> children;
      for (int child : node.children) {
        if (shown_[static_cast<size_t>(child)]) children.push_back(child);
      }
      const bool cut = look_.depth && node.depth >= *look_.depth && !children.empty();
      lines_.push_back(line_of(node, indent(step.last)));
      if (cut) lines_.back().move += fmt::format(" [+{} below]", below(node.id));
      if (cut) continue;
      for (size_t i = children.size(); i-- > 0;) {
        stack.push_back({children[i], step.last});
        stack.back().last.push_back(i + 1 == children.size());
      }
    }
  }

  int below(int id) const {
    int count = 0;
    for (std::vector<int> open = {id}; !open.empty();) {
      const search::Node& node = view_.tree.node(open.back());
      open.pop_back();
      for (int child : node.children) {
        if (!shown_[static_cast<size_t>(child)]) continue;
        ++count;
        open.push_back(child);
      }
    }
    return count;
  }

  std::string indent(const std::vector<bool>& last) const {
    const size_t first = last.size() > kDeepest ? last.size() - kDeepest : 0;
    std::string out = first ? fmt::format("({}) ", last.size()) : "";
    for (size_t i = first; i < last.size(); ++i) {
      const bool own = i + 1 == last.size();
      if (look_.lines) out += own ? (last[i] ? "└─" : "├─") : (last[i] ? "  " : "│ ");
      if (!look_.lines) out += own ? (last[i] ? "`-" : "|-") : (last[i] ? "  " : "| ");
    }
    return out;
  }

  Line line_of(const search::Node& node, std::string indent) const {
    const bool best = &node == view_.tree.best();
    Line line{.mark = best                                          ? "*"
                      : view_.on_path[static_cast<size_t>(node.id)] ? "+"
                                                                    : " ",
              .name = {},
              .state = {},
              .time = "-",
              .factor = "-",
              .move = {}};
    line.name = indent + std::to_string(node.id);
    line.state = view_.state_text(node);
    if (node.usable() && node.measurement->time.value > 0) line.time = show(node.measurement->time);
    if (const std::optional<double> factor = view_.factor(node)) line.factor = show_factor(*factor);
    std::string flags;
    if (node.measurement && node.in_flight)
      flags += view_.run.state == RunState::kRunning ? "[in flight again] " : "[unfinished again] ";
    if (node.measurement && node.lost) flags += "[lost again] ";
    if (node.spent && node.id > 0) flags += node.given_up ? "[nothing left] " : "[spent] ";
    line.move = flags + harmless(node.id == 0 ? view_.run.problem : node.proposal.reason);
    if (node.failed() && !node.measurement->detail.empty()) line.move += ": " + harmless(node.measurement->detail);
    return line;
  }

  const RunView& view_;
  const TreeLook& look_;
  std::vector<bool> shown_;
  std::vector<Line> lines_;
};

std::string heading(const RunView& view) {
  const search::Node* best = view.tree.best();
  const TrialCounts counts = search::counts_of(view.tree);
  std::string out =
      fmt::format("{}, run {}: {} by {}", harmless(view.run.problem), view.run.id, counted(counts.done, "trial"),
                  view.run.policy.empty() ? "an unknown policy" : harmless(view.run.policy));
  if (counts.without_result) out += fmt::format(", {} more without a result", counts.without_result);
  if (counts.skipped) out += fmt::format(", {} not tried", counts.skipped);
  if (!best) return out + ", none usable\n";
  out += fmt::format(", best {} ({}{}", best->id, view.state_text(*best) == "predicted" ? "predicted " : "",
                     show(best->measurement->time));
  const std::optional<double> factor = view.factor(*best);
  return out +
         (factor ? fmt::format(", {} of the original)\n", show_factor(*factor)) : "; the original was not timed)\n");
}

std::string legend(const RunView& view, int hidden) {
  std::string out = view.tree.best() ? "* best, + its ancestors" : "";
  const auto& nodes = view.tree.nodes();
  const auto any = [&](bool given_up) {
    return std::any_of(nodes.begin() + 1, nodes.end(),
                       [&](const auto& n) { return n.spent && n.given_up.has_value() == given_up; });
  };
  if (any(false)) out += std::string(out.empty() ? "" : "; ") + "[spent]: no further moves";
  if (any(true)) out += std::string(out.empty() ? "" : "; ") + "[nothing left]: the language model has no further idea";
  if (hidden)
    out += fmt::format("{}{} without a result that can be used are not shown", out.empty() ? "" : "; ", hidden);
  return out.empty() ? "" : out + "\n";
}

}  // namespace

TreeLook look_for(std::FILE* out) {
  TreeLook look;
  const auto text_of = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value ? value : "");
  };
  if (!::isatty(::fileno(out))) return look;
  winsize size{};
  const bool known = ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  look.width = known ? size.ws_col : 80;
  // In the order in which the C library chooses its locale.
  std::string_view locale = text_of("LC_ALL");
  if (locale.empty()) locale = text_of("LC_CTYPE");
  if (locale.empty()) locale = text_of("LANG");
  const bool utf8 = locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
  look.lines = utf8 && text_of("TERM") != "dumb" && !text_of("TERM").empty();
  return look;
}

std::string tree_text(const RunView& view, const TreeLook& look) {
  Drawing drawing(view, look);
  std::vector<Line> lines = drawing.lines();
  lines.insert(lines.begin(), Line{" ", "node", "state", "time", "factor", "move"});
  size_t name = 0, state = 0, time = 0, factor = 0;
  for (const Line& line : lines) {
    name = std::max(name, width_of(line.name));
    state = std::max(state, width_of(line.state));
    time = std::max(time, width_of(line.time));
    factor = std::max(factor, width_of(line.factor));
  }
  std::string out = heading(view) + "\n";
  for (const Line& line : lines) {
    std::string text = fmt::format("{} {}  {}  {:>{}}  {:>{}}  {}", line.mark, padded(line.name, name),
                                   padded(line.state, state), line.time, time, line.factor, factor, line.move);
    text = fitted(text, look.width);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  const std::string below = legend(view, drawing.hidden());
  return below.empty() ? out : out + "\n" + below;
}

}  // namespace solstice::cli
