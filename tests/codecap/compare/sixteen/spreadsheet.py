"""`expected.csv`: each line is a cell of a sheet, its formula and the result. The formula is worked out again when it is read."""

from __future__ import annotations

import ast
import csv
import operator
from pathlib import Path

import pytest

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow}


def worked_out(formula: str) -> float:
    """
    >>> worked_out("=60*36/40")
    54.0
    """

    def value(node: ast.expr) -> float:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        assert isinstance(node, ast.Constant), formula
        return node.value

    return value(ast.parse(formula.removeprefix("="), mode="eval").body)


def read() -> dict[str, dict[tuple[str, str], float]]:
    """Cells by sheet, then by row and column."""
    sheets: dict[str, dict[tuple[str, str], float]] = {}
    with (Path(__file__).parent / "expected.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            found = worked_out(line["formula"])
            assert float(line["value"]) == pytest.approx(found, rel=1e-9), line
            sheets.setdefault(line["sheet"], {})[line["row"], line["column"]] = found
    return sheets
