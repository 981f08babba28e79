"""How PersonaChat-like text is read, spelt and turned into tokens. Shared by training, evaluation and (copied) the runtime.

Three spellings meet here: PersonaChat train and valid write "i'm", the official test writes "i am", the entailed pairs
write "i m". `canonical` writes all of them, and ordinary English, the same way; case and the blanks before punctuation
are the tokenizer's to drop (uncased WordPiece splits punctuation off).
"""
import re

# Role markers are rows of BERT's vocabulary that no text reaches ([unused0]...): the one tower acts as several by them.
CLS, SEP, PAD = 101, 102, 0
REPLY, ME, THEM, MY_PERSONA, THEIR_PERSONA, QUERY = 1, 2, 3, 4, 5, 6
MARKER_WORDS = {REPLY: "reply", ME: "me", THEM: "you", MY_PERSONA: "personality", THEIR_PERSONA: "partner", QUERY: "query"}

MAX_QUERY, MAX_REPLY, MAX_SENTENCE = 256, 48, 32

_WHOLE = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not",
    "let's": "let us", "y'all": "you all", "'cause": "because", "dont": "do not", "cant": "can not", "im": "i am",
    "ive": "i have", "didnt": "did not", "doesnt": "does not", "isnt": "is not", "thats": "that is", "whats": "what is",
}
_IS = "that it he she what there where who how here when why everything something".split()
_NOT = "do does did is are was were have has had would could should must need".split()
_PRONOUN = "i you he she it we they that there this who what".split()
_RULES = [(re.compile(rf"\b{re.escape(a)}\b" if a[0] != "'" else re.escape(a) + r"\b"), b) for a, b in _WHOLE.items()] + [
    (re.compile(rf"\b({'|'.join(_NOT)})n ?'? ?t\b"), r"\1 not"),
    (re.compile(r"\bcan ?' ?t\b|\bcan t\b"), "can not"), (re.compile(r"\bwon ?'? t\b"), "will not"),
    (re.compile(r"\bi ?'? ?m\b(?! \.)"), "i am"),
    (re.compile(rf"\b({'|'.join(_PRONOUN)})(?: ?' ?| )ve\b"), r"\1 have"),
    (re.compile(rf"\b({'|'.join(_PRONOUN)})(?: ?' ?| )re\b"), r"\1 are"),
    (re.compile(rf"\b({'|'.join(_PRONOUN)})(?: ?' ?| )ll\b"), r"\1 will"),
    (re.compile(rf"\b({'|'.join(_PRONOUN)})(?: ?' ?| )d\b"), r"\1 would"),
    (re.compile(rf"\b({'|'.join(_IS)})(?: ?' ?| )s\b"), r"\1 is"),
]


def canonical(text: str) -> str:
    text = text.lower().replace("\u2019", "'").replace("\u2018", "'").replace("__silence__", "")
    for pattern, to in _RULES:
        text = pattern.sub(to, text)
    return re.sub(r"\s+", " ", text).strip()


def read_dialogues(path):
    """Dialogues of a ParlAI PersonaChat file: {'me': [...], 'them': [...], 'turns': [...], 'candidates': [...]}.

    Turns alternate them, me, them, me...; candidates[k] belongs to turn 2k+1 (empty where the file has none)."""
    dialogues = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            number, _, text = line.rstrip("\n").partition(" ")
            if number == "1":
                dialogues.append({"me": [], "them": [], "turns": [], "candidates": []})
            now = dialogues[-1]
            if text.startswith("your persona: "):
                now["me"].append(text[14:])
            elif text.startswith("partner's persona: "):
                now["them"].append(text[19:])
            else:
                parts = text.split("\t")
                now["turns"] += parts[:2]
                now["candidates"].append(parts[3].split("|") if len(parts) > 3 else [])
    return dialogues


def query_ids(persona, partner, history, tokens, longest=MAX_QUERY, lead=QUERY):
    """[CLS] QUERY (MY_PERSONA sentence)* (THEIR_PERSONA sentence)* (THEM|ME turn)* [SEP].

    `tokens(text) -> list[int]`; history is oldest first, [(is_mine, text)]. Too long: the oldest turns go first."""
    head = [CLS, lead]
    for sentence in persona:
        head += [MY_PERSONA, *tokens(sentence)]
    for sentence in partner:
        head += [THEIR_PERSONA, *tokens(sentence)]
    head = head[: longest - 1]
    room, turns = longest - 1 - len(head), []
    for mine, text in reversed(history):
        piece = [ME if mine else THEM, *tokens(text)]
        if len(piece) > room:
            if not turns and room > 4:
                turns.append(piece[:1] + piece[-(room - 1):])
            break
        turns.append(piece)
        room -= len(piece)
    for piece in reversed(turns):
        head += piece
    return head + [SEP]


def reply_ids(text, tokens, longest=MAX_REPLY):
    return [CLS, REPLY, *tokens(text)[: longest - 3], SEP]


def sentence_ids(role, text, tokens, longest=MAX_SENTENCE):
    """One persona sentence or one message alone: [CLS] role text [SEP]."""
    return [CLS, role, *tokens(text)[: longest - 3], SEP]
