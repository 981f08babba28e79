"""A package, so that its modules can share one browser (the fixture's scope)."""
