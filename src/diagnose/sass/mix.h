// Static counts of instructions (record/diagnosis/sass_facts.h).
#pragma once

#include <map>
#include <string_view>
#include <tuple>

#include "diagnose/sass/instruction.h"
#include "record/diagnosis/sass_facts.h"

namespace solstice::diagnose::sass {

// Adds instructions up. A call adds `callee`, the kind of what it calls, too; "" for no call.
class MixCounter {
 public:
  void add(const Instruction& instruction, std::string_view callee);
  void add(const MixCounter& other);
  SassMix mix() const;

  int64_t of(Kind kind) const { return kinds_[static_cast<size_t>(kind)]; }
  int64_t named(std::string_view name) const;  // of SassMix::named
  int64_t instructions() const { return instructions_; }

 private:
  static constexpr size_t kKinds = static_cast<size_t>(Kind::kConstant) + 1;
  static constexpr size_t kPipes = static_cast<size_t>(Pipe::kCbu) + 1;
  int64_t instructions_ = 0, issue_cycles_ = 0, waits_ = 0, computed_local_ = 0;
  int64_t kinds_[kKinds] = {}, pipes_[kPipes] = {};
  std::map<std::string_view, int64_t> named_;
  std::map<std::string_view, int64_t> calls_;
  std::map<std::tuple<Space, bool, int>, int64_t> accesses_;
};

// How SassMix::named calls an opcode; "" where no tool asks about it.
std::string_view name_for_tools(std::string_view opcode);

}  // namespace solstice::diagnose::sass
