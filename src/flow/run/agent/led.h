// Where a language model goes on from: as the policy says, but for what failed on the device and for controllers that
// have a rule of their own.
#pragma once

#include "agents/controller.h"
#include "search/policy.h"

namespace solstice::flow {

// A program that a language model wrote and that failed on the device (wrong, crashed, hung) is gone on from next, so
// that it can be mended, `debug` times in a row at most; then the policy decides. Each repair is a child of what it
// repairs. What the device never had (refused by checker or compiler) has come back before it was a trial. A controller
// with a rule (ControllerSpec::from) goes by it alone: where the node is spent, nothing is left.
class Led : public search::Policy {
 public:
  // `policy` and `controller` outlive it.
  Led(search::Policy& policy, const agents::ControllerSpec& controller, int debug)
      : policy_(policy), controller_(controller), debug_(debug) {}
  Result<std::optional<search::Decision>> decide(const search::Tree& tree) override;

 private:
  search::Policy& policy_;
  const agents::ControllerSpec& controller_;
  const int debug_;
};

}  // namespace solstice::flow
