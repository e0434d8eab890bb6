"""The command line: one thin module per command, one boundary for errors, one place that writes."""
