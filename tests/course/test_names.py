"""One name for one thing, in everything students read: rejected spellings, each with the preferred one.

The glossary is `course/shapes.py`. What counts is what our code *defines*: variables, parameters, attributes,
functions, classes, modules. Names of other libraries may be used where we talk to them.
"""

import ast
import builtins
from pathlib import Path

import pytest

from course.shapes import AXES, SIZES, VALUES

ROOT = Path(__file__).parents[2]
PREFERRED = {
    "batch_size": ["bsz", "bs", "nbatch", "nbatches", "n_batch", "num_batch"],
    "T (positions of this batch)": [
        "seq_len",
        "seqlen",
        "seq_length",
        "sequence_length",
        "num_steps",
        "n_steps_max",
    ],
    "context_length": [
        "block_size",
        "n_ctx",
        "ctx_len",
        "max_seq_len",
        "max_seq_length",
        "max_len",
        "n_positions_max",
    ],
    "vocab_size": ["d_vocab", "n_vocab", "num_vocab", "vocabulary_size"],
    "d_model": [
        "n_embd",
        "n_embed",
        "emb_dim",
        "embed_dim",
        "embedding_dim",
        "model_dim",
        "dim_model",
        "dim",
    ],
    "d_hidden": ["n_embd2", "num_hiddens", "n_hidden", "hidden_dim", "hidden_size", "dim_hidden"],
    "n_heads": ["n_head", "num_heads", "num_head", "nhead", "nheads"],
    "d_head": ["head_dim", "head_size", "dim_head", "hs"],
    "d_ff": ["d_mlp", "dim_feedforward", "ff_dim", "ffn_dim", "intermediate_size"],
    "n_layers": ["n_layer", "num_layers", "num_layer", "nlayers", "n_blocks", "num_blocks"],
    "tokens": ["idx", "token_ids", "input_ids", "inp", "toks"],
    "targets": ["tgt_ids", "label_ids"],
    "context": ["idx_cond"],
    "logits (before the softmax)": ["pred", "preds"],
    "log_probs": ["logprobs", "logprob", "logp", "logps", "log_ps"],
    "probs": ["prob_dist", "probas", "proba"],
    "scores (before the softmax over keys)": ["attn_scores", "attn_logits", "att_scores", "energies"],
    "weights (after the softmax over keys)": [
        "att",
        "attn",
        "p_attn",
        "attn_weights",
        "attn_probs",
        "att_weights",
    ],
    "d_embedding": ["d_emb", "d_embed", "emb_size", "embed_size", "embedding_size"],
}
REJECTED = {spelling: preferred for preferred, spellings in PREFERRED.items() for spelling in spellings}
DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "tools"}  # name the concept instead
SOURCES = sorted(path for room in ("course", "solutions", "lectures") for path in (ROOT / room).rglob("*.py"))


def defined_names(source: str) -> list[tuple[int, str]]:
    """Line and name of everything that a Python source defines."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append((node.lineno, node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.append((node.lineno, node.attr))
        elif isinstance(node, ast.arg):
            names.append((node.lineno, node.arg))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append((node.lineno, node.name))
        elif isinstance(node, ast.alias) and node.asname:
            names.append((node.lineno, node.asname))
    return names


def rejected(source: str) -> list[str]:
    """One sentence for each rejected name that a source defines."""
    return [
        f"line {line}: {name} → {REJECTED[name]}" for line, name in defined_names(source) if name in REJECTED
    ]


def without_magics(source: str) -> str:
    """Notebook sources may hold lines for IPython alone."""
    return "\n".join("pass" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines())


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_are_the_glossary_s(path):
    assert rejected(without_magics(path.read_text())) == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_are_named_after_concepts_and_no_builtin_is_shadowed(path):
    assert path.stem not in DRAWERS
    top_level = ast.parse(without_magics(path.read_text())).body
    functions = [node.name for node in top_level if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert [name for name in functions if name in dir(builtins)] == []


@pytest.mark.parametrize(
    ("source", "spelling"),
    [
        ("n_embd = 3", "n_embd"),
        ("def f(num_heads): ...", "num_heads"),
        ("class A:\n    block_size: int = 3", "block_size"),
        ("self.head_dim = 3", "head_dim"),
        ("for idx in tokens: ...", "idx"),
        ("def attn(): ...", "attn"),
        ("import x as bsz", "bsz"),
        ("def f(*, seq_len=3): ...", "seq_len"),
    ],
)
def test_the_guard_sees_every_way_to_define_a_name(source, spelling):
    [sentence] = rejected(source)
    assert sentence.endswith(f": {spelling} → {REJECTED[spelling]}")


def test_other_libraries_names_may_be_used_where_we_talk_to_them():
    assert rejected("GPT2Config(n_embd=config['n_head']).num_heads") == []


def test_no_name_is_both_preferred_and_rejected():
    preferred = {entry.code for entry in (*AXES, *SIZES, *VALUES)}
    assert preferred.isdisjoint(REJECTED)
    assert {name.split(" ")[0] for name in PREFERRED} - preferred <= {"T", "probs", "d_embedding"}
