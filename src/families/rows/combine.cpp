#include "families/rows/combine.h"

#include <fmt/format.h>

#include "families/rows/accumulate.h"

namespace solstice::families::rows {

std::string Combiner::write(const std::vector<Reduction>& reductions) {
  if (reductions.empty()) return "";
  const bool shuffles = !s_.strided && s_.group <= kWarp && s_.cluster == 1;
  std::string out, collected;
  for (size_t i = 0; i < reductions.size(); ++i) {
    const Reduction& r = reductions[i];
    out += fold_lanes(r, i, s_.vector);
    if (shuffles) {
      collected += fmt::format("{0} = rows::reduce_lanes<rows::{1}, {2}>({0});\n", r.name, r.op, s_.group);
    } else if (exchange_bytes(s_) > 0) {
      const Exchange text = exchange(r);
      out += text.publish;
      collected += text.collect;
    }
  }
  if (exchange_bytes(s_) > 0) out += s_.cluster > 1 ? "rows::sync_cluster();\n" : "rows::sync_block();\n";
  return out + collected + "}\n";
}

Combiner::Exchange Combiner::exchange(const Reduction& r) {
  const std::string slots = fmt::format("reinterpret_cast<{}*>(shared + {})", r.type, shared_);
  shared_ += exchange_bytes(s_);
  if (s_.strided) {
    return {fmt::format("{}[threadIdx.x] = {};\n", slots, r.name),
            fmt::format("{} = rows::collect_columns<rows::{}, {}, {}>({});\n", r.name, r.op, s_.threads, s_.rows_per_block(), slots)};
  }
  // A block's shared memory may be written by others only once it runs.
  const std::string wait = s_.cluster > 1 && !waited_ ? "rows::wait_for_start();\n" : "";
  waited_ = true;
  const std::string parameters = fmt::format("rows::{}, {}, {}, {}", r.op, s_.threads, s_.group, s_.cluster);
  return {wait + fmt::format("rows::publish<{}>({}, {}, rank);\n", parameters, r.name, slots),
          fmt::format("{} = rows::collect<{}, {}>({});\n", r.name, parameters, r.type, slots)};
}

}  // namespace solstice::families::rows
