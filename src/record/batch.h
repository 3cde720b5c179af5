// Candidates that are measured elsewhere: a folder that goes to a machine with a GPU and comes back (docs/detached.md).
//
//   batch.json          Batch
//   NAME.py             the user's module
//   NAME.ucut           the program of equations, where candidates are of one
//   candidates/N.ucut   the program of node N
//   results/N.json      BatchResult of node N, written whole
//   results/original.json   BatchOriginal
//
// A batch may come from anywhere: a record or program of more than kMostBatchFile bytes is refused before it is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "record/search_event.h"

namespace solstice {

// Batches of 1000 candidates are below 1 MB; a result holds one measurement.
inline constexpr int64_t kMostBatchFile = int64_t{64} << 20;

struct BatchCandidate {
  int node = 0;
  int request = 0;   // number of the event that asked for it: a node may be measured again
  std::string hash;  // of its program
  std::string reason;
  search::Precision precision = search::Precision::kUsual;
  static auto fields() {
    return std::make_tuple(field("node", &BatchCandidate::node, "of the run's tree"),
                           field("request", &BatchCandidate::request, "event that asked for it"),
                           field("hash", &BatchCandidate::hash, "of its program"),
                           optional_field("reason", &BatchCandidate::reason, "the move, for people"),
                           optional_field("precision", &BatchCandidate::precision, "of the measurement"));
  }
};

struct Batch {
  static constexpr const char* kSchema = "solstice.batch/1";
  std::string id;
  std::string run;      // in the store of whoever made it
  std::string problem;  // name for a person
  std::string file;     // the user's module or program, in the folder
  std::string of;       // of a program: the module that it computes, in the folder
  std::string class_name;
  std::string mode;  // train, eval; "": as it is made
  std::string numerics;
  bool frozen = false;
  std::string machine;  // description that candidates were made for
  std::string build;    // of Solstice
  std::string created;  // UTC
  std::vector<BatchCandidate> candidates;
  static auto fields() {
    return std::make_tuple(field("id", &Batch::id, "of this batch"), field("run", &Batch::run, "that it belongs to"),
                           field("problem", &Batch::problem, "name"),
                           field("file", &Batch::file, "the user's module or program, in the folder"),
                           optional_field("of", &Batch::of, "of a program: the module that it computes, in the folder"),
                           optional_field("class_name", &Batch::class_name, "of it, where one was named"),
                           optional_field("mode", &Batch::mode, "train or eval, where it was asked for"),
                           field("numerics", &Batch::numerics, "policy"), field("frozen", &Batch::frozen, "weights"),
                           field("machine", &Batch::machine, "that candidates were made for"),
                           field("build", &Batch::build, "of Solstice"), field("created", &Batch::created, "UTC"),
                           field("candidates", &Batch::candidates, "to be measured"));
  }
};

struct BatchResult {
  static constexpr const char* kSchema = "solstice.batch_result/1";
  std::string batch;
  int node = 0;
  int request = 0;
  std::string hash;  // of the program that was measured
  search::Measurement measurement;
  std::string at;  // UTC
  static auto fields() {
    return std::make_tuple(
        field("batch", &BatchResult::batch, "id"), field("node", &BatchResult::node, "of the run's tree"),
        field("request", &BatchResult::request, "event that asked for it"),
        field("hash", &BatchResult::hash, "of the program"),
        field("measurement", &BatchResult::measurement, "what became of it"), field("at", &BatchResult::at, "UTC"));
  }
};

struct BatchOriginal {
  static constexpr const char* kSchema = "solstice.batch_original/1";
  std::string batch;
  Seconds time;
  bool predicted = false;  // there was no GPU: every time is a model's
  std::string device;
  std::map<std::string, std::string> versions;
  static auto fields() {
    return std::make_tuple(field("batch", &BatchOriginal::batch, "id"),
                           field("time", &BatchOriginal::time, "seconds of a call"),
                           field("predicted", &BatchOriginal::predicted, "no GPU was used"),
                           field("device", &BatchOriginal::device, "GPU name, or model"),
                           field("versions", &BatchOriginal::versions, "of everything that matters"));
  }
};

}  // namespace solstice
