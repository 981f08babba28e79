"""English words that tell who speaks: verbs of speech, nouns for people, titles."""

from __future__ import annotations

__all__ = [
    "ADVERBS",
    "CLAUSE_LINKS",
    "DETERMINERS",
    "FEMALE_NOUNS",
    "MALE_NOUNS",
    "NOT_NOUNS",
    "NO_NAMES",
    "OFFICES",
    "OPENING_VERBS",
    "PERSON_NOUNS",
    "PREPOSITIONS",
    "SPEECH_INFINITIVES",
    "SPEECH_NOUNS",
    "SPEECH_VERBS",
    "SUBORDINATORS",
    "SURE_VERBS",
]

SPEECH_VERBS = frozenset(
    """
    acknowledged added adding adds admitted advised affirmed agreed allowed announced answered answering answers
    apologised apologized apostrophised argued articulated asked asking asks assented asserted assured averred avowed
    barked bawled began begged begins bellowed blurted boomed breathed broke burst called calling cautioned challenged
    chanted chided chimed choked chuckled comforted commanded commented complained completed conceded concluded
    confessed confided contended continued continues continuing cooed corrected counselled counted cried cries croaked
    crying cursed cut declared demanded drawled echoed ejaculated ended enquired entreated exclaimed exclaiming exclaims
    explained expostulated faltered finished fumed gasped giggled granted greeted groaned growled grumbled grunted
    guessed gulped hazarded hissed howled implored informed inquired inquiring insisted interjected interposed
    interrupted intervened jeered jested joked lamented laughed maintained moaned mocked mumbled murmured mused muttered
    nagged nodded noted objected observed offered opined ordered panted persisted persuaded piped pleaded prayed
    proceeded proclaimed promised prompted pronounced proposed protested purred pursued put queried questioned quoted
    rapped read reasoned reassured rebelled rebuked recited reflected rejoined related remarked reminded remonstrated
    repeated replied replies replying reported reproached responded resumed retorted returned roared said sang say
    saying says scoffed scolded screamed shouted shouting shrieked sighed smiled snapped snarled sneered sniffed snorted
    sobbed soliloquised soliloquized speaking speaks speculated spluttered spoke squeaked stammered stated struck
    stuttered suggested supposed swore taunted teased telling thought thundered told urged uttered ventured vociferated
    volunteered vouchsafed vowed wailed warned welcomed went whimpered whined whispered whispering whispers wondered
    yelled exclaiming muttering murmuring remarking repeating singing screaming observing announcing demanding declaring
    concluding ending resuming explaining shouting addressed conjectured demurred
    """.split()
)
"""Verbs that may tell of speech, beside a quotation."""

SURE_VERBS = frozenset(
    """
    added answered asked continued cried declared demanded ejaculated enquired exclaimed inquired murmured muttered
    observed rejoined remarked replied responded retorted returned said says shouted whispered
    """.split()
)
"""Those of them that hardly tell of anything else."""

OPENING_VERBS = frozenset(
    """
    added adding addressed addressing asked began begins begun broke burst called calling continued continues cried
    exclaimed interposed interrupted persisted proceeded pursued resumed shouted spoke speak speaking turned went
    """.split()
)
"""Verbs after which speech begins, though the sentence ends: 'Emma went on.' 'Emma agreed.' is all that she says."""

SPEECH_INFINITIVES = frozenset(
    """
    add announce answer ask begin break call continue cry declare demand exclaim explain inquire enquire interpose
    interrupt murmur mutter object observe protest put remark repeat reply respond retort say scream shout shriek sing
    stammer suggest urge whisper
    """.split()
)
"""Verbs of speech after 'to', 'did', 'heard her': elsewhere most of them are nouns."""

SPEECH_NOUNS = frozenset(
    """
    accents advice answer apology comment comments conclusion cry exclamation inquiry enquiry invitation murmur
    objection observation opinion order orders protest query question rejoinder remark remarks reply response retort
    shout speech tones verdict voice whisper word words
    """.split()
)
"""What somebody says or is heard by: 'Emma's reply was'."""

SUBORDINATORS = frozenset(
    """
    after although as because before if since that though till unless until what when where which while whilst whom
    whose
    """.split()
)
"""Words that begin a clause whose subject is not that of the sentence."""

PREPOSITIONS = frozenset(
    """
    about above across after against along among at before behind beside between by during for from in into near of off
    on over round through to towards toward under upon with without
    """.split()
)

ADVERBS = frozenset(
    """
    again also at coldly could gently gravely had has have here is just last merely now once only presently quickly
    quietly simply slowly so softly still suddenly then thus was will would
    """.split()
)
"""Words that may stand between a quotation and the verb of its tag."""

MALE_NOUNS = frozenset(
    """
    man gentleman boy lad fellow father brother son uncle husband nephew sir lord king prince duke count colonel captain
    major general doctor clergyman vicar butler footman waiter porter driver coachman policeman officer priest bishop
    grandfather guv host landlord widower schoolboy monk brute rascal inspector sergeant squire
    """.split()
)
FEMALE_NOUNS = frozenset(
    """
    woman lady girl mother sister daughter aunt wife niece madam maid housemaid widow nurse queen princess duchess
    countess governess matron grandmother hostess landlady heroine mistress housekeeper parlourmaid schoolgirl signora
    miss
    """.split()
)

PERSON_NOUNS = (
    MALE_NOUNS
    | FEMALE_NOUNS
    | frozenset("child companion cousin friend guest latter former neighbour other speaker stranger visitor".split())
)
"""Nouns that are people wherever they stand."""

DETERMINERS = frozenset(
    """
    a an another elder first good her his its little my old one other our poor second that the their third this worthy
    young younger
    """.split()
)
"""Words that a noun phrase begins with."""

NOT_NOUNS = frozenset(
    """
    after and as at before by could did for from had has he her him his i in into is of on she that to was were which
    who whom with would
    """.split()
)
"""Words that a noun phrase ends before."""

NO_NAMES = frozenset(
    """
    a an and at aunt baby baron big black boy brother captain colonel count countess cousin daughter de dear doctor don
    dr duke father first from general girl he her herr his husband i in inspector it judge king la lad lady le little
    lord m madame mademoiselle major man marquis master men miss mlle mme monsieur mother mr mrs my nurse of old on one
    poor prince princess professor queen rev s saint second she signora sir sister son st tall the their uncle van von
    white who wife with woman young your
    """.split()
)
"""Words of a full name that are no first name or surname: titles, articles, kin, common nouns."""

OFFICES = frozenset(
    """
    baron baroness captain colonel count countess doctor dr duke general inspector judge king lady madame mademoiselle
    major marquis nurse prince princess professor queen signor signora
    """.split()
)
"""Titles by which somebody may be called alone: 'the doctor'."""

CLAUSE_LINKS = frozenset(
    """
    after afterwards again although and as at because before but dear finally for here however if immediately instantly
    last little meanwhile now old once or poor presently shortly since so soon suddenly that the then there though thus
    till unless until when where while whilst yet young
    """.split()
)
"""Words that may stand between the start of a clause and its subject."""
