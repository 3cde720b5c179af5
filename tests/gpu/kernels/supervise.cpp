#include "gpu/kernels/supervise.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "base/paths.h"
#include "base/process/subprocess.h"

namespace solstice::random_kernels {
namespace {

constexpr int kContextLost = 4;
constexpr double kSilence = 180;  // seconds without an event: a compile may take 60, an interpretation too

std::string line_of(const char* what, const Item& item) {
  return fmt::format("{} {} {}\n", what, item.family, item.number);
}

void write_out(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

// One process's life.
class Shift {
 public:
  Shift(std::vector<Item>& left, std::vector<Verdict>& verdicts, const std::function<void(const Verdict&)>& done)
      : left_(left), verdicts_(verdicts), done_(done) {}

  // How it ended.
  Result<std::string> run(const std::vector<std::string>& argv) {
    SpawnOptions options;
    options.argv = argv;
    options.err = Pipe::kInherit;
    SOLSTICE_TRY(Subprocess child, Subprocess::spawn(options));
    std::string items;
    for (const Item& item : left_) items += line_of("item", item);
    SOLSTICE_CHECK(child.write(items, Deadline(Seconds(60))));
    child.close_input();
    while (true) {
      const auto line = child.read_line(Deadline(Seconds(kSilence)));
      if (!line.ok() && line.error().code == Code::deadline) {
        child.kill();
        return std::string(fmt::format("nothing happened for {} s", kSilence));
      }
      if (!line.ok()) break;
      SOLSTICE_CHECK(take(*line));
    }
    SOLSTICE_TRY(const ExitStatus status, child.wait(Deadline(Seconds(10))));
    if (status.code == kContextLost || status.ok()) begun_.clear(), device_.clear();  // who did it has been told
    return status.text();
  }

  // What was on the GPU, else all that had begun.
  std::vector<Item> suspects() const { return device_.empty() ? begun_ : device_; }

 private:
  Status take(const std::string& line) {
    std::istringstream in(line);
    std::string what;
    Item item;
    in >> what;
    if (what == "end") {
      SOLSTICE_TRY(const Json json, parse_json(line.substr(4)));
      SOLSTICE_TRY(Verdict verdict, from_json<Verdict>(json));
      item = {verdict.family, static_cast<uint64_t>(verdict.number)};
      for (auto* list : {&left_, &begun_, &device_}) std::erase(*list, item);
      done_(verdict);
      verdicts_.push_back(std::move(verdict));
      return success();
    }
    in >> item.family >> item.number;
    if (what == "begin") begun_.push_back(item);
    if (what == "gpu") device_ = {item};
    return success();
  }

  std::vector<Item>& left_;
  std::vector<Verdict>& verdicts_;
  const std::function<void(const Verdict&)>& done_;
  std::vector<Item> begun_, device_;
};

}  // namespace

Result<std::vector<Verdict>> supervise(const std::vector<Item>& items, const std::vector<std::string>& arguments,
                                       const std::function<std::string(const Item&)>& text_of,
                                       const std::function<void(const Verdict&)>& done) {
  SOLSTICE_TRY(const auto self, executable_path());
  std::vector<std::string> argv = {self.string(), "--child"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<Verdict> verdicts;
  std::vector<Item> left = items, alone;
  while (!left.empty() || !alone.empty()) {
    // Suspects run each in a process of its own, so that the one to blame is found.
    const bool single = !alone.empty();
    std::vector<Item> now = single ? std::vector<Item>{alone.back()} : std::move(left);
    if (single) alone.pop_back();
    const size_t before = now.size();
    Shift shift(now, verdicts, done);
    SOLSTICE_TRY(const std::string end, shift.run(argv));
    if (!single) left = std::move(now);
    const std::vector<Item> suspects = shift.suspects();
    if (!single && left.size() == before && suspects.empty())
      return fail(Code::process_failed, "the process that does the work " + end);
    if (suspects.size() == 1) {
      Verdict verdict;
      verdict.family = suspects[0].family;
      verdict.number = static_cast<int64_t>(suspects[0].number);
      verdict.outcome = Outcome::kCrashed;
      verdict.why = "the process " + end;
      verdict.text = text_of(suspects[0]);
      done(verdict);
      verdicts.push_back(std::move(verdict));
      std::erase(left, suspects[0]);
    } else if (!single) {
      for (const Item& item : suspects) std::erase(left, item), alone.push_back(item);
    }
  }
  std::sort(verdicts.begin(), verdicts.end(), [](const Verdict& a, const Verdict& b) {
    return std::tie(a.family, a.number) < std::tie(b.family, b.number);
  });
  return verdicts;
}

int serve_items(Work& work) {
  std::vector<Item> items;
  std::string what;
  for (Item item; std::cin >> what >> item.family >> item.number;) items.push_back(item);
  const Watcher watcher = {
      [](const Item& item) { write_out(line_of("begin", item)); },
      [](const Item& item) { write_out(line_of("gpu", item)); },
      [](const Verdict& verdict) { write_out(fmt::format("end {}\n", solstice::to_json(verdict).dump())); }};
  if (!work.run(items, watcher)) return 0;
  // Nothing that asks the lost context to clean up.
  std::fflush(nullptr);
  _exit(kContextLost);
}

}  // namespace solstice::random_kernels
