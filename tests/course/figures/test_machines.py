"""A drawn machine says what the course's own models do: its lines of code and its shapes."""

from itertools import pairwise

import pytest
import torch
from in_models import MODELS, shapes
from in_node import evaluate, needs_node

from course import figures
from course.figures.machines import MACHINES
from course.figures.machines.description import Box, Line, Region, Sign, size_of
from course.figures.machines.layout import Drawing, lies_between
from course.models import (
    GPT,
    BERTConfig,
    FeedForwardConfig,
    FeedForwardLanguageModel,
    GPTConfig,
    MaskedLanguageModel,
    MixtureOfExperts,
    MultiHeadAttention,
    RecurrentConfig,
    RecurrentLanguageModel,
    Seq2Seq,
    Seq2SeqConfig,
    SequenceClassifier,
    Tagger,
    Translator,
    TranslatorConfig,
    scaled_dot_product_attention,
)
from course.models.llama import Llama, LlamaConfig
from course.models.recurrent import GRUCell, LSTMCell
from course.models.transformer import EncoderLayer, TransformerConfig

each_machine = pytest.mark.parametrize("name", MACHINES)


def tokens(V, *shape):
    return torch.randint(1, V, shape)


def feedforward(B, T, N, d, D, V):
    config = FeedForwardConfig(V, N, d, D, has_direct_connections=True)
    FeedForwardLanguageModel(config)(tokens(V, B, T))


def rnn(B, d_x, D, V):
    RecurrentLanguageModel(RecurrentConfig(V, "rnn", d_x, D))(tokens(V, B, 3))


def configurations(**sizes):
    rnn(**sizes)


def lstm_cell(B, d_x, D):
    LSTMCell(d_x, D)(torch.randn(B, d_x), (torch.zeros(B, D), torch.zeros(B, D)))


def gru_cell(B, d_x, D):
    GRUCell(d_x, D)(torch.randn(B, d_x), (torch.zeros(B, D),))


def seq2seq(B, S, T, d, D, V):
    config = Seq2SeqConfig(V, V, d, D, is_bidirectional=False, attention="none")
    Seq2Seq(config)(tokens(V, B, S), tokens(V, B, T))


def seq2seq_attention(B, S, T, d, D, V):
    Seq2Seq(Seq2SeqConfig(V, V, d, D))(tokens(V, B, S), tokens(V, B, T))


def queries_keys_values(T, D, d_k):
    attention = MultiHeadAttention(D, D // d_k, is_fused=False)
    x = torch.randn(1, T, D)
    scaled_dot_product_attention(*attention._heads(x, x, x, None))


def heads(B, T, D, H, d_k):
    x = torch.randn(B, T, D)
    MultiHeadAttention(D, H, is_fused=False)(x, x, x)


def block(B, T, D, F):
    for is_pre_norm in (False, True):
        config = TransformerConfig(D, n_heads=1, d_ff=F, is_pre_norm=is_pre_norm)
        EncoderLayer(config)(torch.randn(B, T, D))


def bert(B, T, D, V, C, G):
    config = BERTConfig(V, T, D, n_heads=1, n_layers=1, d_ff=2 * D)
    for model in (MaskedLanguageModel(config), SequenceClassifier(config, C), Tagger(config, G)):
        model(tokens(V, B, T))


def gpt(B, T, D, H, V, d_k):
    GPT(GPTConfig(V, T, D, n_heads=H, n_layers=1, is_fused=False))(tokens(V, B, T))


def transformer(B, S, T, D, V):
    config = TranslatorConfig(V, V, d_model=D, n_heads=2, n_layers=1, d_ff=3 * D, is_pre_norm=False)
    Translator(config)(tokens(V, B, S), tokens(V, B, T))


def llama_block(B, T, D, H, G, F, d_k, R):
    sizes = {"d_model": D, "n_heads": H, "n_groups": G, "n_layers": 1, "d_ff": F}
    Llama(LlamaConfig(9, T, **sizes, is_fused=False))(tokens(9, B, T))


def mixtral_layer(B, T, D, E, K):
    model = Llama(LlamaConfig(9, T, D, n_heads=4, n_groups=2, n_layers=1, d_ff=6, is_fused=False))
    model.blocks[0].feed_forward = MixtureOfExperts(D, 6, E, K)
    model(tokens(9, B, T))


RUNS = {
    run.__name__: run
    for run in (
        *(
            feedforward,
            rnn,
            configurations,
            lstm_cell,
            gru_cell,
            seq2seq,
            seq2seq_attention,
            queries_keys_values,
        ),
        *(heads, block, bert, gpt, transformer, llama_block, mixtral_layer),
    )
}
SIZES = {
    "feedforward": {"B": 3, "N": 2, "d": 6},
    "rnn": {"B": 3, "d_x": 5, "D": 7},
    "configurations": {"B": 3, "D": 7, "V": 5},
    "lstm_cell": {"B": 1, "D": 5},
    "gru_cell": {"B": 1, "D": 5},
    "seq2seq": {"B": 4, "D": 6},
    "seq2seq_attention": {"S": 4, "T": 6, "D": 3},
    "queries_keys_values": {"D": 8},
    "heads": {"T": 3, "D": 8, "H": 2},
    "block": {"B": 1, "F": 12},
    "bert": {"T": 7, "C": 5, "G": 4},
    "gpt": {"B": 3, "H": 2},
    "transformer": {"S": 5, "V": 11},
    "llama_block": {"T": 3, "D": 12, "H": 6},
    "mixtral_layer": {"B": 3, "E": 7, "K": 3},
}


@each_machine
@pytest.mark.parametrize("is_changed", [False, True])
def test_every_shape_is_that_of_the_tensor_behind_its_line_of_code(name, is_changed):
    machine = MACHINES[name]
    sizes = machine.with_sizes(
        **(SIZES.get(name, {"B": 3} if "B" in machine.sizes else {}) if is_changed else {})
    )
    found = shapes(machine, lambda: RUNS[name](**sizes))
    for box in machine.boxes():
        assert tuple(size_of(axis, sizes) for axis in box.axes) in found[box.key], (box.key, found[box.key])


@each_machine
def test_every_line_of_code_stands_in_its_file(name):
    machine = MACHINES[name]
    for box in machine.boxes():
        assert box.code in (MODELS / f"{box.file or machine.file}.py").read_text(), box.key


@each_machine
def test_every_part_is_there_before_a_line_leads_to_it(name):
    steps = {part.key: step for step, part in MACHINES[name].parts() if isinstance(part, Box | Sign)}
    assert len(steps) == sum(isinstance(part, Box | Sign) for _, part in MACHINES[name].parts())
    for step, part in MACHINES[name].parts():
        if isinstance(part, Line):
            assert all(steps[end] <= step for end in part.path if isinstance(end, str)), part


@each_machine
def test_no_box_lies_on_another(name):
    places = [box["place"] for box in figures.machine(name).data["boxes"]]
    for i, (x, y, w, h) in enumerate(places):
        for x2, y2, w2, h2 in places[:i]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


@pytest.mark.parametrize("name", MACHINES)
def test_no_line_begins_where_nothing_is_drawn_yet(name):
    machine = MACHINES[name]
    drawing = Drawing(machine, machine.with_sizes())
    drawn = [
        (drawing.line(step, part)["step"], part) for step, part in machine.parts() if isinstance(part, Line)
    ]
    for step, line in drawn:
        if isinstance(line.path[0], str):
            continue
        start = drawing.pixel(line.path[0])
        crossed = [
            first
            for first, other in drawn
            if other is not line
            and any(lies_between(start, *stretch) for stretch in pairwise(drawing.points(other)))
        ]
        assert not crossed or min(crossed) <= step, line


@needs_node
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h_{t−1}", [["h", False], ["t−1", True]]),
        ("W_q x", [["W", False], ["q", True], [" x", False]]),
        ("hidden", [["hidden", False]]),
    ],
)
def test_a_subscript_stands_lower(text, expected, tmp_path):
    assert evaluate(figures.machine("rnn"), f"figure.default.pieces({text!r})", tmp_path) == expected


@needs_node
def test_a_box_is_spoken_with_its_shape_and_its_code(tmp_path):
    said = evaluate(figures.machine("heads", B=3), "figure.spoken(data.boxes[1])", tmp_path)
    code = "q = split_heads(self.W_query(query), self.n_heads)"
    assert said == f"q, shape (B, H, T, d k) = (3, 3, 5, 2): {code}"


def test_the_alt_text_tells_every_step():
    alt = figures.machine("lstm_cell").alt
    assert all(step.sentence in alt for step in MACHINES["lstm_cell"].steps)


def test_the_caption_gives_the_sizes():
    assert figures.machine("heads", D=8, H=4).caption.endswith("B = 2, T = 5, D = 8, H = 4, dₖ = 2.")


def test_a_machine_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="expected one of feedforward, rnn, configurations"):
        figures.machine("perceptron")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"Q": 3}, "Q: expected one of B, T, D, H"),
        ({"B": 0}, "B: expected a whole"),
        ({"H": 4}, "D: expected a multiple of H = 4"),
    ],
)
def test_sizes_that_cannot_be_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        figures.machine("heads", **sizes)


@each_machine
def test_nothing_lies_on_the_edge_of_a_frame(name):
    machine = MACHINES[name]
    drawing = Drawing(machine, machine.with_sizes())
    parts = [part for _, part in machine.parts()]
    placed = [(part.key, drawing.rectangle(part)) for part in parts if isinstance(part, Box)]
    placed += [(part.label, at) for part in parts if isinstance(part, Line) for at in drawing.written(part)]
    for frame in (part for part in parts if isinstance(part, Region)):
        (left, low), (right, high) = drawing.pixel(frame.lower_left), drawing.pixel(frame.upper_right)
        for words, (x, y, wide, tall) in placed:
            x, y, wide, tall = (x - 4, y - 4, wide + 8, tall + 8)
            is_inside = left <= x and x + wide <= right and high <= y and y + tall <= low
            is_outside = x + wide <= left or x >= right or y + tall <= high or y >= low
            assert is_inside or is_outside, f"{words!r} on the edge of {frame.name!r}"
