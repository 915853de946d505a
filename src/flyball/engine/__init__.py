"""The loop: decides, performs, appends, folds; the only place that knows asyncio."""
