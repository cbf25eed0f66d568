"""Evals import the service and measure it; the service never imports them."""
