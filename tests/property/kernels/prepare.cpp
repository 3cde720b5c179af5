#include "property/kernels/prepare.h"

#include <fmt/format.h>

#include <exception>

#include "evaluate/candidate.h"
#include "property/kernels/random.h"

namespace solstice::random_kernels {
namespace {

// Values of sizes, which tables describe in words.
const std::vector<std::string> kSizes = {"128x256x64", "128x256", "128x128", "128x64", "64x256", "64x128",
                                         "64x64",      "32x32",   "16x128",  "8x128",  "64x192", "32x64",
                                         "128x128x32", "1x1",     "2x1",     "1x2",    "2x2",    "7x3"};

std::string random_value(const families::KnobSpec& spec, Random& random) {
  if (!spec.values.empty()) return random.of(spec.values);
  if (spec.type == "bool") return random.word({"true", "false"});
  if (spec.type == "size") return random.of(kSizes);
  if (spec.type == "int")
    return std::to_string(spec.most > 0 && random.percent(80) ? random.between(spec.least, spec.most)
                                                              : random.of({0, 1, 2, 3, 4, 6, 8, 64}));
  return "auto";
}

std::string from_table(const families::Family& family, Random& random) {
  std::string out;
  for (const families::KnobSpec& spec : family.knobs()) {
    if (spec.name.empty() || !random.percent(30)) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", spec.name, random_value(spec, random));
  }
  return out;
}

std::string proposed(const families::Family& family, const Prepared& plain, const machine::Machine& machine,
                     Random& random) {
  const families::Context context{*plain.program, machine,
                                  plain.program->numerics.empty() ? "reference" : plain.program->numerics, true};
  const auto found = family.propose(context, plain.program->kernels.back());
  return found.ok() && !found->empty() ? ir::to_text(random.of(*found).knobs) : "";
}

// What the family proposes, with a value of its table's own for one knob.
std::string varied(const families::Family& family, const Prepared& plain, const machine::Machine& machine,
                   Random& random) {
  const families::KnobSpec spec = random.of(family.knobs());
  std::string knobs = proposed(family, plain, machine, random);
  const size_t at = knobs.find(spec.name + "=");
  if (spec.name.empty() || at == std::string::npos || (at > 0 && knobs[at - 1] != ' ')) return knobs;
  const size_t end = knobs.find(',', at);
  return knobs.replace(at, (end == std::string::npos ? knobs.size() : end) - at,
                       spec.name + "=" + random_value(spec, random));
}

Fate fate_of(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.all()) {
    // E100 and up are of schedules.
    if (d.severity == Severity::kError && d.code.size() == 4 && d.code < "E100") return Fate::kInvalid;
  }
  return Fate::kRefused;
}

}  // namespace

Prepared prepare_as_written(Sample sample, const machine::Machine& machine) {
  Prepared out;
  out.sample = std::move(sample);
  const std::string text = out.sample.text();
  const auto fail_with = [&](Fate fate, std::string why) {
    out.fate = fate;
    out.why = std::move(why);
  };
  try {
    evaluate::Setting setting{machine, "", true, nullptr, out.sample.name()};
    evaluate::Checked checked = evaluate::check(text, setting);
    if (!checked.ok()) {
      fail_with(fate_of(checked.diagnostics), render_text(checked.diagnostics, text, out.sample.name()));
      return out;
    }
    out.program = std::move(checked.program);
    const std::string policy = out.program->numerics.empty() ? "reference" : out.program->numerics;
    auto lowered = evaluate::lower({*out.program, machine, policy, true});
    if (lowered.ok()) {
      out.lowered = std::move(lowered).value();
    } else {
      const bool missing = lowered.error().code == Code::not_yet || lowered.error().code == Code::too_large;
      fail_with(missing ? Fate::kRefused : Fate::kFault, lowered.error().text());
    }
  } catch (const std::exception& e) {
    fail_with(Fate::kFault, fmt::format("an exception: {}", e.what()));
  }
  return out;
}

Prepared prepare(Sample sample, uint64_t seed, const machine::Machine& machine) {
  const families::Family& family = *families::find_family(sample.family);
  Random random(seed_of(seed, sample.name(), 2));
  Prepared plain = prepare_as_written(sample, machine);
  if (plain.fate != Fate::kReady) return plain;
  const int how = random.below(100);
  if (how < 35) return plain;
  if (how < 65) {
    sample.knobs = proposed(family, plain, machine, random);
    Prepared out = prepare_as_written(sample, machine);
    if (out.fate == Fate::kRefused)
      out.fate = Fate::kFault, out.why = "what the family proposes is refused: " + out.why;
    return out;
  }
  int refused = 0;
  for (int tries = 0; tries < 6; ++tries) {
    sample.knobs = how < 80 ? from_table(family, random) : varied(family, plain, machine, random);
    Prepared out = prepare_as_written(sample, machine);
    out.refused_knobs = refused;
    if (out.fate != Fate::kRefused) return out;
    ++refused;
  }
  plain.refused_knobs = refused;
  return plain;
}

}  // namespace solstice::random_kernels
