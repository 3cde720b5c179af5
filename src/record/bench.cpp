#include "record/bench.h"

#include <algorithm>

namespace solstice {
namespace {

// solstice.bench/1: one policy a bench, no opponents.
struct FirstRow {
  std::string id, name, source, reason, run, folder;
  RunOutcome outcome = RunOutcome::kNone;
  bool failed = false, predicted = false;
  double speedup = 0;
  Seconds original, replacement, took;
  std::map<std::string, std::string> made_with;
  static auto fields() {
    return std::make_tuple(
        field("id", &FirstRow::id, ""), field("name", &FirstRow::name, ""), field("outcome", &FirstRow::outcome, ""),
        optional_field("source", &FirstRow::source, ""), optional_field("reason", &FirstRow::reason, ""),
        optional_field("failed", &FirstRow::failed, ""), optional_field("predicted", &FirstRow::predicted, ""),
        optional_field("speedup", &FirstRow::speedup, ""), optional_field("original", &FirstRow::original, ""),
        optional_field("replacement", &FirstRow::replacement, ""), optional_field("took", &FirstRow::took, ""),
        optional_field("run", &FirstRow::run, ""), optional_field("folder", &FirstRow::folder, ""),
        optional_field("made_with", &FirstRow::made_with, ""));
  }
};

struct FirstBench {
  static constexpr const char* kSchema = "solstice.bench/1";
  std::map<std::string, std::string> options;
  std::string version, started;
  std::vector<FirstRow> rows;
  static auto fields() {
    return std::make_tuple(field("options", &FirstBench::options, ""), field("version", &FirstBench::version, ""),
                           field("started", &FirstBench::started, ""), field("rows", &FirstBench::rows, ""));
  }
};

// Nothing was compared where times are predicted: an earlier Solstice called that "not faster".
void renew(BenchVariant& variant) {
  if (variant.predicted && variant.outcome == RunOutcome::kNotFaster) variant.outcome = RunOutcome::kPredicted;
  if (variant.turns && variant.turns->stop == "patience") variant.turns->stop = "window";
}

BenchRow second_row(FirstRow old, const std::string& numerics, const std::string& started) {
  BenchVariant variant;
  variant.numerics = numerics;
  variant.outcome = old.outcome;
  variant.reason = std::move(old.reason);
  variant.failed = old.failed;
  variant.predicted = old.predicted;
  variant.speedup = old.speedup;
  variant.original = old.original;
  variant.replacement = old.replacement;
  variant.run = std::move(old.run);
  variant.folder = std::move(old.folder);
  variant.took = old.took;
  renew(variant);
  BenchRow row;
  row.id = std::move(old.id);
  row.name = std::move(old.name);
  row.source = std::move(old.source);
  row.made_with = std::move(old.made_with);
  row.took = old.took;
  row.finished = started;
  row.variants.push_back(std::move(variant));
  return row;
}

Bench second(FirstBench old) {
  Bench bench;
  bench.options = std::move(old.options);
  bench.version = std::move(old.version);
  bench.started = old.started;
  const auto numerics = bench.options.find("numerics");
  const std::string policy = numerics == bench.options.end() ? "reference" : numerics->second;
  for (FirstRow& row : old.rows) bench.rows.push_back(second_row(std::move(row), policy, old.started));
  return bench;
}

}  // namespace

bool BenchVariant::complete() const {
  return !kernels.empty() && !parts &&
         std::none_of(kernels.begin(), kernels.end(), [](const BenchKernel& k) { return k.family == "torch"; });
}

bool BenchRow::failed() const {
  return std::any_of(variants.begin(), variants.end(), [](const BenchVariant& v) { return v.failed; });
}

Result<Bench> read_bench(const Json& json) {
  if (json.is_object() && json.at("schema").as_string() == FirstBench::kSchema) {
    SOLSTICE_TRY(FirstBench old, from_json<FirstBench>(json));
    return second(std::move(old));
  }
  SOLSTICE_TRY(Bench bench, from_json<Bench>(json));
  for (BenchRow& row : bench.rows) {
    for (BenchVariant& variant : row.variants) renew(variant);
  }
  return bench;
}

}  // namespace solstice
