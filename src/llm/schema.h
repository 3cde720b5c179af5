// The part of JSON Schema that answers need: type (one or several), properties, required, additionalProperties, items,
// enum, const, minimum, maximum, minLength, maxLength, minItems, maxItems, and the annotations title, description,
// default, examples, $schema. A schema with anything else is an error, so that no rule is passed over in silence.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace solstice::llm {

struct Violation {
  std::string path;      // "$.steps[2].name"
  std::string expected;  // "a string of at least 1 character"
  std::string got;
  std::string text() const;
};

// Error bad_argument, with the path in the schema.
Status check_schema(const Json& schema);

// At most ten, in the value's order. The schema has passed check_schema.
std::vector<Violation> validate(const Json& value, const Json& schema);

// Closed objects whose members are all required, and no limits: what providers accept as a parameter.
bool is_strict(const Json& schema);

}  // namespace solstice::llm
