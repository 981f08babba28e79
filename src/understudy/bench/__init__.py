"""Benches: agents and readers measured against data that others prepared, with intervals, comparisons and reports."""
