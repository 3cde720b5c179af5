// How a language model is led: what is said, what was kept with the run, and what is usual.
#include "flow/run/agent/agent_choice.h"

#include <gtest/gtest.h>

namespace solstice::flow {
namespace {

AgentTerms said() {
  AgentTerms out;
  out.writes = agents::Writes::kBoth;
  out.expert = 0;
  out.cost = llm::Dollars(2.5);
  return out;
}

TEST(AgentTerms, WhatIsNotSaidIsAsBefore) {
  AgentTerms before = AgentTerms::usual();
  before.sol = false;
  before.tokens = 100000;
  before.cost = llm::Dollars(9);
  const AgentTerms now = said().or_as(before).or_as(AgentTerms::usual());
  EXPECT_EQ(
      now.text(),
      "--write both --sol off --feedback tools --expert 0 --tune 2 --debug 2 --most-output 16384 --max-tokens 100000 "
      "--max-cost 2.5");
  EXPECT_EQ(AgentTerms().or_as(AgentTerms::usual()).text(),
            "--write ucut --sol on --feedback tools --expert 8 --tune 2 --debug 2 --most-output 16384");
}

TEST(AgentTerms, ARunKeepsThem) {
  RunRecord run;
  run.options = Json::object().set("agent", "flat").set("agent_terms", to_json(said()));
  const auto text = to_json(run).dump();
  const auto json = parse_json(text);
  ASSERT_TRUE(json.ok());
  const auto read = from_json<RunRecord>(*json);
  ASSERT_TRUE(read.ok()) << read.error().text();
  const auto terms = terms_of(*read);
  ASSERT_TRUE(terms.ok()) << terms.error().text();
  EXPECT_EQ(terms->text(), "--write both --expert 0 --max-cost 2.5");
}

TEST(AgentTerms, ARunOfBeforeSaysNothing) {
  RunRecord run;
  for (const Json& options : {Json(), Json::object().set("agent", "flat")}) {
    run.options = options;
    const auto terms = terms_of(run);
    ASSERT_TRUE(terms.ok());
    EXPECT_EQ(terms->text(), "");
  }
  run.options = Json::object().set("agent_terms", Json::object().set("writes", "poems"));
  EXPECT_EQ(terms_of(run).error().code, Code::bad_record);
}

}  // namespace
}  // namespace solstice::flow
