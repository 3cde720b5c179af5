// Options of a language model: what is said is read, and none is said in vain.
#include "cli/agent_options.h"

#include <gtest/gtest.h>

#include "cli/parse.h"

namespace solstice::cli {
namespace {

Result<flow::AgentChoice> choice_of(const std::vector<std::string>& words) {
  const Command command = {
      .name = "sample", .summary = "", .help = "", .example = "", .parameters = agent_parameters(), .run = nullptr};
  SOLSTICE_TRY(const Invocation in, parse(command, words));
  return agent_choice(in);
}

TEST(AgentOptions, NoneIsSaidInVain) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"--write", "both"},
                                                                                     {"--write", "ucut"},
                                                                                     {"--sol", "off"},
                                                                                     {"--feedback", "raw"},
                                                                                     {"--expert", "4"},
                                                                                     {"--tune", "1"},
                                                                                     {"--debug", "1"},
                                                                                     {"--most-output", "100"},
                                                                                     {"--max-tokens", "1000"},
                                                                                     {"--provider", "openai"}}) {
    const auto choice = choice_of(words);
    ASSERT_FALSE(choice.ok()) << words[0];
    EXPECT_EQ(choice.error().code, Code::bad_argument);
    EXPECT_EQ(choice.error().message, words[0] +
                                          " is an option of a language model, and none takes part: add --agent "
                                          "(`solstice list controllers`), or leave " +
                                          words[0] + " out");
  }
  EXPECT_FALSE(choice_of({})->wanted());
  EXPECT_FALSE(choice_of({"--no-network"})->wanted());
}

TEST(AgentOptions, WhatIsSaidIsRead) {
  const auto choice = choice_of({"--agent", "flat", "--provider", "mailbox", "--write", "both", "--sol", "off",
                                 "--expert", "0", "--tune", "0", "--debug", "3"});
  ASSERT_TRUE(choice.ok()) << choice.error().text();
  EXPECT_EQ(choice->terms.text(), "--write both --sol off --expert 0 --tune 0 --debug 3");
  EXPECT_EQ(choice_of({"--agent", "flat", "--provider", "mailbox"})->terms.text(), "");
}

TEST(AgentOptions, WrongOnesAreErrors) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{"--expert", "-1"},
                                                                                    {"--tune", "-1"},
                                                                                    {"--debug", "-1"},
                                                                                    {"--expert", "x"},
                                                                                    {"--most-output", "0"},
                                                                                    {"--write", "poems"}}) {
    std::vector<std::string> words = {"--agent", "flat", "--provider", "mailbox"};
    words.insert(words.end(), more.begin(), more.end());
    const auto choice = choice_of(words);
    ASSERT_FALSE(choice.ok()) << more[0] << " " << more[1];
    EXPECT_EQ(choice.error().code, Code::bad_argument);
  }
}

}  // namespace
}  // namespace solstice::cli
