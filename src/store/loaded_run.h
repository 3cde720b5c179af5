// Runs as the store gives them out.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "record/run.h"
#include "record/search_event.h"
#include "record/trial.h"

namespace solstice::store {

// An event of a search.
struct StoredEvent {
  search::Event event;
  std::string at;  // UTC
};

struct LoadedRun {
  RunRecord run;
  std::vector<TrialRecord> trials;       // by number
  std::vector<StoredEvent> events = {};  // of its search, in order
};

// A damaged record keeps its place: the error says which it is, in which file.
struct ListedRun {
  std::string id;
  Result<RunRecord> run;
};

// A verified program with its time.
struct FastProgram {
  std::string run;
  int trial = 0;
  std::string problem;  // name for a person
  std::string device;   // the GPU that measured it
  Seconds measured;
  Seconds original;  // of the run; 0: it is not known
  std::string program;
};

struct RunSize {
  std::string id;
  bool running = false;
  Seconds age;         // since it began
  Bytes size;          // of its records and programs; a program that several runs have counts for each
  bool part = false;   // a stage of a module that was cut
  std::string parent;  // of a part: the module's run; "" where the record names none
};

}  // namespace solstice::store
