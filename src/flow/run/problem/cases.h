// Cases for the judge: inputs, parameters and expected values that the oracle holds on the GPU, seen through CUDA IPC.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "flow/run/problem/problem.h"
#include "run/judge.h"
#include "run/oracle_client.h"

namespace solstice::flow {

struct CaseRequest {
  std::string set = "trial";  // name of the set in the oracle
  int64_t seed = 42;
  std::string family = "default";
  std::string weights = "built";
  std::string scaled = {};  // of family `scaled`: input.POSITION or parameter.NAME
  double least = 0;         // how far, normwise, its scale has to move a result

  std::string title() const;  // "seed 42, normal"; "seed 42, input.0 scaled"
};

struct PreparedCase {
  run::JudgeCase judge;
  std::set<std::string> handles;   // IPC handles that it keeps open
  std::vector<std::string> notes;  // what it does not test: a buffer that could not be perturbed
  std::string rooms;               // another set of the oracle, for ExpectedOutput::room; "": none
  std::string left_out;            // another, for ExpectedOutput::left_out
};

// Makes the set in the oracle and opens it here. Nothing where the family has no meaning for the module. Errors: those
// of the oracle (too_large where memory forbids), cuda_error.
Result<std::optional<PreparedCase>> prepare_case(run::OracleClient& oracle, run::Judge& judge, const Problem& problem,
                                                 const CaseRequest& request);

// Under a policy below `reference`: the errors of PyTorch's own results with TF32 allowed, where these depend on
// products and the case does not have them yet. What keeps them from being measured goes to `notes`.
Status measure_tf32(run::OracleClient& oracle, run::Judge& judge, const Problem& problem, run::JudgeCase& test,
                    std::vector<std::string>& notes);

// For a case whose limit a candidate does not keep: asks the oracle which elements its inputs do not determine at the
// precision of the judge's policy, and gives these their room (python/solstice/oracle/stability.py);
// PreparedCase::rooms says whether there are any. Returns what a report should say of it, "" where that is nothing.
Result<std::string> find_undetermined(run::OracleClient& oracle, run::Judge& judge, const Problem& problem,
                                      PreparedCase& test);

// For a case of inputs that are not all finite, and a candidate that has other elements finite than PyTorch: asks the
// oracle which of those that are not finite depend on no such element of the inputs, and gives the judge their values
// (python/solstice/oracle/left_out.py); PreparedCase::left_out says whether there are any. Returns why they were not
// looked for, "" where they were.
Result<std::string> find_left_out(run::OracleClient& oracle, run::Judge& judge, const Problem& problem,
                                  PreparedCase& test);

// Closes what only `done` uses, then lets the oracle free the set.
Status release_case(run::OracleClient& oracle, run::Judge& judge, const PreparedCase& done, const PreparedCase& kept,
                    const std::string& set);

}  // namespace solstice::flow
