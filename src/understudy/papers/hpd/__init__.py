"""Harry Potter Dialogue: the right reply ranked among others, replies generated, and the paper's tables."""
