"""The mutants of a solution: each with one change inside its region, always the same ones."""

import ast

from autograder.proving.mutants import mutants

SOLUTION = '''
def f(x, width):
    """What 1 + 1 is."""
    y = 2 + 2
    ### BEGIN SOLUTION
    total = x.sum(dim=-1)
    if width > 0:
        total = total / width
    return torch.where(total < 1, total, -total)
    ### END SOLUTION
'''


def changes():
    return {one.change for one in mutants("f", SOLUTION)}


def test_operators_constants_comparisons_reductions_and_statements_are_changed():
    assert {
        "total = total / width → total = total * width",
        "total = total / width → total = total",
        "if width > 0: → if width >= 0:",
        "if width > 0: → if not width > 0:",
        "total = x.sum(dim=-1) → total = x.mean(dim=-1)",
        "total = x.sum(dim=-1) → total = x.sum(dim=-2)",
        "total = x.sum(dim=-1) → pass",
        "return torch.where(total < 1, total, -total) → return torch.where(total < 1, total, total)",
        "return torch.where(total < 1, total, -total) → return torch.where(total, total < 1, -total)",
    } <= changes()


def test_nothing_outside_the_solution_is_touched():
    assert not any("2 + 2" in change for change in changes())
    for one in mutants("f", SOLUTION):
        assert "y = 2 + 2" in one.source
        assert "What 1 + 1 is." in one.source


def test_every_mutant_is_another_program_and_no_two_are_one():
    sources = [one.source for one in mutants("f", SOLUTION)]
    assert len(set(sources)) == len(sources)
    assert ast.unparse(ast.parse(SOLUTION)) not in sources


def test_of_many_always_the_same_are_chosen():
    assert mutants("f", SOLUTION, 5) == mutants("f", SOLUTION, 5) == mutants("f", SOLUTION)[:5]


def test_what_may_be_exchanged_without_effect_is_left_alone():
    solution = SOLUTION.replace("x.sum(dim=-1)", "x.transpose(0, 1)")
    assert not any("transpose(1, 0)" in one.source for one in mutants("f", solution))
