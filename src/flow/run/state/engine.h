// Processes that several runs in a row can share: the Python process, the compiler's workers, the judge. A run that
// finds one missing, or that breaks one, starts another.
#pragma once

#include <memory>

namespace solstice::flow {

struct EngineParts;

class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  EngineParts& parts() { return *parts_; }
  void release_problem();  // frees the last problem's memory on the GPU
  // For a problem that takes turns with others: a Python process of its own, and the same compiler and judge, as far as
  // they run.
  std::unique_ptr<Engine> sibling() const;
  void share(const Engine& other);  // its compiler and judge
  bool sound() const;               // its judge's CUDA context is not broken, if it has a judge
  void drop_judge();

 private:
  std::unique_ptr<EngineParts> parts_;
};

}  // namespace solstice::flow
