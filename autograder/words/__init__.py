"""The words of the command line, by what they are about: their options, and what each calls and prints."""
