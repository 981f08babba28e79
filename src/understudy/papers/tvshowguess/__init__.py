"""TVShowGuess: who is behind each mask of a scene, by the models of the paper and ours, and the paper's tables."""
