#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/clock.h"
#include "base/counted.h"
#include "cli/harmless.h"
#include "cli/view/table.h"

namespace solstice::cli {
namespace {

std::string trial_text(const TrialNews& news) {
  std::string text = fmt::format("trial {}: {}", news.number, news.verdict);
  // A predicted trial's verdict says so already.
  if (news.time) text += " " + show(*news.time, news.predicted && news.verdict != "predicted");
  return text + ", " + news.what;
}

std::string stage_text(std::string_view name, std::string_view detail) {
  return detail.empty() ? std::string(name) : fmt::format("{}: {}", name, detail);
}

class PlainProgress final : public Progress {
 public:
  explicit PlainProgress(std::FILE* out) : out_(out), start_(monotonic_now()) {}

  void stage_started(std::string_view name, std::string_view detail) override {
    best_.reset();
    line(stage_text(name, detail));
  }
  void stage_finished(std::string_view name, std::string_view detail, Seconds took) override {
    line(fmt::format("{} ({})", stage_text(fmt::format("{} done", name), detail), show(took)));
  }
  void trial_finished(const TrialNews& news, const Standing& standing) override {
    line(trial_text(news));
    standing_changed(standing);
  }
  // A log wants news, not a clock: printed only when the best changed.
  void standing_changed(const Standing& standing) override {
    if (!standing.best || (best_ && *best_ <= *standing.best)) return;
    best_ = standing.best;
    line(standing_text(standing));
  }
  // The next lines may belong to another problem.
  void message(std::string_view text) override {
    best_.reset();
    line(text);
  }

 private:
  void line(std::string_view text) {
    fmt::print(out_, "[{:7.1f} s] {}\n", (monotonic_now() - start_).value, harmless_lines(text));
    std::fflush(out_);
  }

  std::FILE* out_;
  Seconds start_;
  std::optional<Seconds> best_;
};

// Finished stages stay on screen; the last line lives.
class TerminalProgress final : public Progress {
 public:
  TerminalProgress(std::FILE* out, int width) : out_(out), width_(static_cast<size_t>(std::max(width, 20))) {}
  ~TerminalProgress() override { clear(); }

  void stage_started(std::string_view name, std::string_view detail) override {
    stage_ = stage_text(name, detail);
    live(stage_);
  }
  void stage_finished(std::string_view name, std::string_view detail, Seconds took) override {
    stage_.clear();
    clear();
    fmt::print(out_, "  {:<12} {}  ({})\n", name, clip(harmless(detail), width_ - std::min<size_t>(width_, 28)),
               show(took));
    std::fflush(out_);
  }
  void trial_finished(const TrialNews& news, const Standing& standing) override {
    last_ = harmless(news.what);
    standing_changed(standing);
  }
  void standing_changed(const Standing& standing) override {
    live(last_.empty() ? standing_text(standing) : fmt::format("{} | {}", standing_text(standing), last_));
  }
  void message(std::string_view text) override {
    clear();
    fmt::print(out_, "  {}\n", harmless_lines(text));
    if (!stage_.empty()) live(stage_);
  }

 private:
  void live(std::string_view text) {
    fmt::print(out_, "\r\x1b[K  {}", clip(text, width_ - 3));
    std::fflush(out_);
    shown_ = true;
  }
  void clear() {
    if (shown_) fmt::print(out_, "\r\x1b[K");
    std::fflush(out_);
    shown_ = false;
  }

  std::FILE* out_;
  size_t width_;
  std::string stage_, last_;
  bool shown_ = false;
};

}  // namespace

std::string standing_text(const Standing& s) {
  std::vector<std::string> parts;
  parts.push_back(s.trials_allowed ? fmt::format("{}/{} trials", s.trials, *s.trials_allowed)
                                   : counted(s.trials, "trial"));
  if (s.best) {
    std::string best = "best " + show(*s.best, s.predicted);
    if (s.speedup()) best += fmt::format(" ({})", show_factor(*s.speedup()));
    parts.push_back(best);
  }
  if (s.headroom()) parts.push_back(fmt::format("{} of SOL", show_factor(*s.headroom())));
  if (s.left) parts.push_back(fmt::format("{:.0f} s left", std::max(0.0, s.left->value)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::unique_ptr<Progress> plain_progress(std::FILE* out) { return std::make_unique<PlainProgress>(out); }

std::unique_ptr<Progress> terminal_progress(std::FILE* out, int width) {
  return std::make_unique<TerminalProgress>(out, width);
}

Parameter quiet_flag() { return {"--quiet", "", "print the result alone, no progress", "", {}, false, false}; }

std::unique_ptr<Progress> progress_of(const Invocation& in) {
  return in.flag("--quiet") ? std::make_unique<SilentProgress>() : progress_for(stderr);
}

std::unique_ptr<Progress> progress_for(std::FILE* out) {
  const char* term = std::getenv("TERM");
  const bool capable = ::isatty(::fileno(out)) && term && std::string_view(term) != "dumb";
  if (!capable) return plain_progress(out);
  winsize size{};
  const bool known = ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return terminal_progress(out, known ? size.ws_col : 80);
}

}  // namespace solstice::cli
