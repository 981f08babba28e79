"""Models of language: counts and weights of words, sentence encoders, and language models behind one protocol."""
