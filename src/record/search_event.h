// Events of a search, as the store keeps it (schema solstice.search_event/1) and as an external
// policy is told. A tree of attempts (search/tree.h) is what its events say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/units.h"
#include "record/fields.h"
#include "record/trial.h"

namespace solstice::search {

// Effort of a measurement. Rough ones choose, precise ones decide.
enum class Precision { kRough, kUsual, kPrecise };
std::vector<const char*> enum_names(Precision);

// Whose idea a proposal is: one that a language model was asked for, or any other.
enum class Author { kOther, kModel };
std::vector<const char*> enum_names(Author);

struct Proposal {
  std::string program = {};                // the candidate's text
  std::string reason = {};                 // the move: what the proposer wants to find out, for people
  Seconds predicted = {};                  // by the cost model; 0 where it has none
  int parent = 0;                          // node that it was derived from
  std::vector<std::string> settings = {};  // of each kernel, so that a later run finds the candidate again
  std::string equations = {};              // which it computes: "" the problem's own, else "rewritten by factor_sums"
  std::string cut = {};                    // into kernels, by the numbers of the equations: "0 1 | 2"
  double remembered = 0;  // log2 of what memory of other problems expects beyond `predicted`, against the parent
  std::optional<Seconds> known = {};  // time that an earlier run on this machine measured: for ordering only
  std::string origin = {};            // who made it: "expert", a model's name, "person"
  int64_t tokens = 0;                 // that it took to make
  int64_t repairs = 0;                // texts before it that were not legal, which cost no trial
  Author author = Author::kOther;     // see by_model()
  std::string answer = {};  // of the model that made it, as it gave it; "" where it gave none that could be read
  bool barren = false;      // the attempt brought no program: `program` is a comment that says so
  std::string role = {};    // of a turn before the candidate ("plan"), which has no program: kNoted; else ""
  Json artefact = {};       // what that turn brought
  Precision precision = Precision::kUsual;

  // Earlier versions said so by the answer alone.
  bool by_model() const { return author == Author::kModel || !answer.empty(); }

  static auto fields() {
    return std::make_tuple(field("program", &Proposal::program, "the candidate's text"),
                           field("reason", &Proposal::reason, "the move, for people"),
                           optional_field("predicted", &Proposal::predicted, "seconds, by the cost model"),
                           field("parent", &Proposal::parent, "node"),
                           optional_field("settings", &Proposal::settings, "of each kernel"),
                           optional_field("equations", &Proposal::equations, "empty: the problem's own"),
                           optional_field("cut", &Proposal::cut, "into kernels, by the numbers of the equations"),
                           optional_field("remembered", &Proposal::remembered,
                                          "log2 of what memory of other problems expects beyond the cost model"),
                           optional_field("known", &Proposal::known, "seconds that an earlier run measured"),
                           optional_field("origin", &Proposal::origin, "who made it"),
                           optional_field("tokens", &Proposal::tokens, "that it took to make"),
                           optional_field("repairs", &Proposal::repairs, "texts before it that were not legal"),
                           optional_field("author", &Proposal::author, "model where a language model was asked for it"),
                           optional_field("answer", &Proposal::answer, "of the model that made it"),
                           optional_field("barren", &Proposal::barren,
                                          "the attempt brought no program: `program` is a comment that says so"),
                           optional_field("role", &Proposal::role, "of a turn before the candidate"),
                           optional_field("artefact", &Proposal::artefact, "what that turn brought"),
                           optional_field("precision", &Proposal::precision, "of its first measurement"));
  }
};

// Result of a trial. `time` is set for verified candidates, and for predicted ones where there is no device.
struct Measurement {
  TrialState state = TrialState::kIllegal;
  Seconds time = {};
  Seconds cost = {};        // wall time the trial took
  double joules = 0;        // energy the trial took, where it was read
  double noise = 0;         // relative standard error of `time`; 0 where it is not known
  std::string detail = {};  // one line for people: why it failed, how far off it was
  Json record = {};         // verdict, timing, resources: what the store keeps

  bool usable() const { return state == TrialState::kVerified || state == TrialState::kPredicted; }

  static auto fields() {
    return std::make_tuple(field("state", &Measurement::state, "how far it came"),
                           optional_field("time", &Measurement::time, "seconds a call"),
                           optional_field("cost", &Measurement::cost, "seconds the trial took"),
                           optional_field("joules", &Measurement::joules, "energy the trial took"),
                           optional_field("noise", &Measurement::noise, "relative standard error of the time"),
                           optional_field("detail", &Measurement::detail, "why, in one line"),
                           optional_field("record", &Measurement::record, "verdict, timing, resources"));
  }
};

// Relative standard error of a median by its samples, as far as they are normal in the middle: 1.2533 * 1.4826 * their
// median absolute deviation / sqrt(n), relative to `time`. A repetition that something disturbed widens it by no more
// than its place in the order. 0 of fewer than 3 samples: it is not known.
double noise_of_median(const std::vector<double>& samples, double time);

// The measurement's noise, else that of its samples: measurements of earlier versions have only these.
double noise_of(const Measurement& measurement);

// One event of a search.
struct Event {
  enum class Kind { kProposed, kSkipped, kAgain, kMeasured, kLost, kSpent, kOpened, kNoted };
  Kind kind = Kind::kProposed;
  int node = 0;
  std::optional<Proposal> proposal = {};        // kProposed, kSkipped, kNoted; kSpent: why, without a program
  std::optional<Measurement> measurement = {};  // kMeasured
  std::optional<Precision> precision = {};      // kAgain

  static auto fields() {
    return std::make_tuple(
        field("kind", &Event::kind, "proposed, skipped, again, measured, lost, spent, opened, noted"),
        field("node", &Event::node, "which"),
        optional_field("proposal", &Event::proposal,
                       "of a new node, of what is not tried, why there is none, or a turn before it"),
        optional_field("measurement", &Event::measurement, "that came in"),
        optional_field("precision", &Event::precision, "asked for again"));
  }
};
std::vector<const char*> enum_names(Event::Kind);

}  // namespace solstice::search
