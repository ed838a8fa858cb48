"""Functions and files stay small; docstrings are not counted, tests are."""

import ast
from collections.abc import Iterator, Sequence

from tests.architecture.tree import CODE, Source, sources

type_of_function = (ast.FunctionDef, ast.AsyncFunctionDef)
type_with_docstring = (ast.Module, ast.ClassDef, *type_of_function)

FUNCTION_MOST, FUNCTION_P90 = 50, 25
FILE_MOST, FILE_P90 = 500, 300


def docstring_lines(node: ast.AST) -> int:
    """How many lines the docstring of a module, class or function takes."""
    if not isinstance(node, type_with_docstring) or ast.get_docstring(node) is None:
        return 0
    return (node.body[0].end_lineno or 0) - node.body[0].lineno + 1


def function_lengths(source: Source) -> Iterator[tuple[str, int]]:
    """Each function's place and the lines of its body."""
    for node in ast.walk(source.tree):
        if isinstance(node, type_of_function):
            body = node.body[1:] if docstring_lines(node) else node.body
            length = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            yield f"{source}:{node.lineno} {node.name}", length


def file_length(source: Source) -> int:
    """The lines of a file without its docstrings."""
    quoted = sum(docstring_lines(node) for node in ast.walk(source.tree))
    return len(source.text.splitlines()) - quoted


def p90(lengths: Sequence[int]) -> int:
    """The length that nine of ten do not exceed."""
    return sorted(lengths)[(len(lengths) * 9 - 1) // 10]


def functions_of_the_tree() -> dict[str, int]:
    """Every function of product and tests with its length."""
    return dict(pair for source in sources(*CODE) for pair in function_lengths(source))


def files_of_the_tree() -> dict[str, int]:
    """Every file of product and tests with its length."""
    return {str(source): file_length(source) for source in sources(*CODE)}


def test_no_function_is_longer_than_fifty_lines() -> None:
    """A longer one does more than one thing."""
    long = {place: n for place, n in functions_of_the_tree().items() if n > FUNCTION_MOST}

    assert long == {}


def test_nine_of_ten_functions_have_at_most_twenty_five_lines() -> None:
    """The usual function is read at a glance."""
    assert p90(list(functions_of_the_tree().values())) <= FUNCTION_P90


def test_no_file_is_longer_than_five_hundred_lines() -> None:
    """A longer one has more than one reason to exist."""
    long = {place: n for place, n in files_of_the_tree().items() if n > FILE_MOST}

    assert long == {}


def test_nine_of_ten_files_have_at_most_three_hundred_lines() -> None:
    """The usual file is read in one sitting."""
    assert p90(list(files_of_the_tree().values())) <= FILE_P90


def test_the_measure_counts_the_body_and_not_the_docstring() -> None:
    """The measure itself is right on a known text."""
    text = '"""Head\nof two."""\n\n\ndef f() -> int:\n    """Say."""\n    a = 1\n\n    return a\n'
    known = Source(sources("tests")[0].path, text, ast.parse(text))

    assert [length for _, length in function_lengths(known)] == [3]
    assert file_length(known) == 6
    assert p90(list(range(1, 11))) == 9
