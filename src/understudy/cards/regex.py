"""Regular expressions as lorebooks write them (JavaScript's), matched in time proportional to the text.

A card may come from anybody, and an engine that backtracks can be kept busy for years by one line of it. Here all ways
through a pattern are followed side by side (Thompson's construction, simulated as by Pike), so a pattern of m
instructions looks at a text of n characters in at most m n steps, and the steps of a search are counted off a budget.

Alternatives, groups, classes, quantifiers, anchors, word boundaries, and looking ahead or behind over a bounded
distance are understood. What needs backtracking (back references) and what a search cannot bound is `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["MAX_PATTERN", "MatchBudget", "Regex", "Unsupported", "compile_regex"]

MAX_PATTERN = 500  # characters
MAX_INSTRUCTIONS = 1_000
MAX_REPEAT = 200
MAX_NESTING = 20
MAX_LOOK = 64  # characters
FLAGS = frozenset("gimsuy")
LINE_ENDS = "\n\r\u2028\u2029"
ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}

Test = Callable[[str], bool]


class Unsupported(ValueError):
    """A pattern that is invalid, or that cannot be matched within bounds."""


@dataclass(slots=True)
class MatchBudget:
    """How much a search, or several together, may cost."""

    left: int


class PatternNode(NamedTuple):
    """A part of a pattern: 'test', 'sequence', 'either', 'repeat', 'anchor' or 'look', with what it is made of."""

    kind: str
    parts: tuple[PatternNode, ...] = ()
    test: Test | None = None
    low: int = 0
    high: int | None = None
    text: str = ""


class Instruction(NamedTuple):
    """`test`: a character; `split`: go on at both targets; `anchor`, `look`: go on if it holds; `match`: done."""

    kind: str
    test: Test | None = None
    targets: tuple[int, ...] = ()
    text: str = ""
    inner: tuple[Instruction, ...] = ()
    width: int = 0


def compile_regex(pattern: str, flags: str = "") -> Regex:
    if len(pattern) > MAX_PATTERN:
        raise Unsupported(f"a pattern of over {MAX_PATTERN} characters")
    if len(set(flags)) < len(flags) or not FLAGS.issuperset(flags):
        raise Unsupported(f"the flags '{flags}'")
    program = _program(_Parser(pattern, flags).parse())
    return Regex(program, is_multiline="m" in flags)


@dataclass(frozen=True)
class Regex:
    program: tuple[Instruction, ...]
    is_multiline: bool = False
    _characters: dict[tuple[int, str], bool] = field(default_factory=dict, compare=False, repr=False)

    def search(self, text: str, budget: MatchBudget) -> bool:
        """Is it anywhere in the text? False once the budget is spent."""
        is_found = self._run(self.program, text, 0, len(text), budget, starts_anywhere=True, ends_at=None)
        return is_found and budget.left > 0

    def _run(
        self,
        program: tuple[Instruction, ...],
        text: str,
        start: int,
        stop: int,
        budget: MatchBudget,
        starts_anywhere: bool,
        ends_at: int | None,
    ) -> bool:
        active: list[int] = []
        for position in range(start, stop + 1):
            waiting = [*active, 0] if position == start or starts_anywhere else active
            tests, is_match = self._closure(program, waiting, text, position, budget)
            if is_match and (ends_at is None or position == ends_at):
                return True
            if budget.left <= 0 or position == stop:
                return False
            letter = text[position]
            active = []
            for index in tests:
                instruction = program[index]
                assert instruction.test is not None
                key = (id(instruction), letter)
                passes = self._characters.get(key)
                if passes is None:
                    passes = self._characters[key] = instruction.test(letter)
                if passes:
                    active.append(index + 1)
            if not active and not starts_anywhere:
                return False
        return False

    def _closure(
        self, program: tuple[Instruction, ...], waiting: list[int], text: str, position: int, budget: MatchBudget
    ) -> tuple[list[int], bool]:
        """The instructions that look at the next character, and whether the end of the program is reached."""
        stack, seen, tests, is_match = waiting[::-1], set[int](), list[int](), False
        while stack:
            index = stack.pop()
            if index in seen:
                continue
            seen.add(index)
            budget.left -= 1
            instruction = program[index]
            if instruction.kind == "test":
                tests.append(index)
            elif instruction.kind == "split":
                stack.extend(instruction.targets)
            elif instruction.kind == "match":
                is_match = True
            elif self._holds(instruction, text, position, budget):
                stack.append(index + 1)
        return tests, is_match

    def _holds(self, instruction: Instruction, text: str, position: int, budget: MatchBudget) -> bool:
        if instruction.kind == "look":
            ahead = instruction.text.startswith("=") or instruction.text.startswith("!")
            start = position if ahead else max(position - instruction.width, 0)
            stop = min(position + instruction.width, len(text)) if ahead else position
            is_match = self._run(
                instruction.inner,
                text,
                start,
                stop,
                budget,
                starts_anywhere=not ahead,
                ends_at=None if ahead else position,
            )
            return is_match != instruction.text.endswith("!")
        before, after = text[position - 1 : position] if position else "", text[position : position + 1]
        if instruction.text == "^":
            return not before or (self.is_multiline and before in LINE_ENDS)
        if instruction.text == "$":
            return not after or (self.is_multiline and after in LINE_ENDS)
        is_boundary = _is_word(before) != _is_word(after)
        return is_boundary if instruction.text == "b" else not is_boundary


def _program(node: PatternNode) -> tuple[Instruction, ...]:
    program = list[Instruction]()
    _emit(node, program)
    program.append(Instruction("match"))
    return tuple(program)


def _emit(node: PatternNode, program: list[Instruction]) -> None:
    if len(program) > MAX_INSTRUCTIONS:
        raise Unsupported("a pattern that repeats too much")
    if node.kind == "test":
        program.append(Instruction("test", node.test))
    elif node.kind == "anchor":
        program.append(Instruction("anchor", text=node.text))
    elif node.kind == "look":
        width = _width(node.parts[0])
        if width is None or width > MAX_LOOK:
            raise Unsupported(f"looking over more than {MAX_LOOK} characters")
        program.append(Instruction("look", text=node.text, inner=_program(node.parts[0]), width=width))
    elif node.kind == "sequence":
        for part in node.parts:
            _emit(part, program)
    elif node.kind == "either":
        _emit_either(node.parts, program)
    else:
        _emit_repeat(node, program)


def _emit_either(parts: tuple[PatternNode, ...], program: list[Instruction]) -> None:
    ends = list[int]()
    for part in parts[:-1]:
        split = _reserve(program)
        _emit(part, program)
        ends.append(_reserve(program))
        program[split] = Instruction("split", targets=(len(program), split + 1))
    _emit(parts[-1], program)
    for end in ends:
        program[end] = Instruction("split", targets=(len(program),))


def _emit_repeat(node: PatternNode, program: list[Instruction]) -> None:
    (part,) = node.parts
    if _width(part) == 0:  # repeating an empty match is matching it once
        node = node._replace(low=min(node.low, 1), high=1)
    for _ in range(node.low):
        _emit(part, program)
    if node.high is None:
        split = _reserve(program)
        _emit(part, program)
        program.append(Instruction("split", targets=(split,)))
        program[split] = Instruction("split", targets=(len(program), split + 1))
        return
    splits = list[int]()
    for _ in range(node.high - node.low):
        splits.append(_reserve(program))
        _emit(part, program)
    for split in splits:
        program[split] = Instruction("split", targets=(len(program), split + 1))


def _reserve(program: list[Instruction]) -> int:
    program.append(Instruction("split"))
    return len(program) - 1


def _width(node: PatternNode) -> int | None:
    """The most characters it can match; None where there is no limit."""
    widths = [_width(part) for part in node.parts] if node.kind != "look" else []
    known = [width for width in widths if width is not None]
    if len(known) < len(widths):
        return None
    if node.kind == "test":
        return 1
    if node.kind == "either":
        return max(known)
    if node.kind == "repeat":
        return None if node.high is None else known[0] * node.high
    return sum(known)


def _is_word(letter: str) -> bool:
    return letter == "_" or (letter.isascii() and letter.isalnum())


def _is_space(letter: str) -> bool:
    return letter.isspace() or letter == "\ufeff"


def _is_digit(letter: str) -> bool:
    return letter.isascii() and letter.isdecimal()


CLASSES: dict[str, Test] = {"d": _is_digit, "w": _is_word, "s": _is_space}


def _negated(test: Test) -> Test:
    return lambda letter: not test(letter)


def _one_of(tests: list[Test]) -> Test:
    return lambda letter: any(test(letter) for test in tests)


class _Parser:
    """A recursive descent over one pattern."""

    def __init__(self, pattern: str, flags: str) -> None:
        self._pattern, self._at, self._depth = pattern, 0, 0
        self._ignores_case, self._dot_is_all = "i" in flags, "s" in flags

    def parse(self) -> PatternNode:
        node = self._either()
        if self._at < len(self._pattern):
            raise Unsupported("a bracket that was not opened")
        return node

    def _peek(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        if not self._peek(text):
            return False
        self._at += len(text)
        return True

    def _next(self) -> str:
        if self._at >= len(self._pattern):
            raise Unsupported("a pattern that breaks off")
        self._at += 1
        return self._pattern[self._at - 1]

    def _either(self) -> PatternNode:
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else PatternNode("either", tuple(parts))

    def _sequence(self) -> PatternNode:
        parts = list[PatternNode]()
        while self._at < len(self._pattern) and not self._peek("|") and not self._peek(")"):
            parts.append(self._quantified(self._atom()))
        return PatternNode("sequence", tuple(parts))

    def _quantified(self, node: PatternNode) -> PatternNode:
        bounds = self._quantifier()
        if bounds is None:
            return node
        low, high = bounds
        if node.kind in ("anchor", "look") or low > MAX_REPEAT or (high or 0) > MAX_REPEAT or (high or low) < low:
            raise Unsupported("a quantifier that repeats nothing, or too much")
        self._take("?")  # lazy or not, whether there is a match is the same
        return PatternNode("repeat", (node,), low=low, high=high)

    def _quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return bounds
        end = self._pattern.find("}", self._at)
        if not self._peek("{") or end < 0:
            return None
        low, comma, high = self._pattern[self._at + 1 : end].partition(",")
        if not _is_number(low) or (high and not _is_number(high)):
            return None  # a literal brace
        self._at = end + 1
        return int(low), int(high) if high else None if comma else int(low)

    def _atom(self) -> PatternNode:
        letter = self._next()
        if letter in "^$":
            return PatternNode("anchor", text=letter)
        if letter == "(":
            return self._group()
        if letter == "[":
            return PatternNode("test", test=self._class())
        if letter == ".":
            return PatternNode(
                "test", test=(lambda _: True) if self._dot_is_all else lambda character: character not in LINE_ENDS
            )
        if letter in "*+?":
            raise Unsupported("a quantifier with nothing before it")
        if letter != "\\":
            return self._test(self._literal(letter))
        if self._peek("b") or self._peek("B"):
            return PatternNode("anchor", text=self._next())
        return self._test(self._escape())

    def _group(self) -> PatternNode:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise Unsupported(f"brackets nested over {MAX_NESTING} deep")
        look = ""
        if self._take("?") and not self._take(":"):
            look = next((kind for kind in ("=", "!", "<=", "<!") if self._take(kind)), "")
            if not look:
                self._skip_name()
        node = self._either()
        if not self._take(")"):
            raise Unsupported("a bracket that is not closed")
        self._depth -= 1
        return PatternNode("look", (node,), text=look) if look else node

    def _skip_name(self) -> None:
        """Skip the name of a group, `<name>`: groups are not captured."""
        end = self._pattern.find(">", self._at)
        if not self._peek("<") or end < 0:
            raise Unsupported("a group of an unknown kind")
        self._at = end + 1

    def _test(self, test: Test) -> PatternNode:
        return PatternNode("test", test=self._folded(test))

    def _folded(self, test: Test) -> Test:
        if not self._ignores_case:
            return test
        return lambda letter: test(letter) or test(letter.lower()) or test(letter.upper())

    def _literal(self, literal: str) -> Test:
        return lambda letter: letter == literal

    def _class(self) -> Test:
        is_negated, tests = self._take("^"), list[Test]()
        while not self._take("]"):
            low = self._class_member()
            if isinstance(low, str) and self._peek("-") and not self._peek("-]"):
                self._take("-")
                high = self._class_member()
                if not isinstance(high, str) or high < low:
                    raise Unsupported("a range that is none")
                tests.append(_range(low, high))
            else:
                tests.append(self._literal(low) if isinstance(low, str) else low)
        test = self._folded(_one_of(tests))
        return _negated(test) if is_negated else test

    def _class_member(self) -> str | Test:
        letter = self._next()
        if letter != "\\":
            return letter
        if self._take("b"):
            return "\b"
        return self._escaped()

    def _escape(self) -> Test:
        member = self._escaped()
        return self._literal(member) if isinstance(member, str) else member

    def _escaped(self) -> str | Test:
        """What follows a backslash."""
        letter = self._next()
        if letter.lower() in CLASSES:
            return CLASSES[letter] if letter in CLASSES else _negated(CLASSES[letter.lower()])
        if letter in "123456789kpP":
            raise Unsupported("a back reference or a property of letters")
        if letter in "xu":
            return self._code_point(2 if letter == "x" else 4)
        return ESCAPED.get(letter, letter)

    def _code_point(self, length: int) -> str:
        if self._take("{"):
            end = self._pattern.find("}", self._at)
            digits, self._at = self._pattern[self._at : end], end + 1
        else:
            digits, self._at = self._pattern[self._at : self._at + length], self._at + length
        try:
            return chr(int(digits, 16))
        except (ValueError, OverflowError) as error:
            raise Unsupported("a character that is none") from error


def _range(low: str, high: str) -> Test:
    return lambda letter: low <= letter <= high


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 6
