#include "cli/stop_options.h"

#include "cli/values.h"

namespace solstice::cli {

std::vector<Parameter> stop_parameters() {
  return {
      {"--eps",
       "SHARE",
       "stop the search within this share of the practical bound; 0: never",
       "0.02",
       {},
       false,
       false},
      {"--window", "TRIALS", "stop the search after this many trials without a gain; 0: never", "8", {}, false, false},
      {"--roi",
       "GAIN",
       "stop the search when the expected log-gain of the next trial is below this (0.01 is about 1 %, at most "
       "1); 0: never",
       "0",
       {},
       false,
       false}};
}

Status read_stop_rule(const Invocation& in, flow::OptimizeOptions& out) {
  SOLSTICE_TRY(out.search.eps, parse_eps(in.get("--eps")));
  SOLSTICE_TRY(out.search.window, parse_window(in.get("--window")));
  SOLSTICE_TRY(out.search.roi, parse_roi(in.get("--roi")));
  return success();
}

}  // namespace solstice::cli
