"""What holds when a homework has ended with right answers, of the names that its cells define."""

PROMISED = {
    "hw0_exploring": "prices['rain'][0] < bits_per_word[1] < math.log2(N_WORDS) / 2",
    "hw1_language_models": "standing.beats('bigram') and standing.share_known(standing.own) > 0.8",
    "hw2_backprop": "difference < 1e-9 and standing.beats('bigram')",
    "hw3_recurrent": "found['my LSTM'][32] > 0.9 and found[\"PyTorch's RNN\"][32] < 0.3",
    "hw4_attention": "error < 0.15 and right > 0.9",
    "hw5_transformer": "rung.beats('GRU') and rung.percent_above_floor < 31 and seconds_busy < 90",
    "hw6_gpt": "standing.beats('LSTM') and difference < 1e-3 and not built_of.ready_made"
    " and 'gated' in mine.own and len(talk.messages[-1].content) > 100",
    "hw7_bert_and_translation": "n_right > len(places) / 3 and sum(is_right) > 80"
    " and not built_of.ready_made + mine.ready_made",
}
