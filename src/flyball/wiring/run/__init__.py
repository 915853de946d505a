"""What a controller is put together from."""
