#include "diagnose/counters/profiling.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "diagnose/counters/counter_table.h"
#include "diagnose/counters/ncu.h"
#include "diagnose/counters/stall_reasons.h"

namespace solstice::diagnose {
namespace {

constexpr Seconds kPageLimit{60};

// Share of warps by what they wait for: of the sampler's totals, else of the hardware's counters.
std::map<std::string, double> shares_of(const std::map<std::string, int64_t>& samples,
                                        const std::map<std::string, double>& metrics) {
  std::map<std::string, double> out;
  int64_t total = 0;
  for (const auto& [reason, count] : samples) total += count;
  for (const auto& [reason, count] : samples) {
    if (count > 0) out[reason] = static_cast<double>(count) / static_cast<double>(total);
  }
  if (!out.empty()) return out;
  for (const StallReason& reason : stall_reasons()) {
    const auto found = metrics.find(stall_metric(reason.name));
    if (found != metrics.end()) out[std::string(reason.name)] = found->second;
  }
  return out;
}

// `listing`: null where the launch has none.
CounterFacts facts_of(RawLaunch& row, SourceListing* listing) {
  CounterFacts out;
  out.metrics = std::move(row.metrics);
  out.passes = row.passes;
  if (listing) out.hot = std::move(listing->hot);
  if (listing && row.samples.empty()) row.samples = std::move(listing->samples);
  out.stalls = shares_of(row.samples, out.metrics);
  return out;
}

void add_notes(const std::string& step, const std::vector<std::string>& notes, std::vector<std::string>& out) {
  for (const std::string& note : notes) out.push_back(fmt::format("{}: {}", step, note));
}

std::string kernels_of(const LaunchBatch& batch) {
  const std::string& first = batch.wanted.front()->entry;
  return batch.wanted.size() == 1 ? fmt::format("`{}`", first)
                                  : fmt::format("`{}` and {} more", first, batch.wanted.size() - 1);
}

// The listings of the page are of the launches of the report, one each and in order.
bool is_of(const SourcePage& page, const RawPage& raw) {
  return std::equal(page.launches.begin(), page.launches.end(), raw.launches.begin(), raw.launches.end(),
                    [](const SourceListing& listing, const RawLaunch& launch) {
                      return listing.kernel.empty() || listing.kernel == launch.kernel;
                    });
}

// That of a launch of the report, by order or as the one listing of its kernel's one launch; null: it cannot be told.
SourceListing* listing_of(SourcePage& page, const RawPage& raw, size_t row) {
  if (is_of(page, raw)) return &page.launches[row];
  const std::string& kernel = raw.launches[row].kernel;
  const auto is_same = [&](const auto& each) { return each.kernel == kernel; };
  const auto found = std::find_if(page.launches.begin(), page.launches.end(), is_same);
  const bool once = std::count_if(page.launches.begin(), page.launches.end(), is_same) == 1 &&
                    std::count_if(raw.launches.begin(), raw.launches.end(), is_same) == 1;
  return once ? &*found : nullptr;
}

// ncu's log has them by launch too; without its word on each they are not known.
void add_passes(std::string_view log, RawPage& raw) {
  const std::vector<int64_t> passes = passes_of_log(log);
  if (passes.size() != raw.launches.size()) return;
  for (size_t i = 0; i < passes.size(); ++i) raw.launches[i].passes = passes[i];
}

void take_launch(const std::string& step, RawLaunch& row, SourceListing* listing, BatchResult& out) {
  add_notes(step, row.notes, out.notes);
  if (listing) add_notes(step, listing->notes, out.notes);
  CounterFacts facts = facts_of(row, listing);
  if (!facts.metrics.empty() || !facts.stalls.empty()) out.steps[step] = std::move(facts);
}

std::string why_not_all(const LaunchBatch& batch, const RawPage& raw, const std::vector<std::optional<size_t>>& rows) {
  const bool told = std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.has_value(); });
  if (told || raw.launches.empty()) return "ncu's report holds none of the counters that were asked for";
  return fmt::format("the {} launches of ncu's report are not the {} that were asked for, and cannot be told apart",
                     raw.launches.size(), batch.launches.size());
}

}  // namespace

std::vector<std::string> Profiling::choose_metrics(std::string_view arch) {
  const std::vector<std::string> wanted = request_.metrics.empty() ? counter_metrics() : request_.metrics;
  const std::set<std::string> known = known_metrics(ncu_, ncu_chip(arch), wanted);
  std::vector<std::string> notes;
  for (const std::string& metric : wanted) {
    if (known.empty() || known.contains(metric)) {
      metrics_.push_back(metric);
    } else {
      notes.push_back(fmt::format("{}: this ncu has no such counter on {}", metric, arch));
    }
  }
  return notes;
}

void Profiling::drop(const std::set<std::string>& refused, std::vector<std::string>& notes) {
  std::erase_if(metrics_, [&](const std::string& metric) { return refused.contains(metric); });
  for (const std::string& metric : refused) notes.push_back(fmt::format("{}: this ncu refuses it", metric));
}

// Named by the first step, and how many more are in it.
Status Profiling::keep(const LaunchBatch& batch, std::string_view what, std::string_view text) const {
  if (request_.keep.empty()) return success();
  const std::string& first = batch.wanted.front()->name;
  const size_t more = batch.wanted.size() - 1;
  const std::string name = more == 0 ? first : fmt::format("{}+{}", first, more);
  return write_file(request_.keep / fmt::format("{}.{}", name, what), text);
}

Result<std::string> Profiling::page(const std::filesystem::path& report, const LaunchBatch& batch,
                                    std::string_view name) const {
  SOLSTICE_TRY(std::string text, print_page(ncu_, report, name, kPageLimit));
  SOLSTICE_CHECK(keep(batch, fmt::format("{}.csv", name), text));
  return text;
}

// Empty where the page cannot be had.
SourcePage Profiling::listings(const std::filesystem::path& report, const LaunchBatch& batch, const RawPage& raw,
                               std::vector<std::string>& notes) const {
  const Result<std::string> text = page(report, batch, "source");
  if (!text.ok()) {
    notes.push_back(text.error().text());
    return {};
  }
  SourcePage out = read_source_page(*text, request_.most_hot);
  notes.insert(notes.end(), out.notes.begin(), out.notes.end());
  if (!is_of(out, raw))
    notes.push_back(fmt::format("ncu's source page has {} listings that are not those of its {} launches",
                                out.launches.size(), raw.launches.size()));
  return out;
}

BatchResult Profiling::read_report(const std::filesystem::path& report, const LaunchBatch& batch,
                                   std::string_view log) const {
  BatchResult out;
  const Result<std::string> raw_text = page(report, batch, "raw");
  if (!raw_text.ok()) {
    out.failure = NcuFailure{raw_text.error().text(), "", false};
    return out;
  }
  RawPage raw = read_raw_page(*raw_text, metrics_);
  add_passes(log, raw);
  std::vector<std::string> notes = std::move(raw.notes);
  SourcePage source = request_.sampling ? listings(report, batch, raw, notes) : SourcePage();
  add_notes(batch.wanted.front()->name, notes, out.notes);
  const std::vector<std::optional<size_t>> rows = rows_of(batch, raw.launches);
  for (size_t i = 0; i < batch.launches.size(); ++i) {
    const bool wanted = std::count(batch.wanted.begin(), batch.wanted.end(), batch.launches[i]) > 0;
    if (wanted && rows[i])
      take_launch(batch.launches[i]->name, raw.launches[*rows[i]], listing_of(source, raw, *rows[i]), out);
  }
  if (out.steps.size() < batch.wanted.size()) out.failure = NcuFailure{why_not_all(batch, raw, rows), "", false};
  return out;
}

// The runner may write below `shared` alone: what ncu concludes lies beside it.
Result<BatchResult> Profiling::profile_once(const LaunchBatch& batch, const run::ProfileLimits& limits,
                                            std::string& log) {
  SOLSTICE_TRY(const TempFolder folder, TempFolder::create("solstice-counters-"));
  const NcuFiles files{folder.path() / "launch.ncu-rep", folder.path() / "ncu.log", folder.path() / "sections"};
  const std::filesystem::path shared = folder.path() / "shared";
  SOLSTICE_CHECK(make_folder(shared));
  SOLSTICE_CHECK(write_file(files.sections / "warp_states.section", sampling_section()));
  const NcuLaunches launches{name_filter(batch), batch.skip, batch.launches.size(), metrics_, request_.sampling};
  const Result<run::ProfiledRun> run = work_({ncu_command(ncu_, launches, files), shared}, limits);
  if (!run.ok() && run.error().code == Code::bad_argument) return run.error();
  // Without one ncu has not come so far.
  if (auto text = read_file(files.log); text.ok()) log = *std::move(text);
  SOLSTICE_CHECK(keep(batch, "log", log));
  std::error_code ignored;
  BatchResult out;
  if (!std::filesystem::is_regular_file(files.report, ignored)) {
    out.failure = explain_failure(log, run, kernels_of(batch));
    return out;
  }
  out = read_report(files.report, batch, log);
  const std::string& first = batch.wanted.front()->name;
  if (run.ok() && run->verdict.outcome != Outcome::kPassed)
    out.notes.push_back(fmt::format("{}: the profiled run failed: {}", first, run->verdict.message));
  if (!run.ok()) out.notes.push_back(fmt::format("{}: after the profiled run: {}", first, run.error().text()));
  return out;
}

Result<BatchResult> Profiling::profile(const LaunchBatch& batch, const run::ProfileLimits& limits) {
  std::string log;
  SOLSTICE_TRY(BatchResult out, profile_once(batch, limits, log));
  const std::set<std::string> refused = out.failure ? refused_metrics(log, metrics_) : std::set<std::string>();
  if (refused.empty()) return out;
  std::vector<std::string> notes;
  drop(refused, notes);
  if (metrics_.empty() && !request_.sampling) return out;
  SOLSTICE_TRY(out, profile_once(batch, limits, log));
  out.notes.insert(out.notes.begin(), notes.begin(), notes.end());
  return out;
}

}  // namespace solstice::diagnose
