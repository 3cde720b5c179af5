#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sol/report.h"

namespace solstice::sol {
namespace {

std::string time_cell(Seconds time) {
  if (time.value >= 1e-3) return fmt::format("{:.3f} ms", time.value * 1e3);
  if (time.value >= 1e-7) return fmt::format("{:.2f} us", time.value * 1e6);
  return fmt::format("{:.2f} ns", time.value * 1e9);
}

std::string amount_text(double amount, const std::string& unit) {
  const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t p = 0;
  for (; amount >= 999.5 && p < 5; ++p) amount /= 1000;
  return fmt::format("{:.3g} {}{}", amount, prefixes[p], unit);
}

// Small addends are put together, so that a network's report stays readable.
constexpr double kShown = 0.02;
constexpr double kShownResource = 0.01;

Seconds total(const std::vector<const SolTerm*>& terms) {
  Seconds sum;
  for (const SolTerm* term : terms) sum += term->time;
  return sum;
}

std::string term_line(const SolTerm& term) {
  const std::string cause = term.cause.empty() ? "" : "  in " + term.cause;
  return fmt::format("    {:<28} {:>12}  {:>14}/s{}  {:>11}{}\n", term.what, amount_text(term.amount, term.unit),
                     amount_text(term.rate, term.unit), term.measured ? "*" : " ", time_cell(term.time), cause);
}

void add_resource(const std::string& resource, std::vector<const SolTerm*> terms, std::string& out) {
  const Seconds all = total(terms);
  out += fmt::format("  {:<30} {:>46}\n", resource, time_cell(all));
  std::stable_sort(terms.begin(), terms.end(), [](const auto* a, const auto* b) { return a->time > b->time; });
  size_t hidden = 0;
  Seconds rest;
  for (const SolTerm* term : terms) {
    if (term->time.value >= kShown * all.value) {
      out += term_line(*term);
    } else {
      ++hidden;
      rest += term->time;
    }
  }
  if (hidden > 0 && rest.value > 0)
    out += fmt::format("    {:<60} {:>14}\n", fmt::format("{} smaller", hidden), time_cell(rest));
}

void add_bound(const SolBound& bound, std::string& out) {
  out += fmt::format("\n{:<10} {:>12}   {} (limited by {})\n", bound.name, time_cell(bound.time), bound.meaning,
                     bound.limited_by);
  std::map<std::string, std::vector<const SolTerm*>> by_resource;
  for (const SolTerm& term : bound.terms) by_resource[term.resource].push_back(&term);
  for (const auto& [resource, terms] : by_resource) {
    if (total(terms).value >= kShownResource * bound.time.value) add_resource(resource, terms, out);
  }
}

void add_kernels(const SolReport& report, std::string& out) {
  out += fmt::format("\n{:<10} {:>12}   {} (longest: {})\n", report.practical.name, time_cell(report.practical.time),
                     report.practical.meaning, report.practical.limited_by);
  for (const SolKernel& kernel : report.kernels) {
    out += fmt::format("  {:<12} {:<32} {:>11}  {:<16} dram {}, l2 {}\n", kernel.kind,
                       fmt::format("{}", fmt::join(kernel.tensors, " ")), time_cell(kernel.time), kernel.limited_by,
                       amount_text(kernel.dram.value, "B"), amount_text(kernel.l2.value, "B"));
  }
}

}  // namespace

std::string render_text(const SolReport& report) {
  std::string out = fmt::format("speed of light of {} on {} (numerics {}, weights {})\n", report.program,
                                report.machine, report.numerics, report.weights);
  add_bound(report.io, out);
  out += fmt::format("  with a warm L2 {:>61}\n", time_cell(report.io_warm));
  add_bound(report.work, out);
  add_kernels(report, out);
  for (const std::string& note : report.notes) out += "\nnote: " + note;
  return out + (report.notes.empty() ? "" : "\n");
}

std::vector<Bound> to_bounds(const SolReport& report) {
  std::vector<Bound> out;
  for (const SolBound* bound : {&report.io, &report.work, &report.practical}) {
    Bound plain{.name = bound->name, .meaning = bound->meaning, .time = bound->time, .terms = {}};
    for (const SolTerm& term : bound->terms) {
      plain.terms.push_back({.name = term.resource + " " + term.what, .time = term.time, .cause = term.cause});
    }
    out.push_back(std::move(plain));
  }
  return out;
}

}  // namespace solstice::sol
