// solstice rewrite: the same outputs from cheaper equations.
#include <fmt/format.h>

#include <cmath>

#include "base/diagnostic.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/named_module.h"
#include "cli/subject.h"
#include "ir/equivalence.h"
#include "ir/rewrite/driver.h"
#include "lang/print.h"

namespace solstice::cli {
namespace {

std::vector<std::string> choices() {
  std::vector<std::string> out = {"all"};
  for (const ir::Rewrite* rewrite : ir::all_rewrites()) out.emplace_back(rewrite->name);
  return out;
}

// Nothing for `all`.
Result<const ir::Rewrite*> chosen(const std::string& name) {
  const ir::Rewrite* rewrite = ir::find_rewrite(name);
  if (rewrite || name == "all") return rewrite;
  return fail(Code::bad_argument, fmt::format("there is no rewrite `{}`", name), instead_of(name, choices()));
}

Json cost_json(const ir::Cost& cost) {
  return Json::object().set("operations", cost.operations).set("bytes", cost.bytes);
}

Json site_json(const ir::Site& site) {
  return Json::object()
      .set("rewrite", site.rewrite->name)
      .set("equation", site.where)
      .set("source", site.comment)
      .set("description", site.description)
      .set("saves", cost_json(site.saved));
}

Json sites_json(const std::vector<ir::Site>& sites) {
  Json out = Json::array();
  for (const ir::Site& site : sites) out.push(site_json(site));
  return out;
}

// "saves 12 (3.0 %) operations", "costs 12 (3.0 %) more operations"
std::string effect(double saved, double whole, const char* what) {
  const double size = std::abs(saved);
  const std::string share = whole > 0 && size > 0 ? fmt::format(" ({:.1f} %)", 100 * size / whole) : "";
  return saved < 0 ? fmt::format("costs {:.4g}{} more {}", size, share, what)
                   : fmt::format("saves {:.4g}{} {}", size, share, what);
}

void print_sites(const std::vector<ir::Site>& sites, const ir::Cost& whole) {
  for (const ir::Site& site : sites) {
    fmt::print("{}: {}\n  {}\n", site.rewrite->name, site.description, site.where);
    if (!site.comment.empty()) fmt::print("  {}\n", site.comment);
    fmt::print("  {}, {}\n", effect(site.saved.operations, whole.operations, "operations"),
               effect(site.saved.bytes, whole.bytes, "bytes"));
  }
}

Result<int> list_sites(const Invocation& in, const ir::BoundText& subject) {
  SOLSTICE_TRY(const std::vector<ir::Site> sites, ir::find_sites(subject));
  const ir::Cost whole = ir::program_cost(subject.program);
  if (in.json()) {
    fmt::print("{}\n", Json::object().set("cost", cost_json(whole)).set("sites", sites_json(sites)).dump(2));
    return 0;
  }
  print_sites(sites, whole);
  if (sites.empty()) fmt::print("no rewrite applies\n");
  return 0;
}

// The interpreter's verdict on the result: a difference is a bug of a rewrite.
Result<ir::Equivalence> checked(const ir::BoundText& before, const ir::BoundText& after) {
  ir::EquivalenceOptions options;
  options.budget = Seconds{20};
  options.point_operations = options.most_operations = 2'000'000'000;
  const ir::Equivalence meaning = ir::same_meaning(before.tree, after.tree, options);
  if (meaning.verdict != ir::Verdict::kRefuted) return meaning;
  return fail(Code::internal,
              "the rewritten program means something else; this is a bug of a rewrite: " + meaning.reason);
}

Result<int> apply_rewrites(const Invocation& in, const ir::BoundText& subject) {
  ir::RewriteOptions options;
  SOLSTICE_TRY(options.only, chosen(in.get("--apply")));
  SOLSTICE_TRY(const ir::RewriteResult rewritten, ir::rewrite_all(subject, options));
  SOLSTICE_TRY(const ir::Equivalence meaning, checked(subject, rewritten.result));
  const ir::Cost before = ir::program_cost(subject.program);
  const ir::Cost after = ir::program_cost(rewritten.result.program);
  const std::string text = lang::print(rewritten.result.tree);
  if (in.has("--out")) SOLSTICE_CHECK(write_file(in.get("--out"), text));
  if (in.json()) {
    fmt::print("{}\n", Json::object()
                           .set("before", cost_json(before))
                           .set("after", cost_json(after))
                           .set("finished", rewritten.finished)
                           .set("meaning", std::string(name_of(meaning.verdict)))
                           .set("reason", meaning.reason)
                           .set("steps", sites_json(rewritten.steps))
                           .set("program", text)
                           .dump(2));
    return 0;
  }
  if (!in.has("--out")) fmt::print("{}", text);
  for (const ir::Site& step : rewritten.steps) fmt::print(stderr, "{}: {}\n", step.rewrite->name, step.description);
  fmt::print(stderr, "{} rewrites{}; operations {:.4g} -> {:.4g}, bytes {:.4g} -> {:.4g}; meaning {}: {}\n",
             rewritten.steps.size(), rewritten.finished ? "" : " (stopped at the limit)", before.operations,
             after.operations, before.bytes, after.bytes, name_of(meaning.verdict), meaning.reason);
  return 0;
}

Result<int> run_rewrite(const Invocation& in) {
  if (in.has("--out") && !in.has("--apply"))
    return fail(Code::bad_argument, "`--out` writes what `--apply` makes", "give `--apply all`");
  SOLSTICE_TRY(ir::BoundText loaded, load_subject(in.get("FILE"), in));
  SOLSTICE_TRY(const ir::BoundText subject, ir::rewritable(std::move(loaded)));
  return in.has("--apply") ? apply_rewrites(in, subject) : list_sites(in, subject);
}

}  // namespace

extern const Command solstice_commands_rewrite;
const Command solstice_commands_rewrite = {
    .name = "rewrite",
    .summary = "Show or apply algebraic rewrites: the same outputs from cheaper equations",
    .help =
        "Without --apply, lists the applicable rewrites with their places, and the operations and bytes that "
        "each saves (the bytes as if each equation ran alone). A rewrite may cost more at some places; `--apply "
        "all` skips these. With --apply, applies one rewrite, or all of them, until nothing more is saved, "
        "checks the result against the original by interpretation, and prints it; the steps go to stderr. Every "
        "rewrite is valid for all finite inputs and weights; docs/rewrites.md lists them.",
    .example = "solstice rewrite examples/linear_gelu.py --apply all",
    .parameters = {{"FILE", "", kSubjectHelp, "", {}, true, false},
                   {"--apply", "NAME", "rewrite to apply, or `all`", "", {}, false, false},
                   {"--out", "PROGRAM", "file to write instead of printing", "", {}, false, false},
                   eval_flag(),
                   train_flag(),
                   json_flag()},
    .run = run_rewrite,
};

}  // namespace solstice::cli
