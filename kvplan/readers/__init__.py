"""Readers: one per config dialect, each of which turns a located document into an Architecture."""
