"""What agents say of their own work and of others': the values, and every way of reporting that is read."""
