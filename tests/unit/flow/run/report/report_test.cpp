#include "flow/run/report/report.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "flow/run/report/report_text.h"
#include "record/diagnosis/diagnosis_time.h"
#include "support/golden.h"

namespace solstice::flow {
namespace {

Measured measured(double us) {
  return {microseconds(us), microseconds(us * 0.99), microseconds(us * 1.01), 30, Hertz(1.4e9)};
}

// Figures of no real machine: the page's shape is what is tested.
Report sample_report() {
  Report r;
  r.run = "20260101-000000-aaaa";
  r.problem = "linear_gelu";
  r.file = "examples/linear_gelu.py";
  r.outcome = RunOutcome::kFaster;
  r.headline.original = measured(2000);
  r.headline.replacement = measured(500);
  r.headline.kernels = measured(490);
  r.headline.by_kernel = {
      {"up", microseconds(470), microseconds(450), {{"up-split", microseconds(20)}, {"up", microseconds(450)}}},
      {"update.s", microseconds(2), std::nullopt, {}}};
  r.headline.speedup = 4.0;
  r.headline.speedup_low = 3.9;
  r.headline.speedup_high = 4.1;
  r.bounds = {
      {"io", "bytes that must move", microseconds(60), {{"dram", microseconds(60), "w"}}},
      {"work", "operations on the fastest legal unit", microseconds(280), {{"tensor.f16", microseconds(280), "z"}}},
      {"practical",
       "",
       microseconds(400),
       {{"tensor.f16", microseconds(390), "z[m,n]"}, {"launch", microseconds(10), ""}}}};
  r.bound_by = "the tensor pipe";
  r.candidates = {
      {1, "up by gemm(math=fp16x3)", "verified", microseconds(450), measured(490), "proved", ""},
      {2, "up by gemm(math=tf32)", "wrong", microseconds(300), std::nullopt, "tested", "error 3e-4 | over the limit"}};
  r.kernels = {{"up", "gemm"}};
  KernelTable& table = r.time_by_kernel.emplace();
  table.rows.push_back({.kernel = "up", .family = "gemm", .math = "fp16x3", .computes = "product 1024x8192x8192"});
  table.rows.back().predicted = microseconds(450);
  table.rows.back().bound = microseconds(390);
  table.rows.back().limited_by = "tensor cores";
  table.rows.push_back({.kernel = "down", .family = "map", .computes = "convolution 3x3, 8 to 64 channels"});
  table.rows.back().predicted = microseconds(20);
  table.rows.back().bound = microseconds(1);
  table.rows.back().missing = "convolution";
  table.rows.push_back({.kernel = kLaunchesRow, .family = ""});
  table.rows.back().predicted = table.rows.back().bound = microseconds(2);
  settle(table);
  r.trials = TrialCounts{2, 1, 3};
  r.errors = {{"y", "PyTorch eager", 3e-7, 9e-7, 0, 0, "normal, seed 1", "zeros"},
              {"y", "winner", 2e-7, 6e-7, 3.3e-7, 6.6e-7, "normal, seed 2", "normal, seed 1"}};
  r.baselines = {{"torch.compile", measured(1900), 1.05, 3e-7, "default mode"},
                 {"eager, TF32", std::nullopt, 0, std::nullopt, "it fails: no memory"}};
  r.timings = {{"search", Seconds(2)}, {"total", Seconds(8.5)}, {"oracle: trace", milliseconds(12)}};
  r.timings[kDiagnosisTime] = milliseconds(40);
  r.original_peak_memory = Bytes(2147483648.0);
  r.machine = "h200";
  r.device = "a GPU";
  r.versions = {{"solstice", "0"}, {"torch", "2"}};
  r.options = {{"numerics", "reference"}};
  r.command = {"solstice", "optimize", "examples/linear gelu.py"};
  r.program = "program linear_gelu\n";
  r.created = "2026-01-01T00:00:00.000Z";
  return r;
}

TEST(Report, MarkdownIsAsInTheGoldenFile) {
  Report r = sample_report();
  add_measured(*r.time_by_kernel, r.headline.by_kernel, microseconds(490));
  testing::expect_golden("report/faster.md", render_markdown(r));
}

// As reports of older programs have it.
TEST(Report, TimesByKernelStandWithoutATableToo) {
  Report r = sample_report();
  r.time_by_kernel.reset();
  EXPECT_NE(render_markdown(r).find("measured / predicted"), std::string::npos);
}

TEST(Report, ARatioToAWrittenOriginalSaysSo) {
  Report r = sample_report();
  r.original = kWrittenOriginal;
  EXPECT_NE(headline_text(r).find("4.00x faster than PyTorch operators written from the equations"), std::string::npos);
  EXPECT_NE(render_markdown(r).find("The original: PyTorch operators written"), std::string::npos);
  r.original = "/work/net.py:Net";
  EXPECT_NE(headline_text(r).find("4.00x faster (2"), std::string::npos) << headline_text(r);
  EXPECT_NE(render_markdown(r).find("The original: /work/net.py:Net."), std::string::npos);
}

TEST(Report, AMeasuredOriginalIsNotPredicted) {
  Report r = sample_report();
  r.predicted_original = PredictedOriginal{.time = microseconds(2100)};
  EXPECT_EQ(render_markdown(r).find("predicted original"), std::string::npos);
  EXPECT_EQ(render_markdown(r).find("The original, predicted"), std::string::npos);
}

TEST(Report, ASlowOneSaysWhyAndAPredictedOneSaysSo) {
  Report r = sample_report();
  r.outcome = RunOutcome::kPredicted;
  r.reason = "no GPU: nothing was measured; the best candidate is predicted to take 1.5 ms";
  r.predicted = true;
  r.headline = {};
  r.candidates[0].time.reset();
  r.baselines.clear();
  PredictedOriginal& original = r.predicted_original.emplace();
  original.time = original.device = microseconds(2700);
  original.host = microseconds(12);
  original.kernels = 2;
  original.operators = {{"linear", "product", 1, 1, microseconds(2650), "CUDA cores", true},
                        {"lstm", "recurrence", 1, 1, microseconds(50), "latency", false}};
  r.warnings = {"The GPU was power-capped."};
  testing::expect_golden("report/predicted.md", render_markdown(r));
}

TEST(Report, BaselinesSayOnlyWhatHappened) {
  Report r = sample_report();
  r.baselines = {{"PyTorch eager", measured(2000), 1, std::nullopt, "one block before the search"}};
  const std::string alone = render_markdown(r);
  EXPECT_EQ(alone.find("in turn"), std::string::npos);
  EXPECT_EQ(alone.find("Errors are normwise"), std::string::npos);
  EXPECT_NE(alone.find("one block before the search"), std::string::npos);
}

TEST(Report, SaysWhereNanIsNotPyTorchs) {
  Report r = sample_report();
  EXPECT_EQ(render_markdown(r).find("NaN"), std::string::npos);
  r.left_out = "0 * NaN is not computed";
  EXPECT_NE(render_markdown(r).find("\n> 0 * NaN is not computed\n"), std::string::npos);
}

TEST(Report, IsWrittenAsJsonThatReadsBack) {
  const TempFolder folder = std::move(TempFolder::create("report-")).value();
  ASSERT_TRUE(write_report(sample_report(), folder.path() / "out").ok());
  const Result<Json> json = parse_json(*read_file(folder.path() / "out/report.json"));
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->at("schema").as_string(), "solstice.report/1");
  EXPECT_TRUE(from_json<Report>(*json).ok());
  EXPECT_EQ(*read_file(folder.path() / "out/report.md"), render_markdown(sample_report()));
}

TEST(ReportText, CommandsSurviveAShell) { EXPECT_EQ(shell_text({"a", "b c", "it's", ""}), "a 'b c' 'it'\\''s' ''"); }
TEST(ReportText, CommandsGoWhereTheyWereGiven) {
  EXPECT_EQ(shell_text("/my models", {"solstice", "optimize", "m.py"}), "cd '/my models' && solstice optimize m.py");
  EXPECT_EQ(shell_text("", {"solstice"}), "solstice");
}

TEST(Report, SaysWhosePartsAre) {
  Report r;
  r.problem = "net";
  r.outcome = RunOutcome::kFaster;
  PartRow ours, theirs;
  ours.what = "stage 1: linear, gelu", ours.ours = true, ours.outcome = "faster";
  ours.time = microseconds(75), ours.original = microseconds(300), ours.share = 0.75;
  theirs.what = "aten.topk.default", theirs.place = "net.py:12", theirs.why = "no equations for this operator yet";
  theirs.time = theirs.original = microseconds(25), theirs.share = 0.25;
  r.parts = {ours, theirs};
  const std::string text = render_markdown(r);
  EXPECT_NE(text.find("75 % of the drop-in's time is ours, 25 % PyTorch's."), std::string::npos) << text;
  EXPECT_NE(text.find("| stage 1: linear, gelu | ours | 75 us | 300 us | 75.0 % |  |  |"), std::string::npos) << text;
  EXPECT_NE(text.find("| `aten.topk.default` | PyTorch's | 25 us | 25 us | 25.0 % | net.py:12 | no equations"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace solstice::flow
