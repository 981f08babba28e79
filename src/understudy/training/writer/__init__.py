"""The writer's training: examples from dialogues, novels and people made up for it, and the adapter learnt."""
