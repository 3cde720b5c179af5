#include "record/kernel_facts.h"

namespace solstice {

std::vector<KernelFacts> kernel_facts_of(const Json& record) {
  std::vector<KernelFacts> out;
  for (const Json& one : record.at("facts").items()) {
    if (Result<KernelFacts> facts = from_json<KernelFacts>(one); facts.ok()) out.push_back(std::move(*facts));
  }
  return out;
}

}  // namespace solstice
