#include "flow/run/account.h"

namespace solstice::flow {
namespace {

// Accounts of a language model add up.
Json joined_agent(const Json& before, Json now) {
  const Json& accounted = before.at("account");
  if (!accounted.is_object()) return now;
  Json account = now.at("account");
  for (const auto& [what, sum] : accounted.members()) {
    const Json& more = account.at(what);
    account.set(what, more.is_int() && sum.is_int() ? Json(more.as_int() + sum.as_int())
                                                    : Json(more.as_double() + sum.as_double()));
  }
  if (account.at("unpriced").as_int() > 0) account.set("cost", Json());  // the sum of what is known is no cost
  now.set("account", account);
  return now;
}

}  // namespace

Status keep_transcript(Run& run) {
  if (!run.agent) return success();
  // So that a process that is killed leaves what it has spent.
  run.agent->after_each([&run] {
    account_for_agent(run);
    return run.stored.store->keep_summary(run.report.run, account_of(run.report));
  });
  const int64_t accounted =
      run.stored.resumed ? run.stored.resumed->run.summary.at("agent").at("account").at("attempts").as_int() : 0;
  return run.agent->keep_transcript(run.stored.store->folder() / "transcripts" / (run.report.run + ".jsonl"),
                                    accounted);
}

void account_for_agent(Run& run) {
  const Json before = run.stored.resumed ? run.stored.resumed->run.summary.at("agent") : Json();
  run.report.agent = run.agent ? joined_agent(before, run.agent->record(run.tree)) : before;
}

Json account_of(const Report& report) {
  return report.agent.is_null() ? Json() : Json::object().set("agent", report.agent);
}

Json bounds_in_seconds(const Report& report) {
  Json out = Json::object();
  for (const Bound& bound : report.bounds) out.set(bound.name, bound.time.value);
  return out;
}

Json summary_of(const Report& report, Seconds original, std::optional<search::Stop> stop) {
  const double speedup = report.headline.speedup;
  Json summary = Json::object().set("speedup", speedup > 0 ? Json(speedup) : Json()).set("predicted", report.predicted);
  if (original.value > 0) summary.set("original", original.value);
  const Json bounds = bounds_in_seconds(report);
  if (bounds.size() > 0) summary.set("bounds", bounds);
  if (report.predicted_original) summary.set("predicted_original", report.predicted_original->time.value);
  if (report.trials) summary.set("trials", to_json(*report.trials));
  if (!report.agent.is_null()) summary.set("agent", report.agent);
  if (!report.parts.empty()) {
    Json parts = Json::array();
    for (const PartRow& row : report.parts) parts.push(to_json(row));
    summary.set("parts", std::move(parts));
  }
  if (stop) summary.set("stop", enum_name(*stop));
  return summary;
}

}  // namespace solstice::flow
