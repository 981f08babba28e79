"""Persona tests for anybody's bot: what is put to it over the OpenAI API, and how its replies are judged.

tests_file     a file of tests, read and validated
values         how the value of each of its keys is read
faults         faults of a reply that do not depend on the character
judging        what is wrong with the replies of one conversation, by everything its test asks for
running        the tests put to a back end, several at a time, with repeats
junit          the results as JUnit XML
example        a commented file of tests, for `--init`
"""
