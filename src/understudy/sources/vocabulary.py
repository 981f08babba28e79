"""Words by which names, labels and sentences are told apart in transcripts."""

from __future__ import annotations

__all__ = ["ARTICLES", "GROUPS", "ROLES", "SENTENCE_OPENERS", "STARTERS", "SUFFIXES", "TITLES", "words"]


def words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


ARTICLES = words("the a an")

TITLES = words(
    """
    mr mrs ms miss dr doctor prof professor sir lady lord king queen prince princess father mother sister brother
    aunt uncle grandma grandpa captain officer judge reverend rabbi headmaster president senator coach detective st
    saint madame madam young old little big fat past future fake dead real evil dream
    """
)
"""Before a name, they make another person of it."""

SUFFIXES = words("sr jr senior junior ii iii one two three")

ROLES = words(
    """
    man woman guy girl boy kid lady gentleman voice machine tv video radio phone music movie song customer student
    teacher nurse waiter waitress clerk driver guard agent director announcer reporter actor actress officer
    delivery police security mom dad boss band hotel gym bar store flight male female second first third another
    other
    """
)
"""`Pizza Guy` is not the full name of `Guy`."""

GROUPS = words(
    """
    all everyone everybody both guys boys girls crowd others men women kids children people audience group gang
    together customers students guests voices various chorus friends omnes ensemble class office party several team
    rest staff congregation sisters brothers waiters employees teammates workers ladies couple quartet band soldiers
    """
)
"""Labels for more than one person."""

STARTERS = words(
    """
    i you he she it we they this that these those there here so and but or if when while like what why how where who
    my your our their its it's here's there's that's what's let's okay ok yes yeah no not just then now well oh hey
    please because remember anyway also plus ps p.s. i'm you're we're he's she's they're i've i'll don't is are was
    do does did can could would should have has had be to of for as with by from about maybe which next question
    answer rule number option step reason headline fact warning translation subject re title day tonight tomorrow
    today first second third one two three four five six
    """
)
"""A sentence begins so, a name does not."""

SENTENCE_OPENERS = words(
    """
    a an the oh hi hello thank thanks sorry wait come go get look see good great right all alright um uh er ah wow
    my sure fine excuse please never nothing nobody everything everyone some any more really hold stop give tell
    take me us are aren't isn't wasn't can't won't couldn't wouldn't shouldn't may might must that'd i'd you've
    you'd you'll we've we'll we'd he'd she'd it'll god guys mom dad mhm hmm
    """
)
"""More words that begin what is said after a name, where a surname would be another."""
