#include "import/report/notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/report/wraps.h"

namespace solstice::importer {

namespace {

// A tied parameter is read under either name.
bool is_read(const Graph& graph, const GraphInput& input) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(), [&](const GraphInput& other) {
    const bool same =
        &other == &input || (input.storage && other.storage == input.storage && other.kind != GraphInputKind::kUser);
    return same && other.used;
  });
}

std::string python_text(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.as_bool() ? "True" : "False";
  return value.is_object() ? value.at("float").as_string() : value.dump();
}

void note_inputs(const Graph& graph, std::vector<ImportNote>& notes) {
  for (const GraphInput& input : graph.inputs) {
    const std::string& name = input.fqn.empty() ? input.id : input.fqn;
    if (input.kind == GraphInputKind::kUser && !input.is_tensor()) {
      notes.push_back({fmt::format("`{}` is fixed at {}", name, python_text(input.value)), {}});
    } else if (!is_read(graph, input)) {
      notes.push_back({fmt::format("`{}` is never read", name), {}});
    }
    if (input.data.find("missing")) {
      notes.push_back(
          {fmt::format("the contents of `{}` are unknown: {}", input.fqn, input.data.at("missing").as_string()), {}});
    }
  }
}

}  // namespace

void add_notes(const Graph& graph, const Values& values, std::vector<ImportNote>& notes) {
  note_inputs(graph, notes);
  for (const GraphNode& node : graph.nodes) {
    if (node.rng) notes.push_back({fmt::format("{} draws random numbers", node.op), source_of(graph, node)});
  }
  note_wraps(graph, values, notes);
  for (const char* list : {"dropped", "unchecked", "frozen"}) {
    const Json* const said = graph.producer.find(list);
    if (!said) continue;
    for (const Json& what : said->items()) notes.push_back({what.as_string(), {}});
  }
}

}  // namespace solstice::importer
