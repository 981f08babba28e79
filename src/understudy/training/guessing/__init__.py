"""Guessers whose transformer is fine-tuned: readers of masked scenes, and a language model of named ones.

    readers    vanilla, multi-row, scene-pooling: the states of a mask's tokens are pooled, and a show's own classifier
               says who it is. Any encoder or causal model in Hugging Face's layout, by default the installed MiniLM.
    naming     a causal model learns the scenes with their names; the names that make a scene likeliest are guessed.

One model learns from several shows at once. No such model is shipped: it reproduces the scripts it has learned from.
"""
