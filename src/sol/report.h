// The speed-of-light report: three bounds on the time of a program on a machine, each with the terms it is made of and
// the equation or tensor behind every term (docs/sol.md).
//
//   io         no run can be faster: bytes that every algorithm must move, at datasheet rates. A measured time below it
//              is a bug or a cheat.
//   work       the operations of these equations on the fastest pipes that the numerics policy allows, at the highest
//              clock. Another algorithm may need fewer; nothing that computes these equations does.
//   practical  what a good implementation reaches: measured ceilings, a fusion of the equations into kernels, L2
//              residency of intermediates, launches.
#pragma once

#include <string>
#include <vector>

#include "record/fields.h"
#include "record/report.h"

namespace solstice::sol {

// `amount / rate = time`. Terms of one resource add up; resources overlap, so a bound is its largest resource.
struct SolTerm {
  std::string resource;  // "dram", "l2", "tensor.f16", "simt.f32", "sfu", "simt.i32"
  std::string what;      // tensor, or how it is computed ("fp16x3")
  Seconds time;
  double amount = 0;
  std::string unit;       // "B", "FLOP", "op"
  double rate = 0;        // a second
  bool measured = false;  // the rate is a measured ceiling, not a datasheet figure
  std::string cause;      // equation
  static auto fields() {
    return std::make_tuple(field("resource", &SolTerm::resource, "what it keeps busy"),
                           field("what", &SolTerm::what, "tensor or math"), field("time", &SolTerm::time, "seconds"),
                           field("amount", &SolTerm::amount, "bytes or operations"),
                           field("unit", &SolTerm::unit, "B, FLOP or op"), field("rate", &SolTerm::rate, "a second"),
                           field("measured", &SolTerm::measured, "rate: measured ceiling or datasheet"),
                           field("cause", &SolTerm::cause, "equation behind it"));
  }
};

struct SolBound {
  std::string name;
  std::string meaning;
  Seconds time;
  std::string limited_by;  // the resource, or the kernel, that takes longest
  std::vector<SolTerm> terms;
  static auto fields() {
    return std::make_tuple(field("name", &SolBound::name, "io, work or practical"),
                           field("meaning", &SolBound::meaning, "what it bounds"),
                           field("time", &SolBound::time, "seconds"),
                           field("limited_by", &SolBound::limited_by, "resource or kernel that takes longest"),
                           field("terms", &SolBound::terms, "what it is made of"));
  }
};

// One kernel of the practical bound's fusion.
struct SolKernel {
  std::string kind;                  // map, rows, contraction, attention, recurrent
  std::vector<std::string> tensors;  // targets of its equations
  Seconds time;                      // launch included
  std::string limited_by;            // resource
  Bytes dram;
  Bytes l2;  // intermediates that stay in L2
  static auto fields() {
    return std::make_tuple(field("kind", &SolKernel::kind, "map, rows, contraction, attention or recurrent"),
                           field("tensors", &SolKernel::tensors, "targets of its equations"),
                           field("time", &SolKernel::time, "seconds, launch included"),
                           field("limited_by", &SolKernel::limited_by, "resource"),
                           field("dram_bytes", &SolKernel::dram, "moved to and from DRAM"),
                           field("l2_bytes", &SolKernel::l2, "intermediates that stay in L2"));
  }
};

struct SolReport {
  static constexpr const char* kSchema = "solstice.sol/1";
  std::string program;
  std::string machine;
  std::string numerics;
  std::string weights;  // live, frozen
  SolBound io, work, practical;
  Seconds io_warm;  // io where inputs may already lie in L2
  std::vector<SolKernel> kernels;
  std::vector<std::string> notes;
  static auto fields() {
    return std::make_tuple(field("program", &SolReport::program, "name"), field("machine", &SolReport::machine, "name"),
                           field("numerics", &SolReport::numerics, "policy"),
                           field("weights", &SolReport::weights, "live or frozen"),
                           field("io", &SolReport::io, "bound by bytes, sound"),
                           field("work", &SolReport::work, "bound by operations of these equations"),
                           field("practical", &SolReport::practical, "estimate of a good implementation"),
                           field("io_warm", &SolReport::io_warm, "io with a warm L2, seconds"),
                           field("kernels", &SolReport::kernels, "fusion behind practical"),
                           field("notes", &SolReport::notes, "what is not in the numbers"));
  }
  Seconds bound() const { return io.time > work.time ? io.time : work.time; }
};

// For a terminal. Deterministic: golden tests compare it.
std::string render_text(const SolReport& report);
// The bounds as a run's report holds them.
std::vector<Bound> to_bounds(const SolReport& report);

}  // namespace solstice::sol
