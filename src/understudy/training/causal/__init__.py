"""Causal language models of dialogues: what they learn from, and how."""
