// The function that is being written: its lines, and names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/program.h"

namespace solstice::pytorch {

class Body {
 public:
  explicit Body(const ir::Program& program);

  const ir::Program& program() const { return program_; }
  const std::string& name_of(int tensor) const { return names_[static_cast<size_t>(tensor)]; }
  DType real() const { return real_; }  // that reals are computed in
  DType stored_as(int tensor) const;    // its dtype, or that of a local
  bool keeps_narrow() const { return keeps_narrow_; }

  void line(const std::string& text) { lines_.push_back(std::string(static_cast<size_t>(indent_), ' ') + text); }
  void indent(int by) { indent_ += by; }
  std::string temporary(const std::string& text);  // assigns it to a new name

  // Of all loops: they follow each other.
  const std::string& step_name() {
    if (step_name_.empty()) step_name_ = fresh("step");
    return step_name_;
  }

  // An integer tensor 0, 1, .. extent-1, made once.
  std::string range(int64_t extent);
  std::string device() { return uses_device_ = true, "device"; }

  // What stands before the first equation, and the equations.
  std::vector<std::string> opening() const;
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::string fresh(std::string wanted);

  const ir::Program& program_;
  std::vector<std::string> names_;
  std::set<std::string> taken_;
  std::vector<std::string> lines_;
  std::map<int64_t, std::string> ranges_;
  std::string step_name_;
  int indent_ = 8;
  int temporaries_ = 0;
  bool uses_device_ = false;
  DType real_ = DType::kF32;
  bool keeps_narrow_ = false;
};

}  // namespace solstice::pytorch
