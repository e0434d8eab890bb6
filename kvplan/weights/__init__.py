"""Weights: what a checkpoint holds by kind, and what of it one GPU loads."""
