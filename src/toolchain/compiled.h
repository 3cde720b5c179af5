// Outcome of a compile, and the key that its cubin is cached under.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "record/fields.h"
#include "toolchain/ptxas.h"

namespace solstice::toolchain {

enum class Outcome { kOk, kFailed, kTimedOut, kCrashed };
std::vector<const char*> enum_names(Outcome);

// One input of a compile and its hash: "toolchain", "options" (the architecture among them),
// "source", "file" (where it was given), "header ptx/types.h", "missing cmath" (an include that was not found).
struct KeyPart {
  std::string name;
  std::string hash;
  bool operator==(const KeyPart&) const = default;
  static auto fields() {
    return std::make_tuple(field("name", &KeyPart::name, "what it is"),
                           field("hash", &KeyPart::hash, "of its content"));
  }
};

struct Compiled {
  Outcome outcome = Outcome::kFailed;
  std::string cubin;                     // bytes; PTX where the request asked for it
  std::string log;                       // of the compiler and of ptxas
  std::vector<KernelResources> kernels;  // one an entry
  std::vector<PtxasNote> notes;          // performance losses and warnings of ptxas
  Seconds seconds;                       // time of the compilation, when it was done
  bool cached = false;                   // this time it was read from the cache
  std::string key;
  std::vector<KeyPart> parts;

  bool ok() const { return outcome == Outcome::kOk; }
};

}  // namespace solstice::toolchain
