// A fact: what changing one thing of a candidate came to (schema solstice.fact/1). Facts name no problem, file or
// tensor: they say what kind of kernel was changed, so that they hold for others like it. `run` and `node` tell where
// one is from.
#pragma once

#include <string>
#include <vector>

#include "record/fields.h"
#include "record/trial.h"

namespace solstice {

// Structure of a kernel, from coarse to exact.
struct Structure {
  std::string kind = {};     // "contraction, max: f32": the reductions and their formats
  std::string form = {};     // its equations, names numbered, without extents
  std::string extents = {};  // of its indices, as powers of two

  bool operator==(const Structure&) const = default;
  static auto fields() {
    return std::make_tuple(field("kind", &Structure::kind, "what is reduced, and of which formats"),
                           optional_field("form", &Structure::form, "equations with names numbered, without extents"),
                           optional_field("extents", &Structure::extents, "of its indices, as powers of two"));
  }
};

// A finding whose action was the move.
struct Advised {
  std::string tool;
  double bound = 1;  // speedup of the whole program that it stated, at most

  bool operator==(const Advised&) const = default;
  static auto fields() {
    return std::make_tuple(field("tool", &Advised::tool, "that found it"),
                           field("bound", &Advised::bound, "speedup of the whole program, at most"));
  }
};

struct Fact {
  static constexpr const char* kSchema = "solstice.fact/1";
  std::string run = {};      // id of the run
  int node = 0;              // of its tree
  std::string at = {};       // UTC
  std::string machine = {};  // name of the machine description
  Structure structure = {};  // of the kernel that was changed
  int alike = 1;             // kernels that were changed together
  std::string from = {};     // its setting before, "rows(threads=256)"; of a cut: "whole", "apart(sum: f32 | map: f32)"
  std::string to = {};
  TrialState state = TrialState::kVerified;
  double gain = 0;       // log2 of the program's time before over that after; 0 where it failed
  double share = 1;      // of that kernel in the program's time before, by the cost models
  double predicted = 0;  // log2 of the kernel's time before over that after, by the cost models
  double noise = 0;      // relative standard error of both times together
  std::vector<Advised> advised = {};

  static auto fields() {
    return std::make_tuple(
        field("run", &Fact::run, "id of the run"), field("node", &Fact::node, "of its tree"),
        optional_field("at", &Fact::at, "UTC"), field("machine", &Fact::machine, "machine description"),
        field("structure", &Fact::structure, "of the kernel that was changed"),
        optional_field("alike", &Fact::alike, "kernels that were changed together"),
        field("from", &Fact::from, "its setting before"), field("to", &Fact::to, "and after"),
        field("state", &Fact::state, "how far the candidate came"),
        optional_field("gain", &Fact::gain, "log2 of the program's time before over that after"),
        optional_field("share", &Fact::share, "of the kernel in the program's time, by the cost models"),
        optional_field("predicted", &Fact::predicted, "log2 of the kernel's own gain, by the cost models"),
        optional_field("noise", &Fact::noise, "relative standard error of both times together"),
        optional_field("advised", &Fact::advised, "findings whose action it was"));
  }
};

}  // namespace solstice
