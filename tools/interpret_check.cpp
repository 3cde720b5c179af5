// interpret_check: one request a line on stdin, {"text": program, "inputs": {name: {"shape", "values"}}}, one answer a
// line on stdout: {"results": the same form} or {"error": text}. Values that are not finite are the strings nan, inf and
// -inf. Driven by tests/python/test_language.py.
#include <cmath>
#include <iostream>

#include "base/json.h"
#include "ir/bind.h"
#include "ir/interpret.h"
#include "lang/parse.h"

namespace solstice {
namespace {

ir::TensorValues tensors_of(const Json& object) {
  ir::TensorValues out;
  for (const auto& [name, tensor] : object.members()) {
    ir::TensorValue& value = out[name];
    for (const Json& extent : tensor.at("shape").items()) value.shape.push_back(extent.as_int());
    for (const Json& element : tensor.at("values").items()) value.values.push_back(element.as_double());
  }
  return out;
}

Json number(double x) {
  if (std::isfinite(x)) return Json(x);
  return Json(std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

Json json_of(const ir::TensorValues& tensors) {
  Json out = Json::object();
  for (const auto& [name, tensor] : tensors) {
    Json shape = Json::array(), values = Json::array();
    for (const int64_t extent : tensor.shape) shape.push(extent);
    for (const double x : tensor.values) values.push(number(x));
    out.set(name, Json::object().set("shape", shape).set("values", values));
  }
  return out;
}

Result<Json> answer(const std::string& line) {
  SOLSTICE_TRY(const Json request, parse_json(line));
  const std::string text = request.at("text").as_string();
  Diagnostics diagnostics;
  const auto program = ir::bind(lang::parse(text, diagnostics), diagnostics);
  if (!program) return fail(Code::program_invalid, render_text(diagnostics, text, "program"));
  SOLSTICE_TRY(const ir::TensorValues results, ir::interpret(*program, tensors_of(request.at("inputs"))));
  return json_of(results);
}

}  // namespace
}  // namespace solstice

int main() {
  using solstice::Json;
  for (std::string line; std::getline(std::cin, line);) {
    const auto found = solstice::answer(line);
    std::cout << (found.ok() ? Json::object().set("results", *found) : Json::object().set("error", found.error().text())).dump()
              << std::endl;
  }
}
