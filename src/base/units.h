// Units are types: a duration cannot be passed where a rate is meant. Values are doubles in SI base units.
#pragma once

#include <compare>

namespace solstice {

template <typename Tag>
struct Quantity {
  double value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : value(v) {}
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator+(Quantity o) const { return Quantity(value + o.value); }
  constexpr Quantity operator-(Quantity o) const { return Quantity(value - o.value); }
  constexpr Quantity operator*(double f) const { return Quantity(value * f); }
  constexpr Quantity operator/(double f) const { return Quantity(value / f); }
  constexpr double operator/(Quantity o) const { return value / o.value; }
  constexpr Quantity& operator+=(Quantity o) {
    value += o.value;
    return *this;
  }
};

using Seconds = Quantity<struct SecondsTag>;
using Bytes = Quantity<struct BytesTag>;
using Flops = Quantity<struct FlopsTag>;  // operations; an FMA is two
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag>;
using Hertz = Quantity<struct HertzTag>;
using Watts = Quantity<struct WattsTag>;
using Joules = Quantity<struct JoulesTag>;

constexpr Seconds operator/(Bytes b, BytesPerSecond r) { return Seconds(b.value / r.value); }
constexpr Seconds operator/(Flops f, FlopsPerSecond r) { return Seconds(f.value / r.value); }
constexpr BytesPerSecond operator/(Bytes b, Seconds s) { return BytesPerSecond(b.value / s.value); }
constexpr FlopsPerSecond operator/(Flops f, Seconds s) { return FlopsPerSecond(f.value / s.value); }
constexpr Joules operator*(Watts w, Seconds s) { return Joules(w.value * s.value); }

constexpr Seconds microseconds(double us) { return Seconds(us * 1e-6); }
constexpr Seconds milliseconds(double ms) { return Seconds(ms * 1e-3); }

}  // namespace solstice
