"""The wire types of a reply are the documents that the command line prints."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.documents import reply_document
from understudy.server.chats.schemas import reply_struct
from understudy.story.dialogue import Candidate, Evidence, Reply
from understudy.story.types import Moment

MOMENTS = st.none() | st.lists(st.integers(1, 40), min_size=1, max_size=3).map(lambda numbers: Moment(tuple(numbers)))
EVIDENCE = st.builds(Evidence, st.text(), st.text(), MOMENTS, st.lists(st.text(), max_size=3).map(tuple))
CANDIDATES = st.builds(Candidate, st.text(), st.floats(allow_nan=False, allow_infinity=False), MOMENTS)


@given(
    st.builds(Reply, st.text(), st.lists(CANDIDATES, max_size=3).map(tuple), st.lists(EVIDENCE, max_size=3).map(tuple))
)
def test_a_reply_is_the_same_json_as_its_document(reply: Reply) -> None:
    assert msgspec.json.encode(reply_struct(reply)) == msgspec.json.encode(reply_document(reply))
