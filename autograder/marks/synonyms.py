"""Names of one mistake that the catalogues of several homeworks spell in different words.

A catalogue names a mistake after its own exercise. Two names are here together if whoever made the one and
then the other has the same thing to learn; the first of each group is shown.
"""

from __future__ import annotations

from collections.abc import Mapping

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "mask_after_the_softmax": (
        "mask_comes_after_the_softmax",
        "masked_after_the_softmax",
        "weights_masked_afterwards",
    ),
    "mask_read_the_other_way_round": (
        "all_masks_mark_what_is_hidden",
        "both_masks_mark_what_is_hidden",
        "mask_read_as_hidden",
        "mask_the_wrong_way_round",
        "true_means_blocked",
        "true_means_forbidden",
        "true_taken_for_masked",
        "words_masked_instead_of_padding",
    ),
    "mask_not_used": ("mask_ignored", "no_layer_is_masked"),
    "softmax_before_the_loss": ("softmax_and_then_the_loss", "softmax_before_the_cross_entropy"),
    "softmax_over_the_queries": (
        "softmax_along_the_queries",
        "softmax_over_the_decoder_axis",
        "softmax_over_the_target",
    ),
    "probabilities_for_logits": ("head_with_softmax", "softmax_of_the_logits"),
    "logits_for_log_probs": ("logits_taken_for_log_probabilities", "logits_taken_for_log_probs"),
    "scores_not_scaled": ("sums_not_scaled",),
    "shifted_twice": ("target_shifted_twice",),
    "targets_not_shifted": ("logits_scored_with_their_own_token", "target_not_shifted"),
    "losses_summed": (
        "losses_of_words_summed",
        "sum_instead_of_mean",
        "summed_over_the_gaps",
        "summed_over_the_words",
    ),
    "mean_over_padding_too": ("mean_over_all_positions",),
    "mean_of_sentence_means": (
        "mean_of_sentence_losses",
        "mean_of_the_means_of_sequences",
        "mean_of_the_texts_means",
    ),
}

SHOWN = {name: shown for shown, others in SYNONYMS.items() for name in others}
