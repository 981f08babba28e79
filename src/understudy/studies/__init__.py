"""Questions put to people: a study's file, its items, who answers what, and the answers."""
