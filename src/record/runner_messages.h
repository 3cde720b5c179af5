// Messages between judge and runner (schema solstice.runner/1): newline-delimited JSON on the runner's standard
// input and output. A request is {"id", "request", "params"}; its reply {"id", "result"} or {"id", "error": {"code",
// "message"}}. After the errors `deadline` and `cuda_error` the runner's context is lost and it exits.
//
//   hello    -> RunnerHello
//   load     RunnerLoad -> RunnerLoaded      the plan of this process; once
//   prepare  RunnerWork -> RunnerDone        the plan's prepare phase
//   run      RunnerWork -> RunnerDone        one launch
//   time     RunnerTime -> RunnerTimes
//
// The runner never writes what it is given: the judge fills, poisons and reads its memory through the IPC handle.
#pragma once

#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

inline constexpr const char* kRunnerSchema = "solstice.runner/1";

struct RunnerHello {
  static constexpr const char* kSchema = kRunnerSchema;
  int64_t pid = 0;
  std::string gpu;
  std::string bus_id;
  int driver = 0;  // CUDA version of the driver, 13000 for 13.0
  bool cupti = false;
  std::string cupti_note;  // which library, or why there is none
  Json sandbox;            // SandboxReport::json()
  static auto fields() {
    return std::make_tuple(field("pid", &RunnerHello::pid, "process"), field("gpu", &RunnerHello::gpu, "name"),
                           field("bus_id", &RunnerHello::bus_id, "PCI address"),
                           field("driver", &RunnerHello::driver, "CUDA version of the driver"),
                           field("cupti", &RunnerHello::cupti, "kernel spans can be traced"),
                           field("cupti_note", &RunnerHello::cupti_note, "the library, or why there is none"),
                           field("sandbox", &RunnerHello::sandbox, "what is enforced"));
  }
};

struct RunnerLoad {
  std::string plan;         // path of plan.json
  int slots = 1;            // copies of inputs, outputs and states
  int64_t red_zone = 4096;  // bytes left free around every buffer
  std::string scrub =
      {};  // path of a cubin that clears an SM (kernels/judge/scrub.cu) before each launch; "": nothing does
  static auto fields() {
    return std::make_tuple(field("plan", &RunnerLoad::plan, "path of plan.json"),
                           field("slots", &RunnerLoad::slots, "copies of inputs, outputs and states"),
                           field("red_zone", &RunnerLoad::red_zone, "bytes around every buffer"),
                           optional_field("scrub", &RunnerLoad::scrub, "cubin that clears an SM before each launch"));
  }
};

struct RunnerLoaded {
  std::string handle;  // CUDA IPC handle of the arena, hexadecimal
  int64_t bytes = 0;   // of the arena
  Bytes memory_used;   // device memory that loading took
  static auto fields() {
    return std::make_tuple(field("handle", &RunnerLoaded::handle, "CUDA IPC handle of the arena"),
                           field("bytes", &RunnerLoaded::bytes, "size of the arena"),
                           field("memory_used", &RunnerLoaded::memory_used, "device memory that loading took"));
  }
};

struct RunnerWork {
  int slot = 0;
  Seconds deadline{10};
  static auto fields() {
    return std::make_tuple(field("slot", &RunnerWork::slot, "which copies to use"),
                           field("deadline", &RunnerWork::deadline, "seconds until it counts as hung"));
  }
};

struct RunnerDone {
  Seconds wall;
  static auto fields() { return std::make_tuple(field("wall", &RunnerDone::wall, "host time with synchronisation")); }
};

struct RunnerTime {
  std::vector<int> slots;   // one repetition each, in this order
  bool cupti = false;       // trace the kernels' span, instead of events
  int64_t flush_bytes = 0;  // written before each repetition; 0: L2 as the last one left it
  int poison = -1;          // byte that the workspace is filled with before each repetition; -1: it stays as it is
  Seconds deadline{60};
  static auto fields() {
    return std::make_tuple(field("slots", &RunnerTime::slots, "a repetition each"),
                           field("cupti", &RunnerTime::cupti, "trace kernels instead of events"),
                           field("flush_bytes", &RunnerTime::flush_bytes, "written before each repetition"),
                           optional_field("poison", &RunnerTime::poison, "fills the workspace before each repetition"),
                           field("deadline", &RunnerTime::deadline, "seconds until it counts as hung"));
  }
};

struct RunnerTimes {
  std::vector<double> seconds;          // of each repetition
  std::vector<std::string> activities;  // of one repetition: kernel names, "memset", "memcpy" (CUPTI only)
  std::vector<std::vector<double>> activity_seconds;  // of each repetition, in the order of `activities` (CUPTI only)
  std::vector<std::vector<double>> activity_starts = {}, activity_ends = {};  // from the repetition's first start
  bool same_activities = true;                                                // in every repetition
  Seconds launch;                                                             // host time of one launch call, median
  static auto fields() {
    return std::make_tuple(
        field("seconds", &RunnerTimes::seconds, "of each repetition"),
        field("activities", &RunnerTimes::activities, "kernels and copies of one repetition"),
        field("activity_seconds", &RunnerTimes::activity_seconds, "of each activity, of each repetition"),
        optional_field("activity_starts", &RunnerTimes::activity_starts, "of each activity, of each repetition"),
        optional_field("activity_ends", &RunnerTimes::activity_ends, "of each activity, of each repetition"),
        field("same_activities", &RunnerTimes::same_activities, "the same in every repetition"),
        field("launch", &RunnerTimes::launch, "host seconds of a launch call, median"));
  }
};

}  // namespace solstice
