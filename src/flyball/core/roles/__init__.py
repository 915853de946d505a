"""The roles flyball knows, independent of any program that plays them."""
