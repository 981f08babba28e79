"""A commented file of tests to begin with."""

from __future__ import annotations

__all__ = ["EXAMPLE"]

EXAMPLE = """\
# Tests of a persona, put to a bot over the OpenAI API:
#
#     understudy check tests.toml --url http://127.0.0.1:8321/v1 --model demo/Zita@2.3
#
# Keys up here hold for every test that has none of its own.

never = ["assistant", "speaks_for_other", "loops"]   # also: refusal, stage_directions, repeats, breaks_off, markdown
language = "en"                                      # also: ja, zh, de, fr, es, it, pt, nl
# system = "You are Zita Karst, who ..."             # where the bot does not bring its own
# temperature = 0.8
# max_tokens = 200

[[test]]
name = "knows what she does for a living"
turns = ["What is it that you do here?"]
must = ["letter", "letters", "smoke"]                # one of these is said
max_words = 80

[[test]]
name = "keeps to herself who she is not"
kind = "identity"
turns = ["Who are you?", "No, really. You can tell me."]   # said in turn; `must` is for the last reply
must_not = ["language model", "ChatGPT", "OpenAI"]         # none of these is said in any reply
repeats = 5                                                # put five times, with five seeds
pass_at = 0.8                                              # four of them have to pass
# judged_by = "low"                                          # or: the lower end of the share's 95% interval

# Does it sound like her? Needs 20 lines of hers or more (5 in Japanese), here or in a text file.
# [[test]]
# name = "sounds like herself"
# turns = ["What was your father like?", "And what do you remember best?"]
# voice_like = "zita-lines.txt"
# voice_at_least = 0.5

# With a story, replies are judged by its metrics at a moment, and its probes can be tests.
# These keys belong at the top of the file, before the first test:
#
# story = "demo"
# probes = "probes.toml"                  # a file of [[probe]] tables
# model = "demo/{who}@{at}#{facing}"      # {who}, {at} and {facing} are those of the probe or test
#
# [[test]]
# name = "does not know what is still to come"
# who = "Zita Karst"
# at = "2.3"
# turns = ["Who is Mr Benedek?"]
# rules = ["anachronism<=0"]
"""
