"""Training of BERT over BERT: dialogues for both decoders, pairs of sentences for the second."""
