"""The monitor and the dispatcher for loops that are not flyball's: batches, streams of observations, tracks."""
