"""Renderers: plans in, strings out. Nothing here writes; the command line does."""
