"""Capacity gates: deployments in a file with what their plans must hold, and a baseline to compare with."""
