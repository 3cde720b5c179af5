#include "families/tensor_core/cost_terms.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::families::tensor_core {

Cost cost_of(const Product& c, const TileConfig& s, const CostTerms& terms, double traffic, std::string_view form) {
  Cost out;
  const double body = std::max(terms.compute, terms.memory);
  out.time = Seconds(terms.launch + terms.split + body);
  out.bound = terms.launch > terms.split + body ? "latency"
              : terms.memory > terms.compute    ? "memory"
              : s.math == Math::kSimt           ? "simt"
                                                : "tensor";
  out.traffic = Bytes(traffic);
  out.work = Flops(2.0 * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k) *
                   static_cast<double>(c.batches) * numerics::info(s.math).products * (s.dual ? 2 : 1));
  out.form = fmt::format("{} {}", numerics::info(s.math).name, form);
  out.terms = {{"launch", Seconds(terms.launch)},
               {"split", Seconds(terms.split)},
               {"compute", Seconds(terms.compute)},
               {"memory", Seconds(terms.memory)}};
  return out;
}

double fold_time(const machine::Machine& machine, const Epilogue& epilogue) {
  constexpr double kFold = 1.5e-6;  // a round trip to L2 for parts, another for those that are corrected
  if (!epilogue.rows) return 0;
  return machine.launch_time().value + kFold +
         static_cast<double>(epilogue.rows->bytes()) / machine.copy_ceiling().per_second;
}

double result_bytes(const ir::Program& program, const Product& c, const Epilogue& epilogue) {
  double bytes = 0;
  for (const codegen::EpilogueStore& store : epilogue.code.stores)
    bytes += static_cast<double>(c.batches * c.m * c.n) * size_of(*program.tensor(store.tensor).dtype);
  return bytes;
}

}  // namespace solstice::families::tensor_core
