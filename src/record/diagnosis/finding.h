// A finding: what keeps a kernel or a program from being faster, where, what it rests on, what may heal it and how much
// that can bring at most (schema solstice.finding/1). Made by diagnose/, read by agents, proposers, store and pages.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

// By its share of the program's time: `high` where the bound of the gain is 1.15 and more, `medium` from 1.05.
enum class FindingSeverity { kNote, kLow, kMedium, kHigh };
std::vector<const char*> enum_names(FindingSeverity);

enum class Confidence { kLow, kMedium, kHigh };
std::vector<const char*> enum_names(Confidence);

struct FindingPlace {
  std::string kernel = {};    // in the program; "": the program itself
  std::string step = {};      // in the plan
  std::string equation = {};  // text
  std::string part = {};      // of generated code: "producer", "main loop", "promotion", "epilogue", "fold"
  std::string file = {};      // of given code
  int line = 0;               // of the program, or of given code; 0: none
  static auto fields() {
    return std::make_tuple(optional_field("kernel", &FindingPlace::kernel, "in the program"),
                           optional_field("step", &FindingPlace::step, "in the plan"),
                           optional_field("equation", &FindingPlace::equation, "its text"),
                           optional_field("part", &FindingPlace::part, "of generated code"),
                           optional_field("file", &FindingPlace::file, "of given code"),
                           optional_field("line", &FindingPlace::line, "of the program or of given code"));
  }
};

// For people: "`y[m,n] = gelu(z[m,n])`, epilogue of `up`, line 9"; "the program" where no kernel is named.
std::string place_text(const FindingPlace& place);

struct Evidence {
  std::string what;
  double value = 0;
  std::string unit = {};  // "B", "us", "%", "registers"
  std::string source;     // ptxas, cubin, sass, plan, trace, counters
  static auto fields() {
    return std::make_tuple(field("what", &Evidence::what, "quantity"), field("value", &Evidence::value, "number"),
                           optional_field("unit", &Evidence::unit, "of the value"),
                           field("source", &Evidence::source, "whose word it is"));
  }
};

// What may be changed. All but `text` are moves: legal changes of the program that a proposer can make.
enum class ActionKind { kText, kKnobs, kCut, kRewrite, kMath, kOnce, kCode };
std::vector<const char*> enum_names(ActionKind);

struct FindingAction {
  ActionKind kind = ActionKind::kText;
  std::string text;
  std::string kernel = {};                        // that it changes
  std::map<std::string, std::string> knobs = {};  // of the kernel: new values
  std::string rewrite = {};                       // name of a rewrite
  std::string with = {};                          // of a cut: the kernel to make one with; "": it is taken apart
  static auto fields() {
    return std::make_tuple(field("kind", &FindingAction::kind, "text, or what kind of move"),
                           field("text", &FindingAction::text, "for people"),
                           optional_field("kernel", &FindingAction::kernel, "that it changes"),
                           optional_field("knobs", &FindingAction::knobs, "new values"),
                           optional_field("rewrite", &FindingAction::rewrite, "name of a rewrite"),
                           optional_field("with", &FindingAction::with, "of a cut: the kernel to make one with"));
  }
};

// Its knobs as a clause has them: "stages=4, tile=128x128x64"; "" where it changes none.
std::string knobs_text(const FindingAction& action);

// Of a finding's actions those that say the same of different kernels, for texts.
struct ActionGroup {
  const FindingAction* first = nullptr;
  size_t more = 0;  // kernels that it changes as well
};

// An upper bound, never a promise.
struct GainBound {
  double program = 1;  // speedup of the whole program
  double kernel = 1;   // of the kernel alone
  std::string because;
  bool open = false;  // nothing that is known holds it down; both are 1
  static auto fields() {
    return std::make_tuple(field("program", &GainBound::program, "speedup of the whole, at most"),
                           field("kernel", &GainBound::kernel, "speedup of the kernel, at most"),
                           field("because", &GainBound::because, "derivation"),
                           optional_field("open", &GainBound::open, "no bound is known; both are 1"));
  }
};

struct Finding {
  static constexpr const char* kSchema = "solstice.finding/1";
  std::string tool;
  FindingSeverity severity = FindingSeverity::kNote;
  FindingPlace place;
  std::vector<std::string> also = {};  // further kernels of the same cause; the bound is of all together
  std::string cause;                   // one sentence
  std::vector<Evidence> evidence;
  std::vector<FindingAction> actions;  // the best first
  GainBound gain;
  Confidence confidence = Confidence::kMedium;
  std::vector<std::string> sources;  // it rests on
  static auto fields() {
    return std::make_tuple(field("tool", &Finding::tool, "that found it"),
                           field("severity", &Finding::severity, "note, low, medium or high"),
                           field("place", &Finding::place, "kernel and part"),
                           optional_field("also", &Finding::also, "further kernels of the same cause"),
                           field("cause", &Finding::cause, "one sentence"),
                           field("evidence", &Finding::evidence, "numbers with units"),
                           field("actions", &Finding::actions, "ranked"), field("gain", &Finding::gain, "at most"),
                           field("confidence", &Finding::confidence, "low, medium or high"),
                           field("sources", &Finding::sources, "it rests on"));
  }
};

// In their order.
std::vector<ActionGroup> grouped_actions(const Finding& finding);
// ", and the same for 3 more"; "" of a single one.
std::string more_text(const ActionGroup& group);

// A finding that can be shown and ranked: a cause, evidence of finite numbers, bounds of at least 1. Error bad_record.
Status validate(const Finding& finding);

// The findings of a trial's record (Measurement::record), the gravest first. None if an older Solstice wrote it. Error
// bad_record where they are damaged.
Result<std::vector<Finding>> findings_of_record(const Json& record);

}  // namespace solstice
