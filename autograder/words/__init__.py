"""The commands of the command line, by subject: their options, what each calls, and what it prints."""
