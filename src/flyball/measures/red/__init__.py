"""Whether new tests are there and fail for the right reason."""
