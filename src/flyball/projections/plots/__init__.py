"""Plots as SVG text: values in, markup out; colours are custom properties, so that one picture serves both themes."""
