"""The machines of the course as data: one file for each, in the order in which they are taught."""

from collections.abc import Mapping

from course.figures.machines.bert import BERT
from course.figures.machines.block import BLOCK
from course.figures.machines.configurations import CONFIGURATIONS
from course.figures.machines.description import Machine
from course.figures.machines.feedforward import FEEDFORWARD
from course.figures.machines.gpt import GPT
from course.figures.machines.gru_cell import GRU_CELL
from course.figures.machines.heads import HEADS
from course.figures.machines.llama_block import LLAMA_BLOCK
from course.figures.machines.lstm_cell import LSTM_CELL
from course.figures.machines.mixtral_layer import MIXTRAL_LAYER
from course.figures.machines.queries_keys_values import QUERIES_KEYS_VALUES
from course.figures.machines.rnn import RNN
from course.figures.machines.seq2seq import SEQ2SEQ
from course.figures.machines.seq2seq_attention import SEQ2SEQ_ATTENTION
from course.figures.machines.transformer import TRANSFORMER

MACHINES: Mapping[str, Machine] = {
    "feedforward": FEEDFORWARD,
    "rnn": RNN,
    "configurations": CONFIGURATIONS,
    "lstm_cell": LSTM_CELL,
    "gru_cell": GRU_CELL,
    "seq2seq": SEQ2SEQ,
    "seq2seq_attention": SEQ2SEQ_ATTENTION,
    "queries_keys_values": QUERIES_KEYS_VALUES,
    "heads": HEADS,
    "block": BLOCK,
    "bert": BERT,
    "gpt": GPT,
    "transformer": TRANSFORMER,
    "llama_block": LLAMA_BLOCK,
    "mixtral_layer": MIXTRAL_LAYER,
}
