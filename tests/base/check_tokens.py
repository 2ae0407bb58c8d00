#!/usr/bin/env python3
"""Holds the scanner of JSON against Python's json: what is taken, what is refused, every text, key and number.

    check_tokens.py PRINT_TOKENS

Documents are the corpus of fuzz_kineto, made ones, and both damaged; each in pieces of 1, 7 and 2^20 bytes, which have
to give the same. Of what is refused, the bytes before the flaw are the beginning of something sound; of what is taken,
every beginning is cut off. Where the two differ by intent: half of a pair of surrogates is U+FFFD here, and what is
nested deeper than 256 is refused.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
import corpus

DEEPEST, PIECES = 256, (1, 7, 1 << 20)
CUT_OFF, TOO_DEEP, INVALID = "!2", "!3", "!5"
LONGEST = 20_000  # bytes of a document of the corpus
TEXTS = ['""', '"a"', '"name"', '"\\n\\t\\"\\\\\\/\\b\\f\\r"', '"\\u0041\\u00e9\\u20AC"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00x"', '"\\ude00\\ude00"', '"\\ud83d\\u0041"',
         '"\\u0000"', '"é€😀"', '"eight by"', '"seven b"', '"a longer text than a word of the machine, with a \\" in it"', '"\x7f"']
NUMBERS = ["0", "-0", "7", "-12", "0.5", "4320554080664.123456789", "1e5", "1E+05", "-2.5e-300", "1e999", "99999999999999999999999"]
ODD = ['"', "\\", ",", ":", "{", "}", "[", "]", "\0", "\x1f", " ", "\n", "\v", "\f", "-", "+", ".", "e", "0", "NaN", "Infinity", "-Infinity", "tru", "null", "nul", "\\u12", "\\x",
       "/**/", "'", "\ufeff", "\xa0", "\u2028", "\udc80", "\udcff", "\udced\udca0\udc80", "\udcc0\udcaf", "1.", ".5", "01", "--1", "1e", "[" * 300]


class Number(str):
    pass


class Members(list):
    pass


def no_constant(word):
    raise ValueError(word)


def tokens(value):
    if isinstance(value, Members):
        yield "{"
        for key, inside in value:
            yield ":" + hexadecimal(key)
            yield from tokens(inside)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for inside in value:
            yield from tokens(inside)
        yield "]"
    elif isinstance(value, Number):
        yield "#" + value
    elif isinstance(value, str):
        yield '"' + hexadecimal(value)
    else:
        yield {None: "n", True: "t", False: "f"}[value]


def hexadecimal(text):
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode().hex()


def python(document):
    """What the scanner has to print, or None where Python refuses."""
    try:
        value = json.loads(document.decode("utf-8-sig"), object_pairs_hook=Members, parse_int=Number, parse_float=Number, parse_constant=no_constant)
    except RecursionError:
        return "deep"
    except ValueError:
        return None
    words = list(tokens(value))
    depth = deepest = 0
    for word in words:
        depth += (word in "{[") - (word in "}]")
        deepest = max(deepest, depth)
    return "deep" if deepest > DEEPEST else " ".join([*words, "ok"])


def scan(program, documents, piece):
    asked = b"".join(b"%d\n%s" % (len(document), document) for document in documents)
    answer = subprocess.run([program, str(piece)], input=asked, capture_output=True, check=True).stdout.decode()
    lines = answer.split("\n")[:-1]
    assert len(lines) == len(documents), f"{len(documents)} documents, {len(lines)} answers"
    return lines


def made(dice, depth=0):
    space = dice.choice(["", "", " ", "\n\t", "\r\n "])
    kind = dice.randrange(7 if depth < 5 else 4)
    if kind < 2:
        inside = dice.choice(TEXTS)
    elif kind == 2:
        inside = dice.choice(NUMBERS)
    elif kind == 3:
        inside = dice.choice(["true", "false", "null"])
    elif kind < 6:
        inside = "{" + ",".join(f"{space}{dice.choice(TEXTS)}{space}:{made(dice, depth + 1)}" for _ in range(dice.randrange(5))) + space + "}"
    else:
        inside = "[" + ",".join(made(dice, depth + 1) for _ in range(dice.randrange(6))) + space + "]"
    return space + inside + space


def damaged(dice, document):
    text = document.decode("utf-8", "surrogateescape")
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(text) + 1)
        text = text[:at] + dice.choice([*ODD, *TEXTS, *NUMBERS, ""]) + text[at + dice.randrange(4) :]
    return text.encode("utf-8", "surrogateescape")


def documents():
    dice = random.Random(2026)
    with tempfile.TemporaryDirectory(prefix="gapline-tokens-") as folder:
        corpus.unpack(pathlib.Path(folder) / "all")
        kept = [path.read_bytes() for path in sorted((pathlib.Path(folder) / "all" / "kineto").iterdir())]
    found = [document for document in kept if len(document) <= LONGEST]
    found += [made(dice).encode() for _ in range(3000)]
    found += [b"\xef\xbb\xbf" + found[-1], b"\xef\xbb", b"\xef\xbb\xbf\xef\xbb\xbf1", b"", b" ", *(b"[" * n + b"]" * n for n in (255, 256, 257, 5000))]
    return found + [damaged(dice, document) for document in found for _ in range(3)]


def main():
    program = sys.argv[1]
    failures, asked = [], documents()
    answers = scan(program, asked, PIECES[-1])
    for piece in PIECES[:-1]:
        failures += [(d, f"in pieces of {piece}: {b}; whole: {a}") for d, a, b in zip(asked, answers, scan(program, asked, piece)) if a != b]
    taken, beginnings, before = 0, [], []
    for document, answer in zip(asked, answers):
        want, flaw = python(document), answer.rpartition("!")[1:]
        flaw = "".join(flaw).split(" ")[0] if flaw[0] else ""
        taken += not flaw
        if (flaw and want not in (None, "deep")) or (not flaw and want != answer) or (want == "deep" and flaw != TOO_DEEP):
            failures.append((document, f"{answer}; Python: {want}"))
        if not flaw and len(document) < 120 and document.strip()[:1] in (b"[", b"{"):
            beginnings += [document[:n] for n in range(len(document.rstrip(b" \t\r\n")))]
        if flaw == INVALID:
            before.append(document[: int(answer.rpartition(" ")[2])])
    failures += [(d, f"a beginning: {a}") for d, a in zip(beginnings, scan(program, beginnings, PIECES[-1])) if CUT_OFF + " " not in a]
    failures += [(d, f"before a flaw: {a}") for d, a in zip(before, scan(program, before, PIECES[-1])) if INVALID + " " in a]
    for document, what in failures[:10]:
        print(f"{document[:300]!r}: {what[-300:]}")
    print(f"{len(asked)} documents, {taken} of them taken, {len(before)} invalid; {len(beginnings)} beginnings; {len(failures)} failures")
    assert taken > 2000 and len(before) > 2000 and len(beginnings) > 10000, "too little was asked"
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
