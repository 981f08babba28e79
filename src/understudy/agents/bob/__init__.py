"""BERT over BERT: an encoder and two decoders, of which the second holds what the first would say against the persona.

network   the formulas
inputs    what is read and written, as token ids
search    the reply that is most probable
agent     the agent, from a model folder
"""
