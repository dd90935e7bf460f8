"""From text to tokens and back: characters, words, byte-pair encoding, WordPiece, unigram."""

from course.tokenizers.tokenizer import Tokenizer

__all__ = ["Tokenizer"]
