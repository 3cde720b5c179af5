// A run outside the store, as `solstice export` writes it and `solstice import-run` reads it.
#pragma once

#include <string>
#include <vector>

#include "record/run.h"
#include "record/search_event.h"
#include "record/trial.h"

namespace solstice {

// A line of events.jsonl.
struct ExportedEvent {
  static constexpr const char* kSchema = "solstice.exported_event/1";
  int64_t number = 0;  // 0, 1, ... in the run
  std::string at;      // UTC
  search::Event event;
  static auto fields() {
    return std::make_tuple(field("number", &ExportedEvent::number, "0, 1, ... in the run"),
                           field("at", &ExportedEvent::at, "UTC"),
                           field("event", &ExportedEvent::event, "what happened"));
  }
};

// run.json of a folder. The counts tell a folder that lost lines on its way.
struct ExportedFolder {
  static constexpr const char* kSchema = "solstice.exported_folder/1";
  RunRecord run;
  int64_t trials = 0, events = 0;
  static auto fields() {
    return std::make_tuple(field("run", &ExportedFolder::run, "the run's record"),
                           field("trials", &ExportedFolder::trials, "lines of trials.jsonl"),
                           field("events", &ExportedFolder::events, "lines of events.jsonl"));
  }
};

// All of a run as one value.
struct ExportedRun {
  static constexpr const char* kSchema = "solstice.exported_run/1";
  RunRecord run;
  std::vector<TrialRecord> trials;    // by number
  std::vector<ExportedEvent> events;  // in order
  static auto fields() {
    return std::make_tuple(field("run", &ExportedRun::run, "the run's record"),
                           field("trials", &ExportedRun::trials, "by number"),
                           field("events", &ExportedRun::events, "of its search, in order"));
  }
};

}  // namespace solstice
