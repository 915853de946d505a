"""How each provider's interface offers tools, answers and fails."""
