"""What goes wrong in part C of homework 0: texts, pieces, distances and conversations."""

import math

import torch

from autograder.catalogue import misconception

# 7. log_prob_of


@misconception(of="log_prob_of")
def logits_taken_for_log_probs(logits, tokens):
    """The logits themselves are added up, as if they were logarithms of probabilities.

    Do e to the power of the second row of the example sum to 1? What turns logits into probabilities?
    """
    return logits[torch.arange(len(tokens)), tokens].sum().item()


@misconception(of="log_prob_of")
def softmax_down_the_text(logits, tokens):
    """The softmax runs down the text, over the T places, and not over the V pieces.

    Which numbers must sum to 1: those of one place, or those of one piece? Which axis is that?
    """
    return logits.log_softmax(dim=0)[torch.arange(len(tokens)), tokens].sum().item()


@misconception(of="log_prob_of")
def logarithm_of_the_product(logits, tokens):
    """The probabilities are multiplied first; the product of many is 0 as a float, and its logarithm is -inf.

    Evaluate `0.125 ** 500`. At which moment would you have to take the logarithms?
    """
    return logits.softmax(dim=-1)[torch.arange(len(tokens)), tokens].prod().log().item()


@misconception(of="log_prob_of")
def math_log_of_the_product(logits, tokens):
    """The probabilities are multiplied first; the product of many is 0, and `math.log(0.0)` is an error.

    Evaluate `0.125 ** 500`. At which moment would you have to take the logarithms?
    """
    product = 1.0
    for row, token in zip(logits.softmax(dim=-1), tokens, strict=True):
        product *= row[token].item()
    return math.log(product)


@misconception(of="log_prob_of")
def logarithm_after_the_softmax(logits, tokens):
    """The softmax is taken first and its logarithm then: what is all but impossible is 0 in between.

    What is `math.exp(-900)`, and what its logarithm? Which function does both steps in one?
    """
    return logits.softmax(dim=-1).log()[torch.arange(len(tokens)), tokens].sum().item()


@misconception(of="log_prob_of")
def exponentials_without_a_maximum(logits, tokens):
    """The softmax is written out as e to the power of the logits, which is infinite for large ones.

    What is `torch.tensor(900.0).exp()`? Does taking one number from all logits change the softmax?
    """
    chosen = logits[torch.arange(len(tokens)), tokens]
    return (chosen - logits.exp().sum(dim=-1).log()).sum().item()


@misconception(of="log_prob_of")
def probability_without_logarithm(logits, tokens):
    """The probability itself is returned, not its logarithm.

    Is your answer to the example 3/16 or ln(3/16)? Can a logarithm of a probability be above 0?
    """
    return logits.softmax(dim=-1)[torch.arange(len(tokens)), tokens].prod().item()


@misconception(of="log_prob_of")
def logarithm_to_base_two(logits, tokens):
    """The logarithms are to base 2, so the answer is in bits.

    Is e or 2 to the power of your answer the probability 3/16 of the example? Which is asked for?
    """
    return logits.log_softmax(dim=-1)[torch.arange(len(tokens)), tokens].sum().item() / math.log(2)


@misconception(of="log_prob_of")
def averaged_over_the_tokens(logits, tokens):
    """The logarithms are averaged: this is the log-probability per token, not that of the text.

    In the example, is e to the power of your answer the probability of the text?
    """
    return logits.log_softmax(dim=-1)[torch.arange(len(tokens)), tokens].mean().item()


@misconception(of="log_prob_of")
def sign_turned(logits, tokens):
    """The sign is turned: this is the surprise, not the log-probability.

    Is the logarithm of a number below 1 positive or negative?
    """
    return -logits.log_softmax(dim=-1)[torch.arange(len(tokens)), tokens].sum().item()


@misconception(of="log_prob_of", seen="https://github.com/huggingface/transformers/pull/44642")
def rows_taken_for_what_comes_after(logits, tokens):
    """Each row is read as what the model expects after a token, so every token meets the row before its own.

    Row t was made before the model read token t. Which token was it to predict?
    """
    return logits.log_softmax(dim=-1)[torch.arange(len(tokens) - 1), tokens[1:]].sum().item()


@misconception(of="log_prob_of", seen="https://github.com/huggingface/datasets/pull/4258")
def first_token_for_free(logits, tokens):
    """The first token's factor is missing, as if every text had to begin with that token.

    How many factors does the chain rule have for T tokens? Which is the first?
    """
    return logits.log_softmax(dim=-1)[torch.arange(1, len(tokens)), tokens[1:]].sum().item()


@misconception(of="log_prob_of")
def every_token_in_every_place(logits, tokens):
    """A slice and an index give all pairs of places and tokens, (T, T), and not one number for each place.

    What is the shape of `logits[:, tokens]`? How many numbers do you want?
    """
    return logits.log_softmax(dim=-1)[:, tokens].sum().item()


# 8. pieces_per_word


@misconception(of="pieces_per_word")
def first_word_without_a_space_lost(pieces):
    """Only pieces that begin with a space begin a word, so the first word of a text is lost.

    With which character does the first piece of the example begin? Is "Nora" in your answer?
    """
    counts = []
    for piece in pieces:
        if piece.startswith(" "):
            counts.append(0)
        if counts:
            counts[-1] += 1
    return counts


@misconception(of="pieces_per_word")
def first_piece_added_to_no_word(pieces):
    """Only pieces that begin with a space begin a word, so the first piece has no word to continue.

    What is in your list when the first piece of the example comes, and which entry is raised by 1?
    """
    counts = []
    for piece in pieces:
        if piece.startswith(" "):
            counts.append(1)
        else:
            counts[-1] += 1
    return counts


@misconception(of="pieces_per_word")
def empty_word_before_the_space(pieces):
    """A word is there before the first piece has come; where that begins with a space, it stays empty.

    What do you answer for `[" straw", "berry"]`, and which word has no pieces?
    """
    counts = [0]
    for piece in pieces:
        if piece.startswith(" "):
            counts.append(0)
        counts[-1] += 1
    return counts


@misconception(of="pieces_per_word")
def words_counted(pieces):
    """The words are counted, and the pieces of each are not.

    How many numbers should come back for three words?
    """
    return sum(1 for i, piece in enumerate(pieces) if i == 0 or piece.startswith(" "))


@misconception(of="pieces_per_word")
def letters_of_each_word(pieces):
    """The letters of each word are counted, not its pieces.

    Is "wrote", which is one piece, worth 5 or 1?
    """
    return [len(word) for word in "".join(pieces).split()]


@misconception(of="pieces_per_word")
def average_pieces(pieces):
    """The average number of pieces of a word is returned, one number, and not the number of each.

    In the example, is your answer a list of three numbers?
    """
    n_words = sum(1 for i, piece in enumerate(pieces) if i == 0 or piece.startswith(" "))
    return len(pieces) / n_words if n_words else 0.0


@misconception(of="pieces_per_word")
def first_piece_not_counted(pieces):
    """The piece that begins a word is not counted, only those that continue it.

    How many pieces has "wrote" in the example?
    """
    counts = []
    for piece in pieces:
        if not counts or piece.startswith(" "):
            counts.append(0)
        else:
            counts[-1] += 1
    return counts


# 9. distances


@misconception(of="distances")
def sum_not_halved(logits):
    """The differences are summed but not halved, so what has nothing in common is 2 apart.

    What is your largest distance? Where does what one distribution has more of turn up in the other?
    """
    probs = logits.softmax(dim=-1)
    return (probs[:, None] - probs).abs().sum(dim=-1)


@misconception(of="distances")
def logits_compared(logits):
    """The logits are compared, not the probabilities.

    Add 5 to one row of the logits. What should become of the distances, and what becomes of yours?
    """
    return (logits[:, None] - logits).abs().sum(dim=-1) / 2


@misconception(of="distances")
def log_probs_compared(logits):
    """The logarithms of the probabilities are compared, not the probabilities.

    Can your distances be larger than 1? What does a piece contribute that is all but impossible in one row?
    """
    log_probs = logits.log_softmax(dim=-1)
    return (log_probs[:, None] - log_probs).abs().sum(dim=-1) / 2


@misconception(of="distances")
def divergence_for_the_distance(logits):
    """The Kullback-Leibler divergence is taken, a mean of differences of logarithms.

    Exchange the two rows: does your number stay the same? Can it be larger than 1?
    """
    log_probs = logits.log_softmax(dim=-1)
    return (log_probs.exp()[:, None] * (log_probs[:, None] - log_probs)).sum(dim=-1)


@misconception(of="distances")
def softmax_over_the_wordings(logits):
    """The softmax runs over the wordings, and not over the pieces.

    Which numbers are a distribution: those in a row or those in a column? Do they sum to 1 in yours?
    """
    probs = logits.softmax(dim=0)
    return (probs[:, None] - probs).abs().sum(dim=-1) / 2


@misconception(of="distances")
def differences_squared(logits):
    """The differences are squared, and not taken without their sign.

    What is the sum for the two rows of the example: 1/4 + 0 + 1/4, or 1/16 + 0 + 1/16?
    """
    probs = logits.softmax(dim=-1)
    return (probs[:, None] - probs).square().sum(dim=-1) / 2


@misconception(of="distances")
def euclidean_distance(logits):
    """The distance is Euclid's, the root of the sum of squares.

    Which of the two distances adds up the differences as they are?
    """
    probs = logits.softmax(dim=-1)
    return (probs[:, None] - probs).square().sum(dim=-1).sqrt()


@misconception(of="distances")
def euclidean_distance_halved(logits):
    """Half of Euclid's distance, the root of the sum of squares, is taken.

    Do the differences 1/4, 0 and 1/4 have a sum of 1/2 in your code? What does `torch.cdist` add up if it is
    not told a `p`?
    """
    probs = logits.softmax(dim=-1)
    return (probs[:, None] - probs).square().sum(dim=-1).sqrt() / 2


@misconception(of="distances")
def largest_difference(logits):
    """Only the largest difference of two distributions is taken, and not the sum of all.

    If three pieces differ by 1/4, 1/8 and 3/8, which of them does your distance see?
    """
    probs = logits.softmax(dim=-1)
    return (probs[:, None] - probs).abs().amax(dim=-1)


@misconception(of="distances")
def differences_with_their_sign(logits):
    """The differences keep their sign, and those of two distributions always cancel.

    What do the differences of the example sum to if one of them is negative?
    """
    probs = logits.softmax(dim=-1)
    return (probs[:, None] - probs).sum(dim=-1) / 2


@misconception(of="distances")
def differences_averaged(logits):
    """The differences are averaged over the pieces, not summed.

    In the example, do you divide by 2 or by the number of pieces?
    """
    probs = logits.softmax(dim=-1)
    return (probs[:, None] - probs).abs().mean(dim=-1)


@misconception(of="distances")
def overlap_instead(logits):
    """What two distributions share is returned, not what separates them.

    How far is a distribution from itself?
    """
    probs = logits.softmax(dim=-1)
    return torch.minimum(probs[:, None], probs).sum(dim=-1)


@misconception(of="distances")
def from_the_first_wording_only(logits):
    """Only the distances from the first wording are there, (B,), and not those of all pairs.

    How many pairs do B wordings have? What is the shape of your result?
    """
    probs = logits.softmax(dim=-1)
    return (probs - probs[0]).abs().sum(dim=-1) / 2


# 10. chat_prompt


@misconception(of="chat_prompt")
def answer_not_begun(messages):
    """The text ends with the last message, so the model may as well go on for the user.

    With which speaker should the text break off? Compare the end of the example.
    """
    return "".join(f"<|im_start|>{speaker}\n{said}<|im_end|>\n" for speaker, said in messages)


@misconception(of="chat_prompt")
def answer_begun_after_every_message(messages):
    """An answer is begun behind every message, and not only behind the last.

    How many `<|im_start|>` should there be for three messages, and how many has your text?
    """
    turns = (f"<|im_start|>{speaker}\n{said}<|im_end|>\n" for speaker, said in messages)
    return "".join(turn + "<|im_start|>assistant\n" for turn in turns)


@misconception(of="chat_prompt")
def answer_closed(messages):
    """The answer is begun and at once closed: nothing is left for the model to say.

    Who should write the last `<|im_end|>`: you or the model?
    """
    turns = "".join(f"<|im_start|>{speaker}\n{said}<|im_end|>\n" for speaker, said in messages)
    return turns + "<|im_start|>assistant\n<|im_end|>\n"


@misconception(of="chat_prompt")
def last_newline_missing(messages):
    """The newline behind the last `assistant` is missing.

    Print `repr` of your text for the example. What stands behind every speaker?
    """
    turns = "".join(f"<|im_start|>{speaker}\n{said}<|im_end|>\n" for speaker, said in messages)
    return turns + "<|im_start|>assistant"


@misconception(of="chat_prompt")
def speaker_and_words_on_one_line(messages):
    """What was said follows its speaker on the same line.

    Print `repr` of your text for the example. What stands between `user` and `Hello!`?
    """
    turns = "".join(f"<|im_start|>{speaker} {said}<|im_end|>\n" for speaker, said in messages)
    return turns + "<|im_start|>assistant\n"


@misconception(of="chat_prompt")
def messages_run_together(messages):
    """The newline behind `<|im_end|>` is missing.

    Print `repr` of your text for the example. How many newlines has it, and how many should it have?
    """
    turns = "".join(f"<|im_start|>{speaker}\n{said}<|im_end|>" for speaker, said in messages)
    return turns + "<|im_start|>assistant\n"


@misconception(of="chat_prompt")
def words_stripped(messages):
    """Spaces and newlines at the ends of what was said are removed.

    Is the message `"  Two\\nlines? "` in your text as it was said?
    """
    turns = "".join(f"<|im_start|>{speaker}\n{said.strip()}<|im_end|>\n" for speaker, said in messages)
    return turns + "<|im_start|>assistant\n"


@misconception(of="chat_prompt")
def last_message_alone(messages):
    """Only the last message is in the text, so the model does not know what was said before.

    How many `<|im_start|>` should there be for three messages?
    """
    turns = "".join(f"<|im_start|>{speaker}\n{said}<|im_end|>\n" for speaker, said in messages[-1:])
    return turns + "<|im_start|>assistant\n"


@misconception(of="chat_prompt")
def everybody_is_the_user(messages):
    """Every message is the user's, whoever said it.

    Does your function ever look at the first string of a pair?
    """
    turns = "".join(f"<|im_start|>user\n{said}<|im_end|>\n" for _, said in messages)
    return turns + "<|im_start|>assistant\n"
