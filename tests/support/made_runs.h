// Runs that no GPU is needed for, with all that can become of a trial: what `solstice show --tree` and `--html` are
// tested with.
//
// - mixed: 19 trials: verified, failed in every way, rewritten, measured again, lost, late, in flight, spent, not tried
// - evil: text that looks like a page, a script, a terminal's commands or another encoding
// - large: 500 trials from a seed
// - deep: 40 trials, each derived from the one before
// - bare: no original, no bounds, nothing usable
// - partly: predicted without a GPU, then measured on one
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "record/diagnosis/finding.h"
#include "search/tree.h"
#include "store/store.h"

namespace solstice::testing {

using search::Measurement;
using search::Precision;
using search::Proposal;

inline std::string made_program(const std::string& knobs, const std::string& comment = "") {
  return fmt::format(
      "program made\ndim M = 4096, K = 1024, N = 2048\nparam w : f32[N, K]\ninput x : f32[M, K]\noutput y : f32[M, "
      "N]\n\n"
      "kernel up by gemm({}) {{\n  y[m,n] = gelu(sum[k](x[m,k] * w[n,k])){}\n}}\n",
      knobs, comment.empty() ? "" : "  # " + comment);
}

inline Measurement verified(double seconds, int samples = 8) {
  Measurement out;
  out.state = TrialState::kVerified;
  out.time = Seconds(seconds);
  out.cost = Seconds(0.8);
  out.noise = 0.004;
  Json list = Json::array();
  for (int i = 0; i < samples; ++i) list.push(seconds * (1 + 0.01 * ((i * 5) % 8 - 3.5) / 8));
  const Json output =
      Json::object().set("output", "y").set("outcome", "passed").set("normwise", 3.1e-7).set("elementwise", 2.2e-6);
  const Json first = Json::object()
                         .set("name", "seed 1, normal")
                         .set("pass", 0)
                         .set("outcome", "passed")
                         .set("outputs", Json::array().push(output));
  out.record = Json::object().set("meaning", "proved").set("seconds", list);
  out.record.set("verdict", Json::object().set("outcome", "passed").set("cases", Json::array().push(first)));
  return out;
}

// With a finding, all of whose texts are `text`.
inline Measurement diagnosed(Measurement measurement, const std::string& text, double gain = 1.3) {
  Finding finding;
  finding.tool = text;
  finding.severity = FindingSeverity::kHigh;
  finding.place.kernel = finding.place.equation = text;
  finding.cause = text;
  finding.evidence = {{text, 240000, text, text}};
  finding.actions = {{ActionKind::kKnobs, text, text, {{"stages", "4"}}, ""}};
  finding.gain = {gain, gain, text};
  finding.sources = {text};
  Json findings = measurement.record.at("findings");
  measurement.record.set("findings", findings.push(to_json(finding)));
  return measurement;
}

inline Measurement failed(TrialState state, const std::string& detail) {
  Measurement out;
  out.state = state;
  out.detail = detail;
  out.cost = Seconds(0.3);
  return out;
}

inline int add(search::Tree& tree, int parent, const std::string& reason, const std::string& knobs,
               double predicted = 0.001) {
  return tree
      .add({.program = made_program(knobs),
            .reason = reason,
            .predicted = Seconds(predicted),
            .parent = parent,
            .origin = "expert"})
      ->id;
}

inline void grow_mixed(search::Tree& tree) {
  const int first = add(tree, 0, "the cost models' first choice", "tile=128x256x64", 0.0011);
  tree.complete(first, verified(0.00125));
  const int second = add(tree, first, "kernel up: gemm(tile=128x128x64)", "tile=128x128x64", 0.0012);
  Measurement damaged = verified(0.0014);
  damaged.record.set("findings", Json::array().push(Json::object().set("tool", 3)));
  tree.complete(second, damaged);
  tree.complete(add(tree, first, "kernel up: gemm(tile=96x7x64)", "tile=96x7x64"),
                failed(TrialState::kIllegal, "tile: 7 is no multiple of 8"));
  const int stages = add(tree, first, "kernel up: gemm(stages=9)", "stages=9");
  tree.complete(stages, failed(TrialState::kNotCompiled, "shared memory: 245760 bytes of 232448\nin kernel up"));
  tree.complete(add(tree, second, "kernel up: gemm(split=3)", "split=3"),
                failed(TrialState::kWrong, "y: normwise 4.2e-2, limit 3.1e-6"));
  const int third =
      add(tree, second, "kernel up: gemm(tile=128x128x64, cluster=2x1)", "tile=128x128x64, cluster=2x1", 0.00105);
  tree.complete(third, verified(0.00098));
  tree.again(third, Precision::kPrecise);
  tree.complete(third, diagnosed(diagnosed(verified(0.00096, 32), "few stages"), "narrow stores", 1));
  tree.complete(add(tree, third, "kernel up: gemm(stages=4)", "stages=4"),
                failed(TrialState::kHung, "not done after 5 s"));
  tree.complete(add(tree, third, "kernel up: gemm(stages=3)", "stages=3"),
                failed(TrialState::kCrashed, "the GPU reported an illegal address"));
  const int rewritten = add(tree, 0, "rewritten: factor_sums", "tile=64x64x64");
  tree.complete(rewritten, verified(0.0031));
  tree.spend(rewritten);
  tree.lose(add(tree, second, "kernel up: gemm(schedule=pingpong)", "schedule=pingpong"));
  const int late = add(
      tree, third,
      "kernel up: gemm(cluster=4x1), a reason that is longer than any terminal that one would want to look at it in",
      "cluster=4x1");
  tree.lose(late);
  tree.complete(late, verified(0.00101));
  tree.again(first, Precision::kPrecise);
  tree.skip({.program = made_program("tile=256x256x64"), .reason = "no gain expected", .parent = third});
  const int again_lost = add(tree, late, "kernel up: gemm(cluster=4x2)", "cluster=4x2");
  tree.complete(again_lost, verified(0.0013));
  tree.again(again_lost, Precision::kUsual);
  tree.lose(again_lost);
  add(tree, late, "kernel up: gemm(cluster=1x4)", "cluster=1x4");
}

inline void grow_evil(search::Tree& tree) {
  const std::vector<std::string> texts = {
      "</script><script>window.broken = 1</script>",
      "<img src=x onerror=\"window.broken = 2\">",
      "<!-- <script> <!-- --> ]]> </style></title><b>bold</b>",
      "quotes \" ' ` ${window.broken = 3} {{data}} {{script}} \\u003c \\",
      "javascript:window.broken=4 &lt;i&gt; &#60;i&#62;",
      "\x1b[2J\x1b]0;title\x07 a terminal's commands \xc2\x9b"
      "31m",
      "line\xe2\x80\xa8separator, \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d, \xf0\x9f\x9a\x80, no\nnew line, a\ttab",
      "not UTF-8: \xff\xfe\xc3",
      "__proto__ constructor toString",
  };
  int parent = 0;
  for (const std::string& text : texts) {
    const auto number = tree.nodes().size();
    const int id = tree.add({.program = made_program(fmt::format("stages={}", number), text),
                             .reason = text,
                             .parent = parent,
                             .origin = text})
                       ->id;
    const bool usable = number % 3 != 0;
    tree.complete(
        id, usable ? diagnosed(verified(0.001 / static_cast<double>(number)), text) : failed(TrialState::kWrong, text));
    if (usable) parent = id;
  }
}

inline void grow_large(search::Tree& tree, int trials) {
  std::mt19937_64 random(7);  // whose numbers the standard fixes; its distributions' it does not
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  const auto share = [&] { return static_cast<double>(below(1000000)) / 1e6; };
  std::vector<int> open = {0};
  for (int i = 1; i <= trials; ++i) {
    const int parent = open[open.size() - 1 - below(std::min<size_t>(open.size(), 12))];
    const int id = add(tree, parent, fmt::format("kernel up: gemm(stages={}, tile={}x128x64)", i % 7, 64 + 8 * (i % 9)),
                       fmt::format("stages={}", i));
    const double kind = share();
    const double before = tree.node(parent).usable() ? tree.node(parent).measurement->time.value : 0.004;
    if (kind < 0.3) {
      tree.complete(id, failed(TrialState::kNotCompiled, "too many registers"));
    } else if (kind < 0.33) {
      tree.lose(id);
    } else {
      tree.complete(id, verified(before * (0.93 + 0.3 * share() * share()), 4));
      open.push_back(id);
    }
    if (kind > 0.9) tree.spend(parent);
  }
}

// The fastest prediction is faster than whatever was measured.
inline void grow_partly(search::Tree& tree) {
  for (const double seconds : {0.0007, 0.0009}) {
    const int id = add(tree, 0, "where nothing was measured", fmt::format("stages={}", tree.nodes().size()), seconds);
    Measurement predicted;
    predicted.state = TrialState::kPredicted;
    predicted.time = Seconds(seconds);
    tree.complete(id, predicted);
  }
  tree.complete(add(tree, 2, "on a GPU", "stages=7"), verified(0.0013));
  tree.complete(add(tree, 2, "on a GPU", "stages=8"), verified(0.0012));
}

inline store::LoadedRun made_run(const std::string& name) {
  store::LoadedRun out;
  out.run.id = "20260102-030405-made";
  out.run.problem = name == "evil" ? "</title><script>window.broken = 5</script>" : name;
  out.run.problem_key = "p", out.run.options_key = "o", out.run.machine = "h200", out.run.device = "gpu",
  out.run.policy = "mcts";
  out.run.started = "2026-01-02T03:04:05.000Z";
  const bool bare = name == "bare";
  search::Tree tree(Seconds(bare ? 0 : 0.0042));
  if (name == "mixed") grow_mixed(tree);
  if (name == "evil") grow_evil(tree);
  if (name == "large") grow_large(tree, 500);
  for (int i = 0; name == "deep" && i < 40; ++i)
    tree.complete(add(tree, i, "one step further", fmt::format("stages={}", i)), verified(0.003 - 0.00005 * i));
  if (name == "partly") grow_partly(tree);
  if (bare) tree.complete(add(tree, 0, "the only move", "stages=1"), failed(TrialState::kWrong, "y: NaN"));
  out.run.state = name == "mixed" ? RunState::kRunning : RunState::kFinished;
  if (!bare) {
    const Json bounds = Json::object().set("io", 0.00021).set("work", 0.0006).set("practical", 0.00081);
    out.run.summary =
        Json::object().set("speedup", 4.2).set("predicted", false).set("original", 0.0042).set("bounds", bounds);
  }
  for (size_t i = 0; i < tree.events().size(); ++i) {
    out.events.push_back({tree.events()[i], fmt::format("2026-01-02T03:{:02}:{:02}.000Z", 4 + i / 60, i % 60)});
  }
  return out;
}

}  // namespace solstice::testing
