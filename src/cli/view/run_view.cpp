#include "cli/view/run_view.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "record/diagnosis/finding.h"
#include "record/kernel_table.h"
#include "search/counts.h"

namespace solstice::cli {
namespace {

Json known(double value) { return value > 0 ? Json(value) : Json(); }
Json known(Seconds time) { return known(time.value); }
Json known(const std::string& text) { return text.empty() ? Json() : Json(text); }

// Notes the attempts at a node from an event that the tree has already taken.
void note(RunView& view, const search::Event& event, const std::string& at) {
  using Kind = search::Event::Kind;
  view.attempts.resize(view.tree.nodes().size());
  std::vector<Attempt>& attempts = view.attempts[static_cast<size_t>(event.node)];
  const auto begin = [&](search::Precision precision) {
    attempts.emplace_back();
    attempts.back().begun = at;
    attempts.back().precision = precision;
  };
  if (event.kind == Kind::kProposed) begin(event.proposal->precision);
  if (event.kind == Kind::kAgain) begin(*event.precision);
  if (event.kind == Kind::kSkipped) ++view.skipped;
  if (event.kind != Kind::kMeasured && event.kind != Kind::kLost) return;
  if (attempts.empty()) begin(search::Precision::kUsual);  // the original's
  attempts.back().ended = at;
  if (event.kind == Kind::kLost) attempts.back().lost = true;
  if (event.kind == Kind::kMeasured) attempts.back().measurement = event.measurement;
}

Json json_of(const Attempt& attempt) {
  Json out = Json::object()
                 .set("begun", attempt.begun)
                 .set("ended", known(attempt.ended))
                 .set("precision", enum_name(attempt.precision));
  out.set("lost", attempt.lost);
  if (!attempt.measurement) return out;
  const search::Measurement& m = *attempt.measurement;
  out.set("state", enum_name(m.state))
      .set("time", known(m.time))
      .set("cost", known(m.cost))
      .set("noise", known(m.noise));
  out.set("joules", known(m.joules));
  return out.set("gpu", m.record.at("gpu")).set("samples", m.record.at("seconds"));
}

// Where the time of a usable node goes; none where its record does not tell.
std::optional<KernelTable> table_of(const search::Node& node) {
  if (!node.usable()) return std::nullopt;
  const search::Measurement& m = *node.measurement;
  const bool measured = m.state == TrialState::kVerified;
  Result<std::optional<KernelTable>> table = kernel_table_of(m.record, measured ? std::optional(m.time) : std::nullopt);
  return table.ok() ? std::move(*table) : std::nullopt;
}

Json json_of(const RunView& view, const search::Node& node, bool whole) {
  const search::Node* best = view.tree.best();
  const size_t id = static_cast<size_t>(node.id);
  Json out = Json::object()
                 .set("node", node.id)
                 .set("parent", node.id ? Json(node.proposal.parent) : Json())
                 .set("depth", node.depth);
  out.set("state", view.state_text(node)).set("usable", node.usable()).set("comparable", view.tree.comparable(node));
  out.set("time", node.usable() ? known(node.measurement->time) : Json());
  const std::optional<double> factor = view.factor(node);
  out.set("factor", factor ? Json(*factor) : Json()).set("predicted", known(node.proposal.predicted));
  out.set("best", &node == best)
      .set("on_path", bool{view.on_path[id]})
      .set("in_flight", node.in_flight)
      .set("lost", node.lost);
  out.set("spent", node.spent).set("reason", node.proposal.reason).set("origin", node.proposal.origin);
  if (node.given_up) out.set("nothing_left", node.given_up->reason);
  out.set("equations", node.proposal.equations).set("tokens", node.proposal.tokens);
  out.set("detail", node.measurement ? node.measurement->detail : "");
  Json attempts = Json::array();
  for (const Attempt& attempt : view.attempts[id]) attempts.push(json_of(attempt));
  out.set("attempts", attempts);
  if (!whole) return out;
  Json record = Json::object();
  for (const char* key : {"meaning", "modules", "trace", "verdict", "findings", "diagnosis_faults"}) {
    if (node.measurement && node.measurement->record.find(key)) record.set(key, node.measurement->record.at(key));
  }
  if (const auto findings = findings_of_record(record); !findings.ok()) {
    record.set("findings", Json::array());
    record.set("findings_fault", "the findings cannot be read: " + findings.error().message);
  }
  if (const std::optional<KernelTable> table = table_of(node)) record.set("table", to_json(*table));
  return out.set("program", node.proposal.program).set("record", record);
}

}  // namespace

Seconds RunView::original() const { return tree.original(); }

std::optional<double> RunView::factor(const search::Node& node) const {
  if (!tree.comparable(node) || original().value <= 0 || node.measurement->time.value <= 0) return std::nullopt;
  return original() / node.measurement->time;
}

std::string RunView::state_text(const search::Node& node) const {
  if (node.id == 0) return "original";
  if (node.measurement) return enum_name(node.measurement->state);
  if (node.lost) return "lost";
  return run.state == RunState::kRunning ? "in flight" : "unfinished";
}

Result<RunView> view_of(const store::LoadedRun& loaded) {
  RunView view{.run = loaded.run, .tree = search::Tree(), .attempts = {}, .skipped = 0, .on_path = {}};
  const bool has_parts = loaded.run.summary.at("parts").size() > 0;  // the searches are those of its stages
  if (loaded.events.empty() && !has_parts) {
    return fail(
        Code::not_found,
        fmt::format("run {} has no search tree: it ended before its search, or was made before searches were stored",
                    loaded.run.id),
        fmt::format("`solstice show {}` lists its {}", loaded.run.id, counted(loaded.trials.size(), "trial")));
  }
  for (const store::StoredEvent& stored : loaded.events) {
    const size_t before = view.tree.events().size();
    if (const Status applied = view.tree.apply(stored.event); !applied.ok()) {
      return fail(Code::bad_record, fmt::format("run {}: {}", loaded.run.id, applied.error().message));
    }
    // An event that changes nothing is a repetition.
    if (view.tree.events().size() > before) note(view, stored.event, stored.at);
  }
  view.attempts.resize(view.tree.nodes().size());
  view.on_path.resize(view.tree.nodes().size());
  for (const search::Node* node = view.tree.best(); node;
       node = node->id ? &view.tree.node(node->proposal.parent) : nullptr) {
    view.on_path[static_cast<size_t>(node->id)] = true;
  }
  return view;
}

Json json_of(const RunView& view, bool whole) {
  const search::Node* best = view.tree.best();
  Json nodes = Json::array();
  for (const search::Node& node : view.tree.nodes()) nodes.push(json_of(view, node, whole));
  return Json::object()
      .set("run", to_json(view.run))
      .set("original", known(view.original()))
      .set("best", best ? Json(best->id) : Json())
      .set("trials", to_json(search::counts_of(view.tree)))
      .set("skipped", view.skipped)
      .set("nodes", nodes);
}

}  // namespace solstice::cli
