// Static facts about the machine code of a kernel, a part of solstice.facts/1 (record/diagnosis/facts.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

// Loads and stores of one width. `space`: "global", "shared", "local", "generic".
struct SassAccess {
  std::string space;
  bool store = false;
  int bits = 0;  // a thread and instruction
  int64_t count = 0;
  static auto fields() {
    return std::make_tuple(field("space", &SassAccess::space, "global, shared, local or generic"),
                           field("store", &SassAccess::store, "written"),
                           field("bits", &SassAccess::bits, "a thread and instruction"),
                           field("count", &SassAccess::count, "instructions"));
  }
};

// Static instructions of a piece of machine code.
// `counts` by kind of work: "wgmma", "mma" (tensor cores, of a warp group and of a warp), "fp32", "fp64", "fp16"
// (arithmetic), "int", "address" (integer arithmetic that ends in an address), "mufu" (transcendental functions and
// reciprocals), "convert", "move" (also selections and constants), "compare", "control" (branches, and what does
// nothing), "barrier", "wait" (for copies, mbarriers, wgmma, the kernel before), "fence", "shuffle" (between lanes),
// "atomic", "tma" (bulk copies), "async_copy" (LDGSTS), "load", "store", "constant", "unknown".
// `pipes`: "tensor", "fma", "alu", "fp64", "fp16", "xu", "lsu", "tex", "tma", "uniform", "adu", "cbu", "none".
// `named`: opcodes that tools ask about, "MUFU.EX2" (every kind of MUFU), "BAR.SYNC", "SYNCS", "WARPGROUP.DEPBAR",
// "WARPGROUP.ARRIVE", "UTMALDG", "UTMASTG", "UBLKCP", "LDGSTS", "LDL", "STL", "LDSM", "STSM", "FCHK" (an IEEE division
// of fp32), "I2F.RP" (a division of integers), "F2F.F64.F32", "F2F.F32.F64", "R2UR", "SHFL", "CALL".
// `calls`: by what is called, as SassRoutine::kind.
struct SassMix {
  int64_t instructions = 0;
  int64_t issue_cycles = 0;    // stalls that the encoding itself asks for, added up in program order
  int64_t waits = 0;           // instructions that wait for a scoreboard
  int64_t computed_local = 0;  // accesses of local memory at a computed address: of an array, no spill
  std::map<std::string, int64_t> counts = {};
  std::map<std::string, int64_t> pipes = {};
  std::map<std::string, int64_t> named = {};
  std::map<std::string, int64_t> calls = {};
  std::vector<SassAccess> accesses = {};
  static auto fields() {
    return std::make_tuple(
        field("instructions", &SassMix::instructions, "in the text"),
        optional_field("issue_cycles", &SassMix::issue_cycles, "asked for by the encoding"),
        optional_field("waits", &SassMix::waits, "instructions that wait for a scoreboard"),
        optional_field("computed_local", &SassMix::computed_local, "accesses of local memory at a computed address"),
        field("counts", &SassMix::counts, "by kind of work"),
        optional_field("pipes", &SassMix::pipes, "by the pipe that runs them"),
        optional_field("named", &SassMix::named, "opcodes that tools ask about"),
        optional_field("calls", &SassMix::calls, "by what is called"),
        optional_field("accesses", &SassMix::accesses, "by space, direction and width"));
  }
};

// Addresses, both ends included.
struct SassPiece {
  int64_t first = 0, last = 0;
  static auto fields() {
    return std::make_tuple(field("first", &SassPiece::first, "address of its first instruction"),
                           field("last", &SassPiece::last, "address of its last instruction"));
  }
};

// `does`, by the loop and those inside: "wgmma" (has tensor-core instructions), "promote" (adds accumulators up, in a
// function that has wgmma), "load" (copies to shared memory or registers), "store", "compute", "wait" (only polls).
struct SassLoop {
  int parent = -1;  // index in the function's loops; -1: outermost
  int depth = 1;
  int64_t first = 0, last = 0;         // addresses of its head and of its last branch back
  std::vector<SassPiece> pieces = {};  // all its code, where that is not `first` to `last`: some lies out of line
  std::string does = {};
  bool per_lane = false;  // repeats only while lanes of a warp have other values (BRA.U.ANY); once as a rule
  std::string file = {};  // "": not known
  int line = 0;           // in the source, of most of its instructions; 0: not known
  SassMix mix;            // inner loops included, once
  static auto fields() {
    return std::make_tuple(
        optional_field("parent", &SassLoop::parent, "index of the loop around it, -1: none"),
        field("depth", &SassLoop::depth, "1: outermost"), field("first", &SassLoop::first, "address of its head"),
        field("last", &SassLoop::last, "address of its last branch back"),
        optional_field("pieces", &SassLoop::pieces, "its code, where some lies out of line"),
        optional_field("does", &SassLoop::does, "most of its work"),
        optional_field("per_lane", &SassLoop::per_lane, "repeats only while lanes differ"),
        optional_field("file", &SassLoop::file, "of the source"),
        optional_field("line", &SassLoop::line, "in the source"), field("mix", &SassLoop::mix, "static counts"));
  }
};

// Code behind a kernel that it calls. `kind`: the compiler's slow paths, as "division f32", "reciprocal f32",
// "sqrt f64", "division s64", "remainder u64"; else "function".
struct SassRoutine {
  std::string name;
  std::string kind;
  int64_t instructions = 0;
  int64_t calls = 0;  // places
  static auto fields() {
    return std::make_tuple(field("name", &SassRoutine::name, "its symbol"),
                           field("kind", &SassRoutine::kind, "of slow path, or function"),
                           field("instructions", &SassRoutine::instructions, "its own"),
                           field("calls", &SassRoutine::calls, "places that call it"));
  }
};

struct SassPlace {
  int64_t address = 0;
  std::string file = {};
  int line = 0;  // 0: not known
  static auto fields() {
    return std::make_tuple(field("address", &SassPlace::address, "in the function"),
                           optional_field("file", &SassPlace::file, "of the source"),
                           optional_field("line", &SassPlace::line, "in the source"));
  }
};

// A place in the text that a kernel was made of, as line tables of a profile build tell.
struct CodePlace {
  std::string part = {};      // of generated code: "producer", "main loop", "promotion", "epilogue", "fold", "load", ..
  int number = 0;             // of the equation in its kernel, from 1; 0: of none, or of given code
  std::string equation = {};  // its text
  std::string file = {};      // of given code
  int line = 0;               // of the program, or of given code
  static auto fields() {
    return std::make_tuple(optional_field("part", &CodePlace::part, "of generated code"),
                           optional_field("number", &CodePlace::number, "of the equation in its kernel, from 1"),
                           optional_field("equation", &CodePlace::equation, "its text"),
                           optional_field("file", &CodePlace::file, "of given code"),
                           optional_field("line", &CodePlace::line, "of the program or of given code"));
  }
};

// The machine code of one place in one loop.
struct SassSpot {
  int place = 0;  // index in SassFacts::places
  int loop = -1;  // the innermost around it: index in SassFacts::loops; -1: in none
  SassMix mix;    // without pipes
  static auto fields() {
    return std::make_tuple(field("place", &SassSpot::place, "index of the place"),
                           optional_field("loop", &SassSpot::loop, "index of the innermost loop, -1: none"),
                           field("mix", &SassSpot::mix, "static counts"));
  }
};

// Instructions from `first` on, up to the next run, are of one place.
struct SassRun {
  int64_t first = 0;
  int place = -1;  // -1: not known
  static auto fields() {
    return std::make_tuple(field("first", &SassRun::first, "address of its first instruction"),
                           optional_field("place", &SassRun::place, "index of the place, -1: not known"));
  }
};

struct SassFacts {
  SassMix mix;
  std::vector<SassLoop> loops = {};           // an outer one before its inner ones
  std::vector<SassRoutine> routines = {};     // by address
  std::vector<SassPlace> drained_wgmma = {};  // waits for all wgmma between two that add to the same accumulators
  double unknown = 0;                         // share of instructions that the parser does not know
  std::vector<std::string> unknown_names = {};
  std::string in_part = {};  // why loops may be missing; "": they are all there
  // Of profile builds; empty: where machine code comes from is not known.
  std::vector<CodePlace> places = {};
  std::vector<SassSpot> spots = {};
  std::vector<SassRun> runs = {};  // by address
  static auto fields() {
    return std::make_tuple(field("mix", &SassFacts::mix, "of the whole function, its routines included"),
                           field("loops", &SassFacts::loops, "outer ones first"),
                           optional_field("routines", &SassFacts::routines, "that it calls"),
                           optional_field("drained_wgmma", &SassFacts::drained_wgmma,
                                          "waits between wgmma instructions of one accumulator"),
                           field("unknown", &SassFacts::unknown, "share of unknown instructions"),
                           optional_field("unknown_names", &SassFacts::unknown_names, "the first of them"),
                           optional_field("in_part", &SassFacts::in_part, "why loops may be missing"),
                           optional_field("places", &SassFacts::places, "in the text that it was made of"),
                           optional_field("spots", &SassFacts::spots, "counts by place and loop"),
                           optional_field("runs", &SassFacts::runs, "places by address"));
  }
};

}  // namespace solstice
