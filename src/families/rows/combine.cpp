#include "families/rows/combine.h"

#include <fmt/format.h>

#include "codegen/text/marks.h"
#include "families/reduction/accumulate.h"

namespace solstice::families::rows {

std::string Combiner::write(const std::vector<Reduction>& reductions) {
  if (reductions.empty()) return "";
  std::vector<Joined> all;
  for (size_t i = 0; i < reductions.size(); ++i)
    all.push_back({reductions[i], reductions[i].name, reductions[i].name, fold_lanes(reductions[i], i, s_.vector)});
  return join(all) + "}\n";
}

std::string Combiner::join(const std::vector<Joined>& all) {
  const bool shuffles = !s_.strided && s_.group <= kWarp && s_.cluster == 1;
  std::string out, collected;
  for (const Joined& one : all) {
    out += one.before;
    if (shuffles) {
      collected +=
          codegen::mark(one.reduction.equation) + fmt::format("{} = reduction::reduce_lanes<reduction::{}, {}>({});\n",
                                                              one.to, one.reduction.op, s_.group, one.from);
    } else if (exchange_bytes(s_) > 0) {
      const Exchange text = exchange(one);
      out += codegen::marked(text.publish, one.reduction.equation);
      collected += codegen::marked(text.collect, one.reduction.equation);
    }
  }
  if (exchange_bytes(s_) > 0) out += s_.cluster > 1 ? "reduction::sync_cluster();\n" : "reduction::sync_block();\n";
  return out + collected;
}

Combiner::Exchange Combiner::exchange(const Joined& one) {
  const Reduction& r = one.reduction;
  const std::string slots = fmt::format("reinterpret_cast<{}*>(shared + {})", r.type, shared_);
  shared_ += exchange_bytes(s_);
  if (s_.strided) {
    return {fmt::format("{}[threadIdx.x] = {};\n", slots, one.from),
            fmt::format("{} = reduction::collect_columns<reduction::{}, {}, {}>({});\n", one.to, r.op, s_.threads,
                        s_.rows_per_block(), slots)};
  }
  // A block's shared memory may be written by others only once it runs.
  const std::string wait = s_.cluster > 1 && !waited_ ? "reduction::wait_for_start();\n" : "";
  waited_ = true;
  const std::string parameters = fmt::format("reduction::{}, {}, {}, {}", r.op, s_.threads, s_.group, s_.cluster);
  return {wait + fmt::format("reduction::publish<{}>({}, {}, rank);\n", parameters, one.from, slots),
          fmt::format("{} = reduction::collect<{}, {}>({});\n", one.to, parameters, r.type, slots)};
}

}  // namespace solstice::families::rows
