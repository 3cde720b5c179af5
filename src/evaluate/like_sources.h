// Kernels whose generated code is the same but for names: repeated blocks of a model, which one module serves. A
// compiler that sees the code once takes the time of once.
//
// Names are those of the functions that are launched, and those that generated code makes of a tensor's pointer:
// "p_w1", and with a part before it "a_p_w1". They are declared in the code itself and no header of kernels/ has any of
// the kind, so that a change of them changes nothing else.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "families/family.h"
#include "ir/program.h"

namespace solstice::evaluate {

class LikeSources {
 public:
  explicit LikeSources(const ir::Program& program);

  struct Kept {
    std::string module;
    std::vector<std::string> entries;
  };
  // The earlier source that is like this one, with its functions in the order of `entries`; where there is none this
  // one is kept for later ones. `entries`: functions of the code that are launched. Given code is like no other.
  std::optional<Kept> find_or_keep(const families::Source& source, const std::vector<std::string>& entries);

 private:
  std::string without_names(const families::Source& source, const std::vector<std::string>& entries) const;
  bool is_pointer_name(const std::string& word) const;

  std::set<std::string> pointers_;
  std::map<std::string, Kept> kept_;  // by the code without names, and options
};

}  // namespace solstice::evaluate
