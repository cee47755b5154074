"""The rules of the house that no linter knows; CONTRIBUTING.md gives the reasons.

Each rule is a function from source text to a list of complaints, so that it can be tried on
small bad snippets (at the end) as well as on the house itself.
"""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

MEGABYTE, KILOBYTE = 1_000_000, 1_000
LARGEST_FILE = 8 * MEGABYTE
LARGEST_MODULE = 24 * KILOBYTE

# What the mathematics is made of, besides itself and the standard library.
MATHEMATICS = ("core/uncertainty", "core/abstention")
MATHEMATICS_MAY_IMPORT = ("numpy", "scipy", "rapidfuzz", "core.codec")

# A screen puts widgets in, calls a study, draws charts out. From the floors below it takes
# words, limits and errors, each by its name. A dot ends a name: "core.ui" is all of core.ui.
SCREEN_MAY_IMPORT = (
    *("__future__", "collections.abc", "dataclasses", "functools", "typing", "streamlit"),
    *("core.ui", "core.charts", "core.studies", "core.prompts"),
    "core.language_models.errors.ModelError",
    "core.uncertainty.scores.SCORES",
    "core.uncertainty.similarity.SIMILARITIES",
)
INPUT_AND_OUTPUT = re.compile(r"open|exec|eval|(read|write)_\w+|to_(csv|excel|parquet|pickle|sql)")

# These read Markdown, in which `$5 and $6` becomes mathematics and an image is fetched from
# wherever it points: the number of their first arguments that do, and those that do by name.
# Text of a model or an upload must never get there. (Options of a selectbox are plain.)
MARKDOWN = {
    **dict.fromkeys(["markdown", "caption", "title", "header", "subheader"], 1),
    **dict.fromkeys(["error", "warning", "info", "success", "toast", "badge"], 1),
    **dict.fromkeys(
        ["expander", "popover", "status", "spinner", "button", "checkbox", "toggle"], 1
    ),
    **dict.fromkeys(["slider", "selectbox", "multiselect", "text_input", "number_input"], 1),
    **dict.fromkeys(["file_uploader", "download_button", "link_button", "text_area"], 1),
    **dict.fromkeys(["radio", "pills", "segmented_control"], 2),
    "tabs": 1,
    "metric": 3,
    "write": 99,
}
# Our own functions that give their first texts, and all named ones, to Markdown.
PASS_IT_ON = {
    **{"page_header": 2, "download": 1, "csv": 1, "fold": 1, "offer_run": 1},
    **{"file_field": 1, "table_field": 1, "examples": 1},
}
MARKDOWN_BY_NAME = {None, "body", "label", "value", "delta", "options", "tabs", "text"}
# One module writes files, whole or not at all: a half of one destroys what it was to replace.
WRITES_FILES = ROOT / "core/outputs.py"
WRITING_MODE = re.compile(r"[rwxabt+]*[wxa+][rwxabt+]*")  # of open()
LOGGERS = {"log", "logger", "logging"}  # whose error, warning and info are not Streamlit's
NUMERIC = re.compile(r"[^{}]*[deEfFgG%]")  # a format that raises when it is given a text
FOR_EVER = re.compile(r"functools\.cache|(functools\.)?lru_cache\((maxsize=)?None\)")
COPIES = {"enumerate", "list", "reversed", "sorted", "tuple"}
CHANGES = {"add", "append", "clear", "extend", "insert", "pop", "setdefault", "update"}

# What happened to a thing does not say what it is. The count may only fall.
PARTICIPLES = {
    *("found", "said", "told", "kept", "drawn", "wanted", "asked", "given", "made", "known")
}
MOST_PARTICIPLES = 11
# Nor does it say what a function returns or does, or what a class is: one named by a participle
# alone, or by one with a preposition. A noun behind it describes a thing (`certified_lower_bound`).
IRREGULAR = {
    *("begun", "bound", "broken", "built", "chosen", "dealt", "done", "forgotten", "grown"),
    *("heard", "held", "hidden", "left", "lent", "lost", "meant", "overtaken", "paid", "seen"),
    *("shown", "spelt", "spent", "spoilt", "taken", "taught", "thought", "torn", "tried"),
    *("unforeseen", "unknown", "unread", "unsaid", "withheld", "written"),
} | PARTICIPLES
NO_PARTICIPLES = {"exceed", "feed", "need", "red", "seed", "shed", "speed"}
PREPOSITIONS = {
    *("about", "after", "all", "as", "at", "away", "back", "before", "behind", "beside", "by"),
    *("down", "for", "from", "in", "into", "it", "of", "off", "on", "once", "out", "over"),
    *("so", "through", "to", "together", "until", "up", "with", "within", "without"),
}
MOST_PARTICIPLES_ALONE = 6
# A test goes through the public name; what is behind it may change. The count may only fall.
PRIVATE = re.compile(r"_[A-Za-z]\w*")
PATCHES = {"setattr", "delattr", "getattr", "hasattr"}  # take a name as text
MOST_PRIVATE_NAMES = 3

# Words of prose in strings of the studies, errors and docstrings apart: a study returns numbers,
# core/reports words them. The count may only fall.
MOST_PROSE = 1682
SENTENCE = 3  # words that make prose of a string

Complaints = list[str]


# ------------------------------------------------------------------------------ the rules


def imported_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of every import; `from a import b` is a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)


def is_within(name: str, allowed: tuple[str, ...]) -> bool:
    return any(f"{name}.".startswith(f"{whole}.") for whole in allowed)


def complaints_about_mathematics(source: str) -> Complaints:
    """NumPy, SciPy and RapidFuzz, the standard library, and the two folders themselves."""
    allowed = (*MATHEMATICS_MAY_IMPORT, *(f.replace("/", ".") for f in MATHEMATICS))
    return [
        f"line {line}: imports {name}; the mathematics may import {', '.join(allowed)} "
        "and the standard library"
        for line, name in imported_names(ast.parse(source))
        if not is_within(name, allowed) and name.partition(".")[0] not in sys.stdlib_module_names
    ]


def complaints_about_screen(source: str) -> Complaints:
    """No mathematics, no files: only what SCREEN_MAY_IMPORT names."""
    tree = ast.parse(source)
    found = [
        f"line {line}: imports {name}; a screen may import {', '.join(SCREEN_MAY_IMPORT)}"
        for line, name in imported_names(tree)
        if not is_within(name, SCREEN_MAY_IMPORT)
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
            if INPUT_AND_OUTPUT.fullmatch(called):
                found.append(f"line {node.lineno}: {called}() reads or writes; let a study do that")
    return found


def is_our_own(text: ast.AST, ours: set[str]) -> bool:
    """Whether an expression can hold nothing but words of this code, and numbers."""
    match text:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in ours
        case ast.Attribute(value=table) | ast.Subscript(value=table):  # an entry of a table
            return is_our_own(table, ours)
        case ast.IfExp(body=this, orelse=that) | ast.BinOp(left=this, op=ast.Add(), right=that):
            return is_our_own(this, ours) and is_our_own(that, ours)
        case ast.FormattedValue(format_spec=ast.JoinedStr(values=[ast.Constant(value=str(form))])):
            number = text.conversion == -1 and NUMERIC.fullmatch(form)
            return bool(number) or is_our_own(text.value, ours)
        case ast.FormattedValue(value=value, format_spec=None):
            return is_our_own(value, ours)
        case ast.Dict(keys=keys, values=values):
            return all(key and is_our_own(key, ours) for key in keys) and all(
                is_our_own(value, ours) for value in values
            )
        case ast.ListComp(elt=part):
            return is_our_own(part, ours)
        case ast.Call(func=ast.Attribute(value=glue, attr="join"), args=[parts], keywords=[]):
            return is_our_own(glue, ours) and is_our_own(parts, ours)
        case ast.JoinedStr(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(is_our_own(part, ours) for part in parts)
        case ast.Call(func=ast.Attribute(value=table, attr="items" | "keys" | "values"), args=[]):
            return is_our_own(table, ours)
        case ast.Call(func=ast.Name(id=name), args=[table], keywords=[]) if name in COPIES:
            return is_our_own(table, ours)
    return False


Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield everything below a module or function, but not what is inside inner functions."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Function):
            yield from scope(child)


def names_of_our_own(body: ast.AST, outer: set[str]) -> set[str]:
    """Return the names that only ever hold words of this code in this module or function."""
    bound: Counter[str] = Counter()  # how often a name is bound here, in whatever way
    tainted: set[str] = set()
    words: set[str] = set()
    bindings: list[tuple[ast.AST, ast.AST]] = []
    if isinstance(body, Function) and getattr(body, "name", "") not in PASS_IT_ON:
        tainted |= {a.arg for a in ast.walk(body.args) if isinstance(a, ast.arg)}
    for node in scope(body):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound[name] += 1
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                tainted.add(name)
            case ast.ExceptHandler(name=str(name)):
                tainted.add(name)
            case ast.ImportFrom(module=str(module), names=aliases) if is_within(module, ("core",)):
                words |= {a.asname or a.name for a in aliases if a.name[0].isupper()}
            case ast.Assign(targets=targets, value=value):
                bindings += [(target, value) for target in targets]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                bindings.append((target, value))
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                bindings.append((target, value))
    for node in ast.walk(body):  # an inner function can change what is bound here
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                tainted.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=change)):
                tainted |= {name} if change in CHANGES else set()
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                tainted |= set(names)
    ours = (outer | words) - set(bound) - tainted
    if isinstance(body, ast.FunctionDef) and body.name in PASS_IT_ON:  # its callers are looked at
        texts = [*body.args.args[: PASS_IT_ON[body.name]], *body.args.kwonlyargs]
        ours |= {a.arg for a in texts} - set(bound)
    while True:
        ours_bound = Counter(
            name.id
            for target, value in bindings
            if is_our_own(value, ours)
            for name in ast.walk(target)
            if isinstance(name, ast.Name)
        )
        more = {n for n, times in ours_bound.items() if times == bound[n]} - tainted
        if more <= ours:
            return ours
        ours |= more


def calls(body: ast.AST, ours: set[str]) -> Iterator[tuple[ast.Call, set[str]]]:
    """Yield every call with the names that are our own where it stands."""
    ours = names_of_our_own(body, ours)
    for node in scope(body):
        if isinstance(node, ast.Call):
            yield node, ours
        elif isinstance(node, Function):
            yield from calls(node, ours)


#: A file of ours beside the module, which Streamlit wraps as a style.
OUR_STYLESHEET = re.compile(r"Path\(__file__\)\.with_name\('\w+\.css'\)")


def complaints_about_markup(source: str) -> Complaints:
    """No HTML at all, and Markdown from our own words only."""
    tree = ast.parse(source)
    found = []
    seen = set()
    for call, ours in calls(tree, set()):
        name, texts = getattr(call.func, "attr", ""), []
        seen.add(id(call.func))
        sheet = name == "html" and OUR_STYLESHEET.fullmatch(ast.unparse(call.args[0]))
        markup = name in {"html", "iframe"} and not sheet
        if markup or any(k.arg == "unsafe_allow_html" for k in call.keywords):
            found.append(f"line {call.lineno}: no HTML, from nobody")
        owner = getattr(getattr(call.func, "value", None), "id", "")
        passed_on = PASS_IT_ON.get(getattr(call.func, "id", name))
        if passed_on:
            texts += [*call.args[:passed_on], *(k.value for k in call.keywords)]
        if name in MARKDOWN and owner not in LOGGERS:
            texts += call.args[: MARKDOWN[name]]
            texts += [k.value for k in call.keywords if k.arg in MARKDOWN_BY_NAME]
        texts += [k.value for k in call.keywords if k.arg == "help"]
        if not all(is_our_own(text, ours) for text in texts):
            found.append(
                f"line {call.lineno}: {name}() reads Markdown: give it words that stand in the "
                "code, and numbers with a format (:d, :.3f); all else is for st.text, st.code "
                "or a table"
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("streamlit"):
            hidden = sorted({a.name for a in node.names} & {*MARKDOWN, "html", "iframe"})
            found += [f"line {node.lineno}: call it st.{name}, to be seen" for name in hidden]
        passed_on = isinstance(node, ast.Attribute) and id(node) not in seen
        if passed_on and node.attr in MARKDOWN and getattr(node.value, "id", "") == "st":
            found.append(f"line {node.lineno}: st.{node.attr} is passed on; call it here")
    return found


def complaints_about_caches(source: str) -> Complaints:
    """What is kept for ever is built once: `functools.cache` lets all who come early build it."""
    if "cache" not in source:
        return []
    tree = ast.parse(source)
    unguarded = [line for line, name in imported_names(tree) if name == "functools.cache"]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Call) and FOR_EVER.fullmatch(ast.unparse(node)):
            unguarded.append(node.lineno)
    return [f"line {line}: once of core.once instead of functools.cache" for line in unguarded]


def complaints_about_writing(source: str) -> Complaints:
    """No file is opened to be written: a full disk would leave a half. See `core.outputs`."""
    complaints = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="write_text" | "write_bytes" as called)):
                complaints.append(f"line {node.lineno}: {called}(); use core.outputs.write")
            case ast.Call(func=ast.Name(id="open") | ast.Attribute(attr="open")):
                at = 1 if isinstance(node.func, ast.Name) else 0
                modes = node.args[at : at + 1] + [k.value for k in node.keywords if k.arg == "mode"]
                modes = [mode for mode in modes if isinstance(mode, ast.Constant)]
                if any(WRITING_MODE.fullmatch(str(mode.value)) for mode in modes):
                    complaints.append(f"line {node.lineno}: opened to be written; use core.outputs")
    return complaints


# -------------------------------------------------------------------------- on this house


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of every variable, argument, attribute, function and class bound here."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield node.lineno, name


def complaints_about_participles(source: str) -> Complaints:
    """A thing is named by what it is, in one word or in several."""
    return [
        f"line {line}: {name}; name the thing, not what happened to it"
        for line, name in bound_names(ast.parse(source))
        if PARTICIPLES & {*name.split("_")}
    ]


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of every string with several words that is no docstring and no error."""
    tree = ast.parse(source)
    apart: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                apart.add(node.value)
            case ast.Raise():
                apart |= set(ast.walk(node))
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and node not in apart else None
        if isinstance(text, str) and len(words(text)) >= SENTENCE:
            yield node.lineno, text


def words(text: str) -> list[str]:
    return [word for word in text.split() if any(letter.isalpha() for letter in word)]


def complaints_about_private_names(source: str) -> Complaints:
    """A test reaches for no private name of another module."""
    tree = ast.parse(source)
    places = [(line, name.split(".")) for line, name in imported_names(tree)]
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls" | "os")):  # os._exit is public
                pass
            case ast.Attribute(attr=name):
                places.append((node.lineno, [name]))
            case ast.Call(func=ast.Name(id=patch) | ast.Attribute(attr=patch), args=args) if (
                patch in PATCHES
            ):
                texts = [a.value for a in args[:2] if isinstance(a, ast.Constant)]
                places += [(node.lineno, str(text).split(".")) for text in texts]
    return [
        f"line {line}: {'.'.join(path)}; go through a public name, or make this one public"
        for line, path in places
        if any(map(PRIVATE.fullmatch, path))
    ]


def snake_case(name: str) -> str:
    """Return the name of a class as one of a function: “CachedModel” is “cached_model”."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).strip("_").lower()


def complaints_about_definitions(source: str) -> Complaints:
    """A function is named by what it returns or does, a class by what it is."""
    definitions = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    return [
        f"line {node.lineno}: {node.name}; name what it returns, does or is"
        for node in definitions
        for first, *rest in [snake_case(node.name).split("_")]
        if (first in IRREGULAR or first.endswith("ed")) and first not in NO_PARTICIPLES
        if not rest or rest[0] in PREPOSITIONS
    ]


def complaints_about_fields(source: str) -> Complaints:
    """What a field of a class means stands beside it, and not again above all of them."""
    complaints = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and "dataclass" in map(
            decorator_name, node.decorator_list
        ):
            _, _, listed = (ast.get_docstring(node) or "").partition("Attributes\n----------\n")
            fields = {ast.unparse(n.target) for n in node.body if isinstance(n, ast.AnnAssign)}
            complaints += [
                f"line {node.lineno}: {name}; say what it means in a comment beside the field"
                for name in re.findall(r"^(\w+)", listed, re.MULTILINE)
                if name in fields
            ]
    return complaints


def decorator_name(decorator: ast.expr) -> str:
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)


def modules(*places: str) -> list[Path]:
    """Return the Python files at these places; none of the places may be without."""
    found = []
    for place in map(ROOT.joinpath, places):
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place] * place.exists()
        assert files, f"{place} has no Python file"
        found += files
    return found


def complain(rule: Callable[[str], Complaints], files: list[Path]) -> None:
    complaints = [
        f"{path.relative_to(ROOT)} {complaint}"
        for path in files
        for complaint in rule(path.read_text(encoding="utf-8"))
    ]
    assert not complaints, "\n" + "\n".join(complaints)


def files_of_the_project() -> list[Path]:
    """Return what is in git, or would be after `git add`; every file where git is not."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True)
        paths = [ROOT / os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    except (OSError, subprocess.CalledProcessError):
        hidden = {".git", ".venv", ".venv-local", ".venv-cluster", ".venv-peers", "build"}
        paths = [p for p in ROOT.rglob("*") if not hidden & set(p.relative_to(ROOT).parts)]
    return [path for path in paths if path.is_file()]


def test_mathematics_knows_arrays_and_strings_only() -> None:
    complain(complaints_about_mathematics, modules(*MATHEMATICS))


def test_screens_compute_and_store_nothing() -> None:
    complain(complaints_about_screen, modules("app.py", "pages"))


def test_models_and_uploads_never_write_markup() -> None:
    complain(complaints_about_markup, modules("app.py", "pages", "core/ui"))


def test_what_is_built_for_all_is_built_once() -> None:
    complain(complaints_about_caches, modules("app.py", "believe", "pages", "core"))


def test_files_are_written_in_one_way() -> None:
    """Whole or not at all; tests may write as they like."""
    files = modules("app.py", "believe", "core", "pages", "benchmarks", "training")
    complain(complaints_about_writing, [path for path in files if path != WRITES_FILES])


def test_screens_do_not_shadow_the_standard_library() -> None:
    shadows = [p.name for p in modules("app.py", "pages") if p.stem in sys.stdlib_module_names]
    assert not shadows, f"Rename {', '.join(shadows)}: `import {shadows[0][:-3]}` would find it."


def test_files_are_small() -> None:
    large = [p for p in files_of_the_project() if p.stat().st_size > LARGEST_FILE]
    assert not large, f"Over {LARGEST_FILE // MEGABYTE} MB: {', '.join(map(str, large))}"


def test_modules_are_short() -> None:
    long = [
        p
        for p in modules("app.py", "believe", "core", "pages")
        if p.stat().st_size > LARGEST_MODULE
    ]
    assert not long, f"Split, over {LARGEST_MODULE // KILOBYTE} kB: {', '.join(map(str, long))}"


@pytest.mark.parametrize(
    ("rule", "most"),
    [
        (complaints_about_participles, MOST_PARTICIPLES),
        (complaints_about_definitions, MOST_PARTICIPLES_ALONE),
    ],
)
def test_things_are_named_by_what_they_are(rule: Callable[[str], Complaints], most: int) -> None:
    """Compare with the count on main to see which names are new."""
    complaints = [
        f"{path.relative_to(ROOT)}, {complaint}"
        for path in modules("app.py", "believe", "core", "pages")
        for complaint in rule(path.read_text(encoding="utf-8"))
    ]
    number = len(complaints)
    assert number == most, f"{number} now, {most} before; fewer become the most: {complaints}"


def test_studies_return_numbers_and_reports_word_them() -> None:
    number = 0
    for path in modules("core/studies"):
        number += sum(len(words(text)) for _, text in prose(path.read_text(encoding="utf-8")))
    assert number <= MOST_PROSE, f"{number} words now; word the result in core/reports"


def test_a_new_sentence_in_a_study_is_counted() -> None:
    counted = 'def f(n):\n    """Not this one."""\n    return f"There are {n} of many answers."'
    assert [text for _, text in prose(counted)] == [" of many answers."]
    assert not list(prose('raise ValueError("This is not a number of samples.")'))


def test_what_a_field_means_stands_beside_it() -> None:
    complain(complaints_about_fields, modules("core", "benchmarks", "training"))


def test_tests_reach_for_no_private_name() -> None:
    complaints = [
        f"{path.relative_to(ROOT)}, {complaint}"
        for path in modules("tests")
        for complaint in complaints_about_private_names(path.read_text(encoding="utf-8"))
    ]
    number = len(complaints)
    assert number == MOST_PRIVATE_NAMES, f"{number} now; fewer go into MOST_PRIVATE_NAMES: " + (
        "\n".join(complaints)
    )


def test_a_public_class_has_a_name_of_its_own() -> None:
    names = Counter(
        node.name
        for path in modules("app.py", "believe", "core", "pages")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    shared = sorted(name for name, number in names.items() if number > 1)
    assert not shared, f"Rename all but one of each: {', '.join(shared)}"


def test_what_a_page_remembers_has_a_name_of_its_own() -> None:
    """One thing is kept under each name: two that share one are made anew at every run."""
    names = Counter(
        str(node.args[0].value)
        for path in modules("core", "pages")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("memory_of", "result_of")
        and isinstance(node.args[0], ast.Constant)
    )
    shared = sorted(name for name, number in names.items() if number > 1)
    assert names and not shared, f"Rename all but one of each: {', '.join(shared)}"


NAMES_A_SERVICE = re.compile(r"gemini|openai", re.IGNORECASE)
BACK_ENDS = ROOT / "core/language_models/backends"
REGISTRY = ROOT / "core/language_models/registry.py"  # has one line for each back end


def complaints_about_services(source: str) -> Complaints:
    """A service's name is a folder: what is particular to one stands in its back end."""
    return [
        f"line {number}: names a service; let its description in {BACK_ENDS.name} say that"
        for number, line in enumerate(source.splitlines(), 1)
        if NAMES_A_SERVICE.search(line)
    ]


def test_no_module_but_its_back_end_names_a_service() -> None:
    files = modules("app.py", "believe", "core", "pages")
    complain(
        complaints_about_services,
        [p for p in files if p != REGISTRY and BACK_ENDS not in p.parents],
    )
    lines = complaints_about_services(REGISTRY.read_text(encoding="utf-8"))
    assert len(lines) == 2, lines


def test_readme_says_how_to_start_and_how_to_test() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text and "make test" in text


def test_every_test_runs_before_a_change_is_taken() -> None:
    recipes = dict(re.findall(r"^(\S+):.*\n\t(.+)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert "lint tests" in recipes["test"]
    assert recipes["tests"] == "$(PYTEST) $(MARKED)"
    steps = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    kinds = ("test MARKED=", "test-local", "test-cluster")
    made = [s.partition("  #")[0] for s in steps if s.startswith("make test")]
    assert made == [f"make {kind}" for kind in kinds]


def test_streamlit_is_configured_for_others_to_reach() -> None:
    text = (ROOT / ".streamlit/config.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)
    assert settings["server"]["address"] == "localhost"
    assert settings["server"].get("enableXsrfProtection", True)
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["client"]["showErrorDetails"] == "none"
    assert settings["client"]["disableDataExport"] is True, "its CSV leaves formulas alive"
    assert settings["runner"]["magicEnabled"] is False, "a bare expression would be Markdown"
    assert "//" not in text, "fonts and themes come from this app, not from another host"


# ------------------------------------------------------------------ the rules on snippets

LISTED_FIELD = '''class A:
    """A.

    Attributes
    ----------
    b : int
    """

    b: int
'''
BAD = {
    complaints_about_services: ['if kind == "openai":', "# as Gemini does", "OPENAI_KEY = 1"],
    complaints_about_participles: [
        *("found = 1", "def f(told): pass", "def was_asked(): pass", "for a, kept in b: pass"),
        *("x.known = 1", "class A:\n    rows_drawn: int", "f = lambda given: 1"),
    ],
    complaints_about_private_names: [
        *("from core.cli import _report", "import core._x", "from core._x import y", "x.y._z = 1"),
        *("patch.setattr(module, '_x', 1)", "patch.setattr('core.cli._x', 1)", "super()._x()"),
    ],
    complaints_about_definitions: [
        *("def offered(): pass", "def _seen(): pass", "def asked_in(form): pass"),
        *("class A:\n    def known_as(self): pass", "async def tried(): pass"),
        *("class Cached: pass", "class _Heard: pass", "class Taught(NamedTuple): pass"),
    ],
    complaints_about_fields: [
        f"@dataclass{more}\n{LISTED_FIELD}" for more in ("", "(frozen=True)")
    ],
    complaints_about_caches: [
        *("@functools.cache\ndef f(): pass", "from functools import cache, partial"),
        *("once = functools.cache(f)", "@functools.lru_cache(None)\ndef f(): pass"),
    ],
    complaints_about_mathematics: [
        *("import pandas as pd", "from core.data.world import facts", "from core import prompts"),
        *("def f():\n    import streamlit", "import numpyro"),
    ],
    complaints_about_screen: [
        *("import numpy as np", "import pandas", "import sqlite3", "import core"),
        *("from scipy.special import logsumexp", "from pathlib import Path"),
        *("from pages import inspection", "from core import uncertainty", "from . import other"),
        "from core.uncertainty.similarity import pairwise",
        *("open('x')", "upload.read_bytes()", "frame.to_csv('x')"),
    ],
    complaints_about_markup: [
        *("st.markdown(answer)", "st.markdown(body=answer)", "st.write('Said:', answer)"),
        *("st.markdown(*texts)", "st.markdown(**texts)"),
        *("st.markdown(f'The answer is {answer}')", "st.markdown('The answer is ' + answer)"),
        "st.markdown('The answer is %s' % answer)",
        "st.markdown('The answer is {}'.format(answer))",
        *("st.caption(f'{answer!r:.3f}')", "st.caption(f'{answer:>30}')"),
        "st.caption(f'{answer:{form}}')",
        *("page_header('Ours', answer)", "page_header(title=answer)"),
        "downloads.download(column, content, 'x.csv')",
        "downloads.download('Ours', content, 'x.csv', help=query)",
        *("st.markdown(' '.join(answers))", "st.markdown(answer.join(['Ours', 'too']))"),
        "st.markdown(' '.join([f'Ours: {text}' for text in answers]))",
        *("st.error(str(error))", "left.warning(error)"),
        *("with st.expander(query): pass", "st.expander(label=query)"),
        *("st.metric('Answer', answer)", "st.metric('Answer', value=answer)"),
        *("st.radio('Answer', answers)", "st.button('Ask', help=query)"),
        *("st.slider(f'Threshold of {column}', 0, 1)", "st.selectbox(column, options)"),
        *("TITLE = load()\nst.title(TITLE)", "from elsewhere import TITLE\nst.title(TITLE)"),
        "TABLE = {'a': 'Ours'}\nTABLE['b'] = answer\nst.title(TABLE['b'])",
        "LINES = []\nLINES.append(answer)\nst.title(LINES[0])",
        "for text in answers:\n    st.title(text)",
        "def f():\n    text = 'Ours'\n    text += answer\n    st.title(text)",
        "TITLE = 'Ours'\ndef f(TITLE):\n    st.title(TITLE)",
        "TITLE = 'Ours'\nst.title(TITLE)\ndef f():\n    global TITLE\n    TITLE = answer",
        "TITLE = 'Good'\nTITLE = answer\nst.title(TITLE)",
        *("on_click = lambda text: st.title(text)", "def f(TITLE):\n    st.title(TITLE.lower())"),
        *("from streamlit import markdown", "say = st.markdown"),
        *("st.text('x', unsafe_allow_html=True)", "st.html('<b>x</b>')"),
        "st.components.v1.html(answer)",
    ],
    complaints_about_writing: [
        *("path.write_text(report)", "Path('x').write_bytes(report)", "open('x', 'w')"),
        *("open(path, mode='xb')", "path.open('ab')", "path.open(mode='r+')", "open(path, 'wt')"),
    ],
}
GOOD = {
    complaints_about_services: ["if back_end.is_service:", "kind = BACK_ENDS[kind]"],
    complaints_about_participles: [
        *("foundation = 1", "def f(matches): f(found=1)", "x.rows[told] = made", "import known")
    ],
    complaints_about_private_names: [
        *("from core.cli import report", "self._x = 1", "os._exit(0)", "from __future__ import x"),
        *("patch.setattr(module, 'x', 1)", "x.__name__", "def _f(): _f()"),
    ],
    complaints_about_definitions: [
        *("def certified_lower_bound(): pass", "def seed(): pass", "def read(): pass"),
        *("offered = lambda: 1", "class CachedModel: pass", "class Speed: pass"),
    ],
    complaints_about_fields: [
        '@dataclass\nclass A:\n    """A."""\n\n    b: int  # nats',
        LISTED_FIELD,
    ],
    complaints_about_caches: [
        *("@once\ndef f(): pass", "@functools.lru_cache(maxsize=16)\ndef f(x): pass"),
        "from functools import cached_property, partial",
    ],
    complaints_about_mathematics: [
        *("import math", "import numpy as np", "from scipy import special"),
        "from core.uncertainty import x",
    ],
    complaints_about_screen: [
        "import streamlit as st\nrun(st.text_input('Question'))",
        "from core.ui import frame",
        "from core.charts import inspection as charts",
        "from core.studies.inspection.inspection import run",
        "from core.uncertainty.scores import SCORES",
    ],
    complaints_about_markup: [
        "st.markdown('**Ours**')",
        "page_header('Ours', 'too')\ndef page_header(title, lead):\n    st.title(title)",
        "downloads.download('Ours', content, name)",
        "def download(label, *, help=None):\n    st.download_button(label, help=help)",
        *("st.markdown('one ' 'two')", "st.markdown('one' if many else 'two')"),
        *("TITLE = 'Ours'\nst.title(TITLE)", "TITLE: str = 'Ours'\nst.title(TITLE)"),
        "TERMS = {'a': 'Ours'}\nfound = [f'{t}.' for t in TERMS]\nst.markdown(' '.join(found))",
        "WORDS = {'a': 'Ours'}\nst.header(WORDS[kind])",
        "from core.ui.words import TITLE\nst.title(TITLE)",
        "st.caption(f'{share:.1%} of {count:d} answers')",
        *("st.text(answer)", "st.code(answer, language=None)", "st.selectbox('Answer', answers)"),
        "from core.x import TABLE\nfor key, e in TABLE.items():\n    st.title(f'{key} {e.title}')",
        "def f():\n    v = '-' if x is None else f'{x:.3f}'\n    st.metric('M.I.', f'{v} nats')",
        "for k in (30, 100):\n    st.button(f'Sample {k}')",
        "TABLE = {'a': ('Ours', 'red')}\ntext, colour = TABLE[kind]\nst.badge(text, color=colour)",
        "logger.error(error)",
        "with st.expander('Settings', icon=':material/tune:'): pass",
    ],
    complaints_about_writing: [
        *("outputs.write(path, report)", "with outputs.replacing(path) as file: pass"),
        *("open('x')", "path.open('rb')", "open(path, 'r')", "os.open(path, flags)"),
        *("results.open('a result')", "path.read_text()", "os.fdopen(pipe, 'wb')"),
    ],
}


@pytest.mark.parametrize("rule", BAD)
def test_a_rule_complains_of_the_bad_and_not_of_the_good(rule: Callable[[str], Complaints]) -> None:
    assert [source for source in BAD[rule] if not rule(source)] == []
    assert [source for source in GOOD[rule] if rule(source)] == []
